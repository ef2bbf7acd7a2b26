# SPDX-License-Identifier: GPL-2.0-or-later
"""The similarity matrix as a picture.

Pixel (column j, row i) is the Manhattan distance of intervals i and j: black for equal, white
for nothing in common (Nagpurkar and Krintz 2004, after Sherwood and others). Only the upper
triangle is drawn; the lower one is white. A run with more intervals than LARGEST_SIDE is scaled
down: a pixel is then the exact distance of one pair among those it stands for.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from kadence.base import artefact
from kadence.phases.find import vectors
from kadence.phases.find.vectors import Normalised

LARGEST_SIDE = 2000
GOLDEN_RATIO = 0.6180339887498949  # its multiples spread evenly over the unit interval (Weyl)
WHITE = 65535

Picture = npt.NDArray[np.uint16]
Labels = npt.NDArray[np.int64]
Colour = tuple[int, int, int]

# The annotated picture, in pixels.
MARGIN, BAR, GAP, SIDE, LEGEND_LINE = 24, 18, 6, 800, 30
TRANSITION, NOTHING = -1, -2  # in place of a phase's number
TRANSITION_COLOUR: Colour = (190, 190, 190)
INK: Colour = (32, 32, 32)
PAPER: Colour = (255, 255, 255)
# Okabe and Ito's colours, which colour-blind readers can also tell apart.
COLOURS: tuple[Colour, ...] = (
    (0, 114, 178),
    (230, 159, 0),
    (0, 158, 115),
    (204, 121, 167),
    (86, 180, 233),
    (213, 94, 0),
    (240, 228, 66),
    (120, 120, 120),
)


def similarity_matrix(normalised: Normalised) -> Picture:
    """The upper triangle in 16 bits, 0 for equal and 65535 for the distance 2."""
    count = normalised.shape[0]
    if count <= LARGEST_SIDE:
        return _grey(vectors.among(normalised[:]))
    return _grey(vectors.among(normalised[standing_for_pixels(count)]))


def standing_for_pixels(count: int, side: int | None = None) -> Labels:
    """A row for every pixel of the scaled-down axis.

    Its position among the rows of the pixel varies. Otherwise a loop whose period is a pixel would
    vanish.
    """
    side = side or LARGEST_SIDE
    edges = np.arange(side + 1) * count // side
    within = np.arange(side) * GOLDEN_RATIO % 1.0
    return np.asarray(edges[:-1] + (within * np.diff(edges)).astype(np.int64))


def _grey(distances: vectors.Distances) -> Picture:
    scaled = np.rint(distances / vectors.LARGEST_DISTANCE * WHITE).astype(np.uint16)
    scaled[np.tril_indices(len(scaled), -1)] = WHITE
    return scaled


def write(picture: Picture, path: Path) -> None:
    """Write the matrix as 16-bit grayscale PNG; the same picture gives the same bytes."""
    with artefact.atomic_output(path) as temporary:
        Image.fromarray(picture).save(temporary, format="PNG")


def write_annotated(
    picture: Picture, assignment: Labels, captions: Sequence[str], path: Path
) -> None:
    """Write the matrix in 8 bits with the phases along its axes and a caption for each.

    Transitions are light grey.
    """
    corner = MARGIN + BAR + GAP
    legend_height = LEGEND_LINE * len(captions)
    canvas = Image.new(
        "RGB", (corner + SIDE + MARGIN, corner + SIDE + MARGIN + legend_height), PAPER
    )
    draw = ImageDraw.Draw(canvas)
    eight_bits = Image.fromarray((picture >> 8).astype(np.uint8))
    method = Image.Resampling.BOX if len(picture) > SIDE else Image.Resampling.NEAREST
    canvas.paste(eight_bits.resize((SIDE, SIDE), method), (corner, corner))
    draw.rectangle((corner - 1, corner - 1, corner + SIDE, corner + SIDE), outline=INK)
    _draw_bars(draw, assignment, corner)
    _draw_legend(draw, captions, corner + SIDE + MARGIN)
    with artefact.atomic_output(path) as temporary:
        canvas.save(temporary, format="PNG")


def _draw_bars(draw: ImageDraw.ImageDraw, assignment: Labels, corner: int) -> None:
    for pixel in range(SIDE):
        phase = int(assignment[pixel * len(assignment) // SIDE])
        shade = colour(phase)
        at = corner + pixel
        draw.line((at, MARGIN, at, MARGIN + BAR - 1), fill=shade)
        draw.line((MARGIN, at, MARGIN + BAR - 1, at), fill=shade)


def _draw_legend(draw: ImageDraw.ImageDraw, captions: Sequence[str], top: int) -> None:
    font = ImageFont.load_default(size=16)
    for number, caption in enumerate(captions):
        y = top + LEGEND_LINE * number
        draw.rectangle((MARGIN, y, MARGIN + BAR, y + BAR), fill=colour(number))
        draw.text((MARGIN + BAR + GAP, y), caption, fill=INK, font=font)


def colour(phase: int) -> Colour:
    """The colour of a phase, of transitions, or of nothing."""
    if phase == NOTHING:
        return PAPER
    return TRANSITION_COLOUR if phase == TRANSITION else COLOURS[phase % len(COLOURS)]
