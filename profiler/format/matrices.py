# SPDX-License-Identifier: GPL-2.0-or-later
"""Parquet tables of a profile's matrices: one row per entry, interval after interval."""

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from kadence.profiler.format.profile import Block, DerivedVectors, Profile, Vectors
from kadence.profiler.format.tables import COMPRESSION, open_table

Array = npt.NDArray[Any]

STRIP = 1 << 20  # entries of a row group, of which there is one in memory at a time
# docs/results/profile-containers.txt compares the encodings. Residuals have few values, mostly 0.
DICTIONARY = ["residual"]
ENCODINGS, OTHERWISE = {"interval": "DELTA_BINARY_PACKED"}, "BYTE_STREAM_SPLIT"
LARGEST_SHORT = 2**31 - 1
EXACT = 2.0**53  # a double holds every integer below this.
NARROW = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")


def is_integral(values: Array) -> bool:
    """Return whether all values are whole numbers that a double holds exactly."""
    if values.dtype.kind != "f":
        return True
    whole = np.isfinite(values).all() and (np.abs(values) < EXACT).all()
    return bool(whole and (values == np.trunc(values)).all() and not np.signbit(values).any())


def _narrow(values: Array) -> Array:
    """Return the values in the narrowest type that holds them."""
    if not is_integral(values):
        return values.astype(np.float64)
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    for name in NARROW:
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max:
            return values.astype(name)
    raise OverflowError("a number is too large for a profile")


# ---- writing ---------------------------------------------------------------------------------


def residual_of(profile: Profile) -> Array | None:
    """Return each entry's instructions that exceed its count times the block's length.

    None if the counts cannot give the vectors, which then need a table of their own.
    """
    vectors, counts = profile.vectors.tocsr(), profile.counts
    alike = np.array_equal(vectors.indptr, counts.indptr) and np.array_equal(
        vectors.indices, counts.indices
    )
    if not (alike and is_integral(vectors.data) and is_integral(counts.data)):
        return None
    residual = vectors.data - _whole(counts, profile.blocks)
    return np.asarray(residual.astype(np.int64))


def write_counts(file: BinaryIO, counts: sparse.csr_array, residual: Array | None) -> None:
    """Write the table of the counts."""
    columns = _entries(counts) | {"count": _narrow(counts.data)}
    if residual is not None:
        columns["residual"] = _narrow(residual)
    _write(file, columns)


def write_vectors(file: BinaryIO, vectors: sparse.csr_array) -> None:
    """Write the table of the vectors."""
    _write(file, _entries(vectors) | {"instructions": _narrow(vectors.data)})


def _entries(matrix: sparse.csr_array) -> dict[str, Array]:
    rows = np.arange(matrix.shape[0], dtype=np.int32)
    intervals = np.repeat(rows, np.diff(matrix.indptr))
    return {"interval": intervals, "block": matrix.indices.astype(np.int32)}


def _whole(counts: sparse.csr_array, blocks: Sequence[Block]) -> Array:
    """Return the vectors' values as if every entered block had been executed to its end."""
    lengths = np.array([block.instructions for block in blocks], dtype=np.float64)
    return np.asarray(counts.data * lengths[counts.indices])


def write_intervals(file: BinaryIO, profile: Profile) -> None:
    """Write the table of the intervals."""
    arrays = (profile.instructions, profile.thread, profile.start)
    _write(file, dict(zip(("instructions", "thread", "start"), arrays, strict=True)))


def _write(file: BinaryIO, columns: dict[str, Array]) -> None:
    pq.write_table(
        pa.table({name: pa.array(values) for name, values in columns.items()}),
        file,
        **COMPRESSION,
        row_group_size=STRIP,
        store_schema=False,
        use_dictionary=DICTIONARY,
        column_encoding={
            name: ENCODINGS.get(name, OTHERWISE) for name in columns if name not in DICTIONARY
        },
    )


# ---- reading ---------------------------------------------------------------------------------


class _Table:
    """A table of which one row group is read at a time."""

    def __init__(self, content: memoryview) -> None:
        self._file = open_table(content)
        self.columns = set(self._file.schema_arrow.names)
        self.rows = self._file.metadata.num_rows

    def type_of(self, name: str, kinds: str) -> np.dtype[Any]:
        """Return a column's type; raise ValueError unless its kind is one of NumPy's letters."""
        if name not in self.columns:
            raise ValueError(f"a table's column {name} is missing")
        found: np.dtype[Any] = np.dtype(self._file.schema_arrow.field(name).type.to_pandas_dtype())
        if found.kind not in kinds:
            raise ValueError(f"a table's column {name} does not hold whole numbers")
        return found

    def groups(self, names: Sequence[str]) -> Iterator[tuple[slice, list[Array]]]:
        """Yield each row group's place and columns."""
        end = 0
        for group in range(self._file.num_row_groups):
            found = self._file.read_row_group(group, columns=list(names), use_threads=False)
            for name in names:
                if found[name].null_count:
                    raise ValueError(f"a table's column {name} has no number in some rows")
            place = slice(end, end + len(found))
            yield place, [found[name].to_numpy() for name in names]
            end = place.stop


def read_intervals(content: memoryview) -> tuple[Array, Array, Array]:
    """Return each interval's instructions, thread and start."""
    table = _Table(content)
    types = {"instructions": np.int64, "thread": np.int32, "start": np.int64}
    for name in types:
        table.type_of(name, "iu")
    instructions, thread, start = (np.empty(table.rows, dtype=each) for each in types.values())
    for place, values in table.groups(list(types)):
        instructions[place], thread[place], start[place] = values
    return instructions, thread, start


class _Rows:
    """Counts the entries of each row, of which an entry names its own."""

    def __init__(self, rows: int) -> None:
        self._entries = np.zeros(rows, dtype=np.int64)
        self._last = 0

    def add(self, intervals: Array) -> None:
        """Count these entries' rows; raise ValueError unless they follow those before."""
        if not intervals.size:
            return
        if intervals[0] < self._last or (intervals[1:] < intervals[:-1]).any():
            raise ValueError("the entries are not in the order of the rows")
        if intervals[-1] >= self._entries.size:
            raise ValueError("an entry names an unknown row")
        first, self._last = int(intervals[0]), int(intervals[-1])
        self._entries[first : self._last + 1] += np.bincount(intervals - first)

    def ends(self) -> Array:
        """Return where each row's entries begin, and the last row's end."""
        ends = np.concatenate(([0], np.cumsum(self._entries)))
        # Use half of the usual index's size: a long profile has hundreds of millions of entries.
        return ends.astype(np.int32) if ends[-1] <= LARGEST_SHORT else ends


def _read_matrix(
    content: memoryview, names: Sequence[str], rows: int, blocks: int
) -> tuple[sparse.csr_array, list[Array]]:
    """Return the matrix of the first of these columns, and the values of the others."""
    table = _Table(content)
    for name in ("interval", "block"):
        table.type_of(name, "i")
    columns = [np.empty(table.rows, dtype=table.type_of(name, "iuf")) for name in names]
    found, indices = _Rows(rows), np.empty(table.rows, dtype=np.int32)
    for place, (intervals, numbers, *values) in table.groups(["interval", "block", *names]):
        found.add(intervals)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < blocks:
            raise ValueError("an entry names an unknown block")
        indices[place] = numbers
        for column, part in zip(columns, values, strict=True):
            column[place] = part
    first, *others = columns
    return sparse.csr_array((first, indices, found.ends()), (rows, blocks)), others


def read_counts(
    content: memoryview, rows: int, blocks: Sequence[Block]
) -> tuple[sparse.csr_array, Vectors | None]:
    """Read how often each row entered each block, and the vectors if they follow from that."""
    if "residual" not in _Table(content).columns:
        return _read_matrix(content, ["count"], rows, len(blocks))[0], None
    counts, (residual,) = _read_matrix(content, ["count", "residual"], rows, len(blocks))
    if residual.dtype.kind == "f":
        raise ValueError("a table's column residual does not hold whole numbers")
    lengths = np.array([block.instructions for block in blocks], dtype=np.int64)
    return counts, DerivedVectors(counts, lengths, residual if residual.any() else None)


def read_vectors(content: memoryview, rows: int, blocks: Sequence[Block]) -> Vectors:
    """Read how many instructions each row executed in each block."""
    found: Vectors = _read_matrix(content, ["instructions"], rows, len(blocks))[0]
    return found
