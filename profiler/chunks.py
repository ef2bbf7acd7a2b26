# SPDX-License-Identifier: GPL-2.0-or-later
"""The chunks of a profile and their columns; kprof.py has the format. They are read in strips."""

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import zstandard

CHUNK_START = struct.Struct("<4sQ")
CHECKSUM = struct.Struct("<I")
COLUMN_START = struct.Struct("<2sQ")
COLUMN_TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f8")
STRIP = 1 << 20  # entries that are worked on at a time, and whose bytes are stored apart
PIECE = 1 << 20  # bytes that are read at a time
LEVEL = 9  # of Zstandard; 19 takes ten times as long and saves a fiftieth
EXACT = 2.0**53  # below this, a double holds every integer

Array = npt.NDArray[Any]


class _Body:
    """The compressed bytes of a chunk, checked as they are read."""

    def __init__(self, file: BinaryIO, expected: str) -> None:
        start = file.read(CHUNK_START.size)
        tag, self.left = CHUNK_START.unpack(start)
        (self._expected,) = CHECKSUM.unpack(file.read(CHECKSUM.size))
        if tag != expected.encode("ascii"):
            raise ValueError(f"chunk {expected} is missing")
        self._file, self._name = file, expected
        self._checksum = zlib.crc32(start)

    def read(self, size: int) -> bytes:
        """So many bytes; fewer at the end."""
        data = self._file.read(min(size, self.left))
        if self.left and not data:
            raise ValueError(f"chunk {self._name} is cut off")
        self.left -= len(data)
        self._checksum = zlib.crc32(data, self._checksum)
        return data

    def check(self) -> None:
        """Make sure that all was as it had been written."""
        if self._checksum != self._expected:
            raise ValueError(f"the checksum of chunk {self._name} is wrong")


class Chunk:
    """A chunk's body, decompressed as it is read; at the end its checksum is checked.

    Never all at once: that of a long profile is larger than what is kept of it.
    """

    def __init__(self, file: BinaryIO, expected: str) -> None:
        self._name = expected
        self._body = _Body(file, expected)
        source: Any = self._body
        self._reader = zstandard.ZstdDecompressor().stream_reader(source, read_size=PIECE)

    def read(self, size: int) -> bytes:
        """So many bytes; fewer at the end."""
        parts = []
        while size and (part := self._reader.read(min(size, PIECE))):
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def rest(self) -> bytes:
        """Everything up to the end."""
        parts = []
        while part := self._reader.read(PIECE):
            parts.append(part)
        self.finish()
        return b"".join(parts)

    def finish(self) -> None:
        """Make sure that the end is here, and that all was as it had been written."""
        if self._reader.read(1) or self._body.left:
            raise ValueError(f"chunk {self._name} is longer than it says")
        self._body.check()


def stored(tag: str, body: bytes) -> bytes:
    """A chunk as it is in the file."""
    compressed = zstandard.ZstdCompressor(level=LEVEL).compress(body)
    start = CHUNK_START.pack(tag.encode("ascii"), len(compressed))
    return start + CHECKSUM.pack(zlib.crc32(start + compressed)) + compressed


class Column:
    """A column of a chunk, in strips that are read as they are asked for."""

    def __init__(self, chunk: Chunk, start: bytes) -> None:
        name, self.size = COLUMN_START.unpack(start)
        kind = name.decode("ascii")
        if kind not in COLUMN_TYPES:
            raise ValueError(f"unknown type of column {kind!r}")
        self.type = np.dtype(f"<{kind}")
        self._chunk = chunk

    def strips(self, whole: Array | None = None) -> Iterator[tuple[slice, Array]]:
        """Where a strip belongs, and its values, which are put into `whole`, if there is one."""
        room = np.empty(min(self.size, STRIP), dtype=self.type) if whole is None else whole
        for first in range(0, self.size, STRIP):
            part = slice(first, min(first + STRIP, self.size))
            count = part.stop - first
            values = room[:count] if whole is None else room[part]
            _join(self._chunk.read(count * self.type.itemsize), values)
            yield part, values

    def values(self) -> Array:
        """All of it, as narrow as it was stored."""
        found = np.empty(self.size, dtype=self.type)
        for _ in self.strips(found):
            pass
        return found


def _split(values: Array) -> bytes:
    """First all lowest bytes, then all second ones, and so on: what they share compresses."""
    octets = values.view(np.uint8).reshape(values.size, values.itemsize)
    return octets.T.tobytes()


def _join(data: bytes, values: Array) -> None:
    """Put together what was split. `data` may be too short, which is refused."""
    count, width = values.size, values.itemsize
    *others, highest = np.frombuffer(data, np.uint8, count=count * width).reshape(width, count)
    whole = values.view(f"<u{width}")
    whole[:] = highest
    for plane in reversed(others):
        whole <<= 8
        whole |= plane


def columns_of(chunk: Chunk) -> Iterator[Column]:
    """The columns, each to be read before the next one is asked for."""
    while start := chunk.read(COLUMN_START.size):
        yield Column(chunk, start)
    chunk.finish()


def whole_columns(chunk: Chunk) -> list[Array]:
    """All columns of a chunk that holds whole numbers only."""
    return [whole_numbers(column) for column in columns_of(chunk)]


def whole_numbers(column: Column) -> Array:
    if column.type.kind == "f":
        raise ValueError("a column of whole numbers holds others")
    return column.values()


def _narrowest(values: Array) -> str:
    if values.size == 0:
        return "u1"
    low, high = int(values.min()), int(values.max())
    for name in COLUMN_TYPES[:-1]:
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max:
            return name
    raise OverflowError("a number is too large for a profile")


def is_integral(values: Array) -> bool:
    """Whether all values are whole numbers that a double holds exactly."""
    if values.dtype.kind != "f":
        return True
    whole = np.isfinite(values).all() and (np.abs(values) < EXACT).all()
    return bool(whole and (values == np.trunc(values)).all() and not np.signbit(values).any())


def packed(values: Iterable[Any]) -> bytes:
    """A column as it is stored, as narrow as its values allow."""
    array = np.asarray(values if isinstance(values, np.ndarray) else list(values))
    name = _narrowest(array) if is_integral(array) else "f8"
    narrow = array.astype(f"<{name}")
    strips = (narrow[first : first + STRIP] for first in range(0, narrow.size, STRIP))
    return COLUMN_START.pack(name.encode("ascii"), narrow.size) + b"".join(map(_split, strips))


def differences_of(values: Iterable[Any]) -> Array:
    """Each value minus the one before."""
    array = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=np.uint64)
    return np.diff(array, prepend=np.uint64(0)).astype(np.int64)


def sums_of(differences: Array) -> Array:
    """What the differences were taken of."""
    return np.asarray(np.cumsum(differences, dtype=np.int64))


class Texts:
    """Gives every text a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        return list(self._numbers)
