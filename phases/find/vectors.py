# SPDX-License-Identifier: GPL-2.0-or-later
"""Basic-block vectors and the Manhattan distance between them.

A vector is normalised so that its elements sum to 1: each is the share of the interval's
instructions that ran in a block. The Manhattan distance of two such vectors is between 0 (the
same mixture) and 2 (no block in common); half of it is the share of instructions that ran
elsewhere.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.profiler.combine import waiting
from kadence.profiler.format.profile import Profile, Vectors

LARGEST_DISTANCE = 2.0

# Two builds of numpy may differ in the last bits of a sum; decisions must not.
DECIMALS = 10

STRIP = 256  # rows compared at a time
LONG_STRIP = 8192  # rows that are compared with few others, or scaled, at a time

Distances = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


class Normalised:
    """The rows of a profile's vectors, scaled to sum 1 when they are asked for.

    `normalised[rows]` is a matrix of these rows. All rows of a long profile would not fit into
    memory, so callers process them strip by strip.
    """

    def __init__(self, vectors: Vectors, left_out: Sequence[int] = ()) -> None:
        self._vectors = vectors
        self._waits = np.zeros(vectors.shape[1], dtype=np.bool_)
        self._waits[list(left_out)] = True
        self.shape = vectors.shape

    @classmethod
    def of(cls, profile: Profile) -> "Normalised":
        """A profile's rows without waiting loops, which say nothing of what a thread computed."""
        return cls(profile.vectors, waiting.loops(profile))

    def __getitem__(self, rows: Any) -> sparse.csr_matrix:
        part = sparse.csr_matrix(self._vectors[rows])
        if not part.has_canonical_format:
            part.sum_duplicates()
        data = part.data.astype(np.float64)
        lengths = np.diff(part.indptr)
        row = np.repeat(np.arange(len(lengths)), lengths)
        if self._waits.any():
            data[self._to_leave_out(part.indices, data, row, len(lengths))] = 0.0
        sums = np.bincount(row, weights=data, minlength=len(lengths))
        sums[sums == 0] = 1.0  # a row without instructions stays zero
        return sparse.csr_matrix((data / sums[row], part.indices, part.indptr), part.shape)

    def _to_leave_out(
        self, columns: npt.NDArray[Any], data: Distances, row: Rows, count: int
    ) -> npt.NDArray[np.bool_]:
        """The entries of waiting loops, except in rows that mostly wait, which are alike."""
        waits = self._waits[columns]
        whole = np.bincount(row, weights=data, minlength=count)
        waited = np.bincount(row, weights=data * waits, minlength=count)
        return np.asarray(waits & (waited < waiting.MOSTLY * whole)[row])

    def strips(self) -> Iterator[tuple[slice, sparse.csr_matrix]]:
        """Some rows at a time, in order."""
        for first in range(0, self.shape[0], LONG_STRIP):
            rows = slice(first, min(first + LONG_STRIP, self.shape[0]))
            yield rows, self[rows]


class NormalisedRows(Protocol):
    """Anything that returns the requested rows, scaled to sum 1."""

    shape: tuple[int, int]

    def __getitem__(self, rows: Any) -> sparse.csr_matrix: ...


def nearest(
    normalised: NormalisedRows, rows: Rows, points: sparse.csr_matrix
) -> tuple[Rows, Distances]:
    """For each of these rows the point at the smallest Manhattan distance, and that distance."""
    which = np.empty(len(rows), dtype=np.int64)
    distance = np.empty(len(rows))
    for first in range(0, len(rows), LONG_STRIP):
        found = pairwise(normalised[rows[first : first + LONG_STRIP]], points)
        which[first : first + LONG_STRIP] = found.argmin(axis=1)
        distance[first : first + LONG_STRIP] = found.min(axis=1)
    return which, distance


def pairwise(left: sparse.csr_matrix, right: sparse.csr_matrix) -> Distances:
    """Manhattan distances between all rows of `left` and all of `right`."""
    # Imported here because it takes a second to load and most commands compare no vectors.
    from sklearn.metrics.pairwise import manhattan_distances

    return _rounded(manhattan_distances(left, right))


def among(vectors: sparse.csr_matrix, known: Distances | None = None) -> Distances:
    """Manhattan distances between all rows; each pair is computed once.

    `known` holds the distances between the first rows, if they are known.
    """
    count, begin = vectors.shape[0], 0 if known is None else len(known)
    found = np.zeros((count, count))
    found[:begin, :begin] = known if begin else 0.0
    for first in range(begin, count, STRIP):
        strip = vectors[first : first + STRIP]
        for others in (slice(0, begin), slice(first, count)):
            if others.start < others.stop:
                distances = pairwise(strip, vectors[others])
                found[first : first + STRIP, others] = distances
                found[others, first : first + STRIP] = distances.T
    return found


def distances_to(vectors: sparse.csr_matrix, row: int) -> Distances:
    """Manhattan distance of every row to one of them, in one pass over the non-zeros.

    |x - y| summed over all blocks is the sum of y plus, where x is not zero, |x - y| - y.
    """
    other = vectors[[row]].toarray().ravel()
    at = other[vectors.indices]
    gain = np.abs(vectors.data - at) - at
    filled = np.diff(vectors.indptr) > 0
    found = np.full(vectors.shape[0], other.sum())
    if filled.any():
        found[filled] += np.add.reduceat(gain, vectors.indptr[:-1][filled])
    return _rounded(found)


def to_own(normalised: Normalised, representatives: Sequence[int], owner: Rows) -> Distances:
    """Manhattan distance of every row to the one of the representatives that owns it."""
    found = np.empty(normalised.shape[0])
    points = normalised[list(representatives)]
    for rows, strip in normalised.strips():
        distances = pairwise(strip, points)
        found[rows] = distances[np.arange(len(distances)), owner[rows]]
    return found


def consecutive(normalised: Normalised, steps: Sequence[int]) -> list[Distances]:
    """For each step, the Manhattan distance of every row to the row `step` rows later.

    Each result has `step` elements fewer than there are rows.
    """
    count = normalised.shape[0]
    found = [np.zeros(max(count - step, 0)) for step in steps]
    for first in range(0, count, LONG_STRIP):
        strip = normalised[first : first + LONG_STRIP + max(steps)]
        for step, distances in zip(steps, found, strict=True):
            end = min(LONG_STRIP, strip.shape[0] - step)
            if end > 0:
                difference = abs(strip[step : end + step] - strip[:end])
                distances[first : first + end] = np.asarray(difference.sum(axis=1)).ravel()
    return [_rounded(distances) for distances in found]


def evenly(rows: Rows, most: int) -> Rows:
    """At most `most` of these rows, evenly spaced."""
    count = min(len(rows), most)
    return np.asarray(rows[np.arange(count, dtype=np.int64) * len(rows) // count])


def farthest_first(
    nearest: Distances, distances_to_point: Callable[[int], Distances], most: int, near: float = 0.0
) -> tuple[list[int], Distances]:
    """Points that are as far as possible from those before them (Gonzalez 1985).

    `nearest` is the distance of each point from the points chosen before. The second result is that
    distance after the choice. The choice ends early when all points are within `near`.
    """
    chosen: list[int] = []
    while len(chosen) < most and nearest.max() > near:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, distances_to_point(chosen[-1]))
    return chosen, nearest


def _rounded(distances: Distances) -> Distances:
    return np.asarray(np.round(np.clip(distances, 0.0, LARGEST_DISTANCE), DECIMALS))
