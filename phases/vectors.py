# SPDX-License-Identifier: GPL-2.0-or-later
"""Basic-block vectors and the Manhattan distance between them.

A vector is normalised so that its elements sum to 1: it says which share of the interval's
instructions ran in which block. The Manhattan distance of two such vectors is between 0 (the
same mixture) and 2 (no block in common); half of it is the share of instructions that ran
elsewhere.
"""

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.metrics.pairwise import manhattan_distances

from kadence.profiler.profile import Profile

LARGEST_DISTANCE = 2.0

# Two builds of numpy may differ in the last bits of a sum; decisions must not.
DECIMALS = 10

STRIP = 256  # rows compared at a time
LONG_STRIP = 8192  # rows that are compared with few others, or scaled, at a time

Distances = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


def normalised(profile: Profile) -> sparse.csr_matrix:
    """Rows scaled to sum 1; a row without instructions stays zero."""
    vectors = sparse.csr_matrix(profile.vectors)
    if not vectors.has_canonical_format or np.any(vectors.data == 0):
        vectors = vectors.copy()
        vectors.sum_duplicates()
        vectors.eliminate_zeros()
    scaled = np.empty(vectors.nnz)
    for first in range(0, vectors.shape[0], LONG_STRIP):
        _scale(vectors, first, scaled)
    # Where the profile's own index arrays can be shared, they are: they are half of its size.
    indices, indptr = (
        part.astype(np.int32, copy=False) for part in (vectors.indices, vectors.indptr)
    )
    return sparse.csr_matrix((scaled, indices, indptr), vectors.shape)


def _scale(vectors: sparse.csr_matrix, first: int, scaled: npt.NDArray[np.float64]) -> None:
    """Fill in the strip of rows from `first` on."""
    bounds = vectors.indptr[first : first + LONG_STRIP + 1]
    data = vectors.data[bounds[0] : bounds[-1]].astype(np.float64)
    lengths = np.diff(bounds)
    row = np.repeat(np.arange(len(lengths)), lengths)
    sums = np.bincount(row, weights=data, minlength=len(lengths))
    scaled[bounds[0] : bounds[-1]] = data / sums[row]


def nearest(
    vectors: sparse.csr_matrix, rows: Rows, points: sparse.csr_matrix
) -> tuple[Rows, Distances]:
    """For each of these rows the point at the smallest Manhattan distance, and that distance."""
    which = np.empty(len(rows), dtype=np.int64)
    distance = np.empty(len(rows))
    for first in range(0, len(rows), LONG_STRIP):
        found = pairwise(vectors[rows[first : first + LONG_STRIP]], points)
        which[first : first + LONG_STRIP] = found.argmin(axis=1)
        distance[first : first + LONG_STRIP] = found.min(axis=1)
    return which, distance


def pairwise(left: sparse.csr_matrix, right: sparse.csr_matrix) -> Distances:
    """Manhattan distances between all rows of `left` and all of `right`."""
    return _rounded(manhattan_distances(left, right))


def among(vectors: sparse.csr_matrix) -> Distances:
    """Manhattan distances between all rows; each pair is computed once."""
    count = vectors.shape[0]
    found = np.zeros((count, count))
    for first in range(0, count, STRIP):
        strip = pairwise(vectors[first : first + STRIP], vectors[first:])
        found[first : first + STRIP, first:] = strip
        found[first:, first : first + STRIP] = strip.T
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


def consecutive(vectors: sparse.csr_matrix, step: int) -> Distances:
    """Manhattan distance of every row to the one `step` rows later (`step` fewer rows)."""
    count = max(vectors.shape[0] - step, 0)
    found = np.zeros(count)
    for first in range(0, count, LONG_STRIP):
        end = min(first + LONG_STRIP, count)
        difference = abs(vectors[first + step : end + step] - vectors[first:end])
        found[first:end] = np.asarray(difference.sum(axis=1)).ravel()
    return _rounded(found)


def _rounded(distances: Distances) -> Distances:
    return np.asarray(np.round(np.clip(distances, 0.0, LARGEST_DISTANCE), DECIMALS))
