# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the matrix with its timeline as a figure for a paper: PNG or SVG.

Matplotlib draws everything except the matrix and leaves room for it. This module then inserts the
matrix in 16-bit grey, as `kadence phases --matrix` writes it. Matplotlib would reduce it to 8 bits.
"""

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter
from PIL import Image

from kadence.base import artefact
from kadence.phases.find import matrix
from kadence.phases.find.matrix import Picture
from kadence.phases.view import activity, deep_png
from kadence.phases.view.activity import Marker
from kadence.phases.view.palette import css_colour
from kadence.phases.view.subject import Subject

DOTS_PER_INCH = 200
WIDTH = 6.4  # inches
SIDE = 1000  # pixels of the matrix in the PNG
LEFT, TOP, STRIP, SPACE, BOTTOM, LEGEND_LINE = 0.75, 0.15, 0.5, 0.12, 0.5, 0.17  # inches
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # the only such font that Matplotlib includes
    "font.size": 8,
    "axes.linewidth": 0.6,
    "svg.fonttype": "path",
    "svg.hashsalt": "kadence",
}
POINTS_PER_INCH = 72
BYTE_TO_WORD = 257  # 255 becomes 65535

Visit = tuple[int, int, int]  # part, first interval, end


def write_png(subject: Subject, path: Path) -> None:
    """Write a PNG with 16 bits per colour channel, which keeps every grey of the matrix."""
    data = io.BytesIO()
    with matplotlib.style.context(["default", STYLE]):
        drawn, place = _draw(subject)
        drawn.savefig(data, format="rgba", dpi=DOTS_PER_INCH)
    width, height = (round(inches * DOTS_PER_INCH) for inches in drawn.get_size_inches())
    drawn_in_bytes = np.frombuffer(data.getvalue(), dtype=np.uint8).reshape(height, width, 4)
    pixels = drawn_in_bytes[:, :, :3].astype(np.uint16) * BYTE_TO_WORD
    left, top = _corner(place, drawn)
    grey = _resized(_picture(subject), SIDE)
    inside = np.triu(np.ones((SIDE, SIDE), dtype=np.bool_))
    pixels[top : top + SIDE, left : left + SIDE][inside] = grey[inside][:, np.newaxis]
    deep_png.write(pixels, path)


def write_svg(subject: Subject, path: Path) -> None:
    """Write an SVG of outlines, with the matrix embedded as a 16-bit grey PNG."""
    text = io.BytesIO()
    with matplotlib.style.context(["default", STYLE]):
        drawn, place = _draw(subject)
        drawn.savefig(text, format="svg", metadata={"Date": None, "Creator": "kadence"})
    box = place.get_position()
    width, height = (inches * POINTS_PER_INCH for inches in drawn.get_size_inches())
    image = (
        f'<image x="{box.x0 * width:.3f}" y="{(1 - box.y1) * height:.3f}" '
        f'width="{box.width * width:.3f}" height="{box.height * height:.3f}" '
        'preserveAspectRatio="none" style="image-rendering: pixelated" '
        f'href="data:image/png;base64,{_embedded(_picture(subject))}"/>'
    )
    # Insert the matrix before the first group of axes, so that the axes are drawn on top of it.
    before, mark, after = text.getvalue().decode("utf-8").partition('<g id="axes_1">')
    with artefact.atomic_output(path) as temporary:
        temporary.write_text(before + image + "\n  " + mark + after, encoding="utf-8")


def _picture(subject: Subject) -> Picture:
    return matrix.similarity_matrix(subject.normalised)


def _embedded(picture: Picture) -> str:
    data = io.BytesIO()
    Image.fromarray(_resized(picture, min(SIDE, len(picture)))).save(data, format="PNG")
    return base64.b64encode(data.getvalue()).decode("ascii")


def _resized(picture: Picture, side: int) -> Picture:
    """Scale the picture to `side` pixels, in 16 bits. A pixel is the mean of the area it covers."""
    count = len(picture)
    upper = np.triu(picture).astype(np.float64)
    whole = upper + np.triu(upper, 1).T
    edges = np.linspace(0, count, side + 1)
    weights = np.clip(
        np.minimum(edges[1:, np.newaxis], np.arange(1, count + 1))
        - np.maximum(edges[:-1, np.newaxis], np.arange(count)),
        0,
        None,
    ) * (side / count)
    grey: Picture = np.rint(weights @ whole @ weights.T).astype(np.uint16)
    grey[np.tril_indices(side, -1)] = matrix.WHITE
    return grey


def _draw(subject: Subject) -> tuple[Figure, Axes]:
    """Returns the figure, a whole number of pixels high, and the axes reserved for the matrix."""
    side = SIDE / DOTS_PER_INCH
    markers = activity.markers(subject)
    strips = 3 + bool(markers)
    legend = LEGEND_LINE * len(subject.parts)
    height = round(TOP + side + strips * (STRIP + SPACE) + BOTTOM + legend, 2)
    drawn = Figure(figsize=(WIDTH, height))

    def add(top: float, tall: float) -> Axes:
        box = (LEFT / WIDTH, 1 - (top + tall) / height, side / WIDTH, tall / height)
        return drawn.add_axes(box)

    place = add(TOP, side)
    _draw_frame(place, subject)
    below = [add(TOP + side + SPACE + n * (STRIP + SPACE), STRIP) for n in range(strips)]
    _draw_strips(below, subject, markers)
    _draw_legend(drawn, subject)
    return drawn, place


def _draw_frame(axes: Axes, subject: Subject) -> None:
    axes.patch.set_alpha(0)
    axes.set_xlim(0, subject.intervals)
    axes.set_ylim(subject.intervals, 0)
    axes.set_ylabel("interval")
    axes.yaxis.set_label_coords(-0.1, 0.5)
    axes.tick_params(labelbottom=False)
    labels = [part.label for part in subject.parts]
    for part, first, end in _labelled(subject):
        middle = (first + end) / 2
        axes.annotate(
            labels[part],
            (middle, middle),
            xytext=(-7, 0),
            textcoords="offset points",
            ha="right",
            va="center",
        )


def _labelled(subject: Subject) -> list[Visit]:
    """Returns the visits to label: each phase's longest first, then others, while room is left."""
    line, name = subject.intervals / 36, subject.intervals / 6
    visits = [visit for visit in _visits(subject) if visit[0] < len(subject.document.phases)]
    longest_first = sorted(visits, key=lambda visit: (visit[1] - visit[2], visit[1]))
    of_phase: dict[int, Visit] = {}
    for visit in longest_first:
        of_phase.setdefault(visit[0], visit)
    seen = [visit for visit in longest_first if visit[2] - visit[1] >= subject.intervals / 250]
    chosen: list[Visit] = []
    for visit in [*of_phase.values(), *seen]:
        middle = (visit[1] + visit[2]) / 2
        apart = all(abs(middle - (other[1] + other[2]) / 2) >= line for other in chosen)
        if apart and name <= middle <= subject.intervals - line / 2:
            chosen.append(visit)
    return chosen


def _visits(subject: Subject) -> list[Visit]:
    shown = subject.shown
    firsts = np.flatnonzero(np.diff(shown, prepend=-1))
    ends = np.append(firsts[1:], subject.intervals)
    return list(zip(shown[firsts].tolist(), firsts.tolist(), ends.tolist(), strict=True))


def _draw_strips(strips: list[Axes], subject: Subject, markers: Sequence[Marker]) -> None:
    for axes in strips:
        axes.set_xlim(0, subject.intervals)
        axes.yaxis.set_label_coords(-0.075, 0.5)
        axes.tick_params(labelbottom=axes is strips[-1])
    strips[-1].set_xlabel("interval")
    _draw_phases(strips[0], subject)
    if markers:
        _draw_markers(strips[1], markers)
    for axes, name, values in zip(
        strips[-2:], ("calls", "bytes"), activity.system_calls(subject.profile), strict=True
    ):
        if subject.kernel_seen:
            _draw_rate(axes, name, values, subject)
        else:
            axes.set_ylabel(f"{name}\nnot seen")
            axes.set_yticks([])


def _draw_phases(axes: Axes, subject: Subject) -> None:
    """Stack the phases of every bin, each as high as its share of the bin's instructions."""
    edges = _edges(subject)
    spent = np.maximum(np.add.reduceat(subject.profile.instructions, edges[:-1]), 1)
    top = np.zeros(len(spent))
    shown = subject.shown
    for part in subject.parts:
        own = np.where(shown == part.number, subject.profile.instructions, 0)
        bottom, top = top, top + np.add.reduceat(own, edges[:-1]) / spent
        shade = css_colour(part.colour)
        axes.stairs(top, edges, baseline=bottom, fill=True, color=shade, linewidth=0)
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.set_ylabel("phase")


def _edges(subject: Subject) -> npt.NDArray[np.int64]:
    """Returns the edges of the bins, as many bins as a figure on paper can show."""
    bins = min(subject.intervals, SIDE // 2)
    return np.arange(bins + 1) * subject.intervals // bins


def _draw_markers(axes: Axes, found: Sequence[Marker]) -> None:
    axes.set_ylabel("markers")
    axes.set_yticks([])
    for number, marker in enumerate(found):
        rows = np.flatnonzero(marker.fires > 0) + 0.5
        axes.eventplot(
            rows,
            lineoffsets=-number,
            linelengths=0.8,
            linewidths=0.5,
            color=css_colour(marker.phase),
        )


def _draw_rate(axes: Axes, name: str, values: npt.NDArray[np.int64], subject: Subject) -> None:
    """Draw the values per million instructions."""
    edges = _edges(subject)
    spent = np.maximum(np.add.reduceat(subject.profile.instructions, edges[:-1]), 1)
    rate = 1e6 * np.add.reduceat(values, edges[:-1]) / spent
    axes.stairs(rate, edges, fill=True, color=css_colour(0))
    axes.set_ylim(0, float(rate.max()) * 1.05 or 1.0)
    axes.set_ylabel(f"{name} per\nM instr.")
    axes.yaxis.set_major_formatter(EngFormatter(sep=""))


def _draw_legend(drawn: Figure, subject: Subject) -> None:
    patches: list[Any] = [
        Patch(
            facecolor=css_colour(part.colour),
            label=f"{part.name}: {part.weight:.1%} of the instructions",
        )
        for part in subject.parts
    ]
    drawn.legend(
        handles=patches,
        loc="lower left",
        bbox_to_anchor=(LEFT / WIDTH, 0),
        frameon=False,
        borderaxespad=0.2,
        labelspacing=0.3,
    )


def _corner(axes: Axes, drawn: Figure) -> tuple[int, int]:
    """Returns the pixel at the matrix's upper left corner."""
    box = axes.get_position()
    height = round(drawn.get_figheight() * DOTS_PER_INCH)
    return round(box.x0 * WIDTH * DOTS_PER_INCH), height - round(box.y1 * height)
