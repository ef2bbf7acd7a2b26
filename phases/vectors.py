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

Distances = npt.NDArray[np.float64]


def normalised(profile: Profile) -> sparse.csr_matrix:
    """Rows scaled to sum 1; a row without instructions stays zero."""
    vectors = sparse.csr_matrix(profile.vectors, dtype=np.float64, copy=True)
    vectors.sum_duplicates()
    vectors.eliminate_zeros()
    sums = np.asarray(vectors.sum(axis=1)).ravel()
    scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    result = sparse.csr_matrix(vectors.multiply(scale[:, np.newaxis]))
    result.indices = result.indices.astype(np.int32)
    result.indptr = result.indptr.astype(np.int32)
    return result


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
    count = vectors.shape[0] - step
    if count < 1:
        return np.zeros(0)
    difference = abs(vectors[step:] - vectors[:count])
    return _rounded(np.asarray(difference.sum(axis=1)).ravel())


def _rounded(distances: Distances) -> Distances:
    return np.asarray(np.round(np.clip(distances, 0.0, LARGEST_DISTANCE), DECIMALS))
