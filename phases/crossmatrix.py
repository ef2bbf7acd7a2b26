# SPDX-License-Identifier: GPL-2.0-or-later
"""The similarity matrices of several inputs and the cross matrices between them, as one picture.

On the diagonal stands each input's own matrix, its upper triangle; right of it, in the same
rows, the distances of its intervals to those of every later input. The scale is that of the
similarity matrix: black for equal, white for nothing in common. All inputs share the sides
evenly, so that a short run is not lost beside a long one.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.phases import vectors
from kadence.phases.matrix import LARGEST_SIDE, SAMPLES, WHITE, Picture

GAP = 16  # white pixels between inputs
STRIP = 256  # cells compared at a time

Cells = npt.NDArray[np.int64]


def cross_matrix(inputs: Sequence[sparse.csr_matrix]) -> Picture:
    """The picture in 16 bits, 0 for equal and 65535 for the distance 2."""
    sides = [_side(rows.shape[0], len(inputs)) for rows in inputs]
    starts = [sum(sides[:number]) + number * GAP for number in range(len(sides))]
    sampled = [_samples(rows, side) for rows, side in zip(inputs, sides, strict=True)]
    size = starts[-1] + sides[-1]
    picture = np.full((size, size), WHITE, dtype=np.uint16)
    for number, (top, height) in enumerate(zip(starts, sides, strict=True)):
        for other in range(number, len(inputs)):
            left, width = starts[other], sides[other]
            block = _grey(_mean_distances(sampled[number], sampled[other], height, width))
            if other == number:
                block[np.tril_indices(height, -1)] = WHITE
            picture[top : top + height, left : left + width] = block
    return picture


def interval_of_pixel(counts: Sequence[int]) -> list[tuple[int, int] | None]:
    """Which input's which interval a row (or column) of the picture shows first; None in a gap."""
    shown: list[tuple[int, int] | None] = []
    for number, count in enumerate(counts):
        side = _side(count, len(counts))
        shown += [(number, pixel * count // side) for pixel in range(side)]
        if number + 1 < len(counts):
            shown += [None] * GAP
    return shown


def _side(count: int, inputs: int) -> int:
    return min(count, LARGEST_SIDE // inputs)


def _samples(rows: sparse.csr_matrix, side: int) -> list[sparse.csr_matrix]:
    """Per cell up to two rows, evenly spaced in it: first of each cell, then second of each."""
    edges = np.arange(side + 1) * rows.shape[0] // side
    first, size = edges[:-1], np.diff(edges)
    takes = 1 if rows.shape[0] == side else SAMPLES
    return [rows[first + (2 * take + 1) * size // (2 * takes)] for take in range(takes)]


def _mean_distances(
    left: Sequence[sparse.csr_matrix],
    right: Sequence[sparse.csr_matrix],
    height: int,
    width: int,
) -> vectors.Distances:
    """Mean distance of the rows that stand for each pair of cells."""
    found = np.zeros((height, width))
    for top in range(0, height, STRIP):
        strip = slice(top, top + STRIP)
        for rows in left:
            for others in right:
                found[strip] += vectors.pairwise(rows[strip], others)
    return found / (len(left) * len(right))


def _grey(distances: vectors.Distances) -> Picture:
    return np.rint(distances / vectors.LARGEST_DISTANCE * WHITE).astype(np.uint16)
