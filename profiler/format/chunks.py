# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a profile's chunks and their columns, and reads them in strips; format: kprof.py."""

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
STRIP = 1 << 20  # entries that are processed at a time; the format depends on it.
PIECE = 1 << 20  # bytes that are read at a time.
LEVEL = 9  # of Zstandard; level 19 takes ten times as long and saves 2 %.
EXACT = 2.0**53  # a double holds every integer below this.

Array = npt.NDArray[Any]


class _Body:
    """The compressed bytes of a chunk; reading them also computes their checksum."""

    def __init__(self, file: BinaryIO, expected: str) -> None:
        start = file.read(CHUNK_START.size)
        tag, self.left = CHUNK_START.unpack(start)
        (self._expected,) = CHECKSUM.unpack(file.read(CHECKSUM.size))
        if tag != expected.encode("ascii"):
            raise ValueError(f"chunk {expected} is missing")
        self._file, self._name = file, expected
        self._checksum = zlib.crc32(start)

    def read(self, size: int) -> bytes:
        """Return `size` bytes, or fewer at the end."""
        data = self._file.read(min(size, self.left))
        if self.left and not data:
            raise ValueError(f"chunk {self._name} is cut off")
        self.left -= len(data)
        self._checksum = zlib.crc32(data, self._checksum)
        return data

    def check(self) -> None:
        """Raise ValueError unless the checksum of what was read is right."""
        if self._checksum != self._expected:
            raise ValueError(f"the checksum of chunk {self._name} is wrong")


class Chunk:
    """A chunk's body, decompressed as it is read; finish() checks the checksum.

    The body is never in memory as a whole, because a long profile's body is larger than the arrays
    that are made from it.
    """

    def __init__(self, file: BinaryIO, expected: str) -> None:
        self._name = expected
        self._body = _Body(file, expected)
        source: Any = self._body
        self._reader = zstandard.ZstdDecompressor().stream_reader(source, read_size=PIECE)

    def read(self, size: int) -> bytes:
        """Return `size` bytes, or fewer at the end."""
        parts = []
        while size and (part := self._reader.read(min(size, PIECE))):
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def rest(self) -> bytes:
        """Return everything up to the end."""
        parts = []
        while part := self._reader.read(PIECE):
            parts.append(part)
        self.finish()
        return b"".join(parts)

    def finish(self) -> None:
        """Raise ValueError unless the body ends here and its checksum is right."""
        if self._reader.read(1) or self._body.left:
            raise ValueError(f"chunk {self._name} is longer than it says")
        self._body.check()


def stored(tag: str, body: bytes) -> bytes:
    """Return a chunk as it stands in the file."""
    compressed = zstandard.ZstdCompressor(level=LEVEL).compress(body)
    start = CHUNK_START.pack(tag.encode("ascii"), len(compressed))
    return start + CHECKSUM.pack(zlib.crc32(start + compressed)) + compressed


class Column:
    """A column of a chunk, read strip by strip on demand."""

    def __init__(self, chunk: Chunk, start: bytes) -> None:
        name, self.size = COLUMN_START.unpack(start)
        kind = name.decode("ascii")
        if kind not in COLUMN_TYPES:
            raise ValueError(f"unknown type of column {kind!r}")
        self.type = np.dtype(f"<{kind}")
        self._chunk = chunk

    def strips(self, whole: Array | None = None) -> Iterator[tuple[slice, Array]]:
        """Yield each strip's place and values; store the values in `whole` if it is given.

        Without `whole` the next strip overwrites the values.
        """
        room = np.empty(min(self.size, STRIP), dtype=self.type) if whole is None else whole
        for first in range(0, self.size, STRIP):
            part = slice(first, min(first + STRIP, self.size))
            count = part.stop - first
            values = room[:count] if whole is None else room[part]
            _join(self._chunk.read(count * self.type.itemsize), values)
            yield part, values

    def values(self) -> Array:
        """Return the whole column in the type in which it was stored."""
        found = np.empty(self.size, dtype=self.type)
        for _ in self.strips(found):
            pass
        return found


def _split(values: Array) -> bytes:
    """Return all lowest bytes, then all second bytes, and so on, which compresses better."""
    octets = values.view(np.uint8).reshape(values.size, values.itemsize)
    return octets.T.tobytes()


def _join(data: bytes, values: Array) -> None:
    """Reverse _split(); raise ValueError if `data` is too short."""
    count, width = values.size, values.itemsize
    *others, highest = np.frombuffer(data, np.uint8, count=count * width).reshape(width, count)
    whole = values.view(f"<u{width}")
    whole[:] = highest
    for plane in reversed(others):
        whole <<= 8
        whole |= plane


def columns_of(chunk: Chunk) -> Iterator[Column]:
    """Yield the columns; the caller must read each before it asks for the next."""
    while start := chunk.read(COLUMN_START.size):
        yield Column(chunk, start)
    chunk.finish()


def whole_columns(chunk: Chunk) -> list[Array]:
    """Read all columns of a chunk that holds only whole numbers."""
    return [whole_numbers(column) for column in columns_of(chunk)]


def whole_numbers(column: Column) -> Array:
    if column.type.kind == "f":
        raise ValueError("a column of whole numbers holds fractions")
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
    """Return whether all values are whole numbers that a double holds exactly."""
    if values.dtype.kind != "f":
        return True
    whole = np.isfinite(values).all() and (np.abs(values) < EXACT).all()
    return bool(whole and (values == np.trunc(values)).all() and not np.signbit(values).any())


def packed(values: Iterable[Any]) -> bytes:
    """Return a column as it is stored, in the narrowest type that holds its values."""
    array = np.asarray(values if isinstance(values, np.ndarray) else list(values))
    name = _narrowest(array) if is_integral(array) else "f8"
    narrow = array.astype(f"<{name}")
    strips = (narrow[first : first + STRIP] for first in range(0, narrow.size, STRIP))
    return COLUMN_START.pack(name.encode("ascii"), narrow.size) + b"".join(map(_split, strips))


def differences_of(values: Iterable[Any]) -> Array:
    """Return each value minus the one before."""
    array = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=np.uint64)
    return np.diff(array, prepend=np.uint64(0)).astype(np.int64)


def sums_of(differences: Array) -> Array:
    """Reverse differences_of()."""
    return np.asarray(np.cumsum(differences, dtype=np.int64))


class Texts:
    """Numbers texts in the order in which they are first met."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        return list(self._numbers)
