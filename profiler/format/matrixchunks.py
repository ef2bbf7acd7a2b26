# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes and reads the chunks of a profile that hold its matrices; the format is in kprof.py."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from scipy import sparse

from kadence.profiler.format.chunks import (
    Array,
    Chunk,
    Column,
    columns_of,
    differences_of,
    is_integral,
    packed,
    whole_numbers,
)
from kadence.profiler.format.profile import Block, DerivedVectors, Profile, Vectors

LARGEST_SHORT = 2**31 - 1
COUNTS, VECTORS = CHUNKS = ("CNTS", "VECS")


def bodies(profile: Profile) -> dict[str, bytes]:
    """Return the bytes of each chunk."""
    return {COUNTS: _matrix(profile.counts), VECTORS: _vectors(profile)}


def _matrix(matrix: sparse.csr_array) -> bytes:
    return (
        packed(np.diff(matrix.indptr))
        + packed(differences_of(matrix.indices))
        + packed(matrix.data)
    )


def _vectors(profile: Profile) -> bytes:
    vectors, counts = profile.vectors.tocsr(), profile.counts
    alike = np.array_equal(vectors.indptr, counts.indptr) and np.array_equal(
        vectors.indices, counts.indices
    )
    if not (alike and is_integral(vectors.data) and is_integral(counts.data)):
        return _matrix(vectors)
    return packed((vectors.data - _whole(counts, profile.blocks)).astype(np.int64))


def _whole(counts: sparse.csr_array, blocks: Sequence[Block]) -> Array:
    """Return the vectors' values as if every entered block had been executed to its end."""
    lengths = np.array([block.instructions for block in blocks], dtype=np.float64)
    return np.asarray(counts.data * lengths[counts.indices])


def _next(columns: Iterator[Column]) -> Column:
    column = next(columns, None)
    if column is None:
        raise ValueError("a column is missing")
    return column


def _read_matrix(lengths: Array, columns: Iterator[Column], blocks: int) -> sparse.csr_array:
    """Read a matrix whose first column, the rows' numbers of entries, is already in `lengths`."""
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    # A negative length, or a sum that overflows its type, makes indptr decrease somewhere.
    if (indptr[1:] < indptr[:-1]).any():
        raise ValueError("a row has an impossible number of entries")
    # Use half of the usual index's size: a long profile has hundreds of millions of entries.
    if indptr[-1] <= LARGEST_SHORT:
        indptr = indptr.astype(np.int32)
    indices = _block_numbers(_next(columns), blocks)
    data = _next(columns).values()
    if not indices.size == data.size == indptr[-1] or next(columns, None):
        raise ValueError("the columns of a matrix disagree")
    return sparse.csr_array((data, indices, indptr), (lengths.size, blocks))


def _block_numbers(differences: Column, blocks: int) -> Array:
    numbers = np.empty(differences.size, dtype=np.int32)
    before = 0
    for part, values in differences.strips():
        sums = np.cumsum(values, dtype=np.int32, out=numbers[part])
        sums += before
        # As an unsigned number, a negative one is too large.
        if sums.view(np.uint32).max() >= blocks:
            raise ValueError("a row names an unknown block")
        before = int(sums[-1])
    return numbers


def read_counts(chunk: Chunk, blocks: int) -> sparse.csr_array:
    """Read how often each block was entered in each row."""
    columns = columns_of(chunk)
    return _read_matrix(whole_numbers(_next(columns)), columns, blocks)


def read_vectors(chunk: Chunk, counts: sparse.csr_array, blocks: Sequence[Block]) -> Vectors:
    """Read how many instructions each row executed in each block."""
    columns = columns_of(chunk)
    first = whole_numbers(_next(columns))
    second = next(columns, None)
    if second is not None:
        whole: Vectors = _read_matrix(first, chain([second], columns), len(blocks))
        return whole
    if first.size != counts.nnz:
        raise ValueError("its vectors and counts differ in length")
    lengths = np.array([block.instructions for block in blocks], dtype=np.int64)
    return DerivedVectors(counts, lengths, first if first.any() else None)
