# SPDX-License-Identifier: GPL-2.0-or-later
"""The chunks of a profile and their columns; kprof.py has the format. They are read in strips."""

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

CHUNK_START = struct.Struct("<4sQ")
CHECKSUM = struct.Struct("<I")
COLUMN_START = struct.Struct("<2sQ")
COLUMN_TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f8")
STRIP = 1 << 20  # entries that are worked on at a time
PIECE = 1 << 20  # bytes that are read at a time
EXACT = 2.0**53  # below this, a double holds every integer

Array = npt.NDArray[Any]


class Chunk:
    """A chunk's body, decompressed as it is read; at the end its checksum is checked.

    Never all at once: that of a long profile is larger than what is kept of it.
    """

    def __init__(self, file: BinaryIO, expected: str) -> None:
        start = file.read(CHUNK_START.size)
        tag, self._left = CHUNK_START.unpack(start)
        (self._expected,) = CHECKSUM.unpack(file.read(CHECKSUM.size))
        if tag != expected.encode("ascii"):
            raise ValueError(f"chunk {expected} is missing")
        self._file, self._name = file, expected
        self._checksum = zlib.crc32(start)
        self._inflate = zlib.decompressobj()

    def read(self, size: int) -> bytes:
        """So many bytes; fewer at the end."""
        parts = []
        while size and (part := self._some(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def rest(self) -> bytes:
        """Everything up to the end."""
        parts = []
        while part := self._some(PIECE):
            parts.append(part)
        self.finish()
        return b"".join(parts)

    def finish(self) -> None:
        """Make sure that the end is here, and that all was as it had been written."""
        if self._some(1) or self._left or self._inflate.unused_data:
            raise ValueError(f"chunk {self._name} is longer than it says")
        if self._checksum != self._expected:
            raise ValueError(f"the checksum of chunk {self._name} is wrong")

    def _some(self, most: int) -> bytes:
        """At least one byte, unless it is the end."""
        while not self._inflate.eof:
            compressed = self._inflate.unconsumed_tail or self._compressed()
            part = self._inflate.decompress(compressed, most)
            if part:
                return part
            if not compressed:
                raise ValueError(f"chunk {self._name} is cut off")
        return b""

    def _compressed(self) -> bytes:
        data = self._file.read(min(PIECE, self._left))
        if self._left and not data:
            raise ValueError(f"chunk {self._name} is cut off")
        self._left -= len(data)
        self._checksum = zlib.crc32(data, self._checksum)
        return data


class Column:
    """A column of a chunk, in strips that are read as they are asked for."""

    def __init__(self, chunk: Chunk, start: bytes) -> None:
        name, self.size = COLUMN_START.unpack(start)
        kind = name.decode("ascii")
        if kind not in COLUMN_TYPES:
            raise ValueError(f"unknown type of column {kind!r}")
        self.type = np.dtype(f"<{kind}")
        self._chunk = chunk

    def strips(self) -> Iterator[tuple[slice, Array]]:
        """Where a strip belongs, and its values."""
        for first in range(0, self.size, STRIP):
            part = slice(first, min(first + STRIP, self.size))
            count = part.stop - first
            data = self._chunk.read(count * self.type.itemsize)
            yield part, np.frombuffer(data, self.type, count=count)

    def values(self) -> Array:
        """All of it, as narrow as it was stored."""
        found = np.empty(self.size, dtype=self.type)
        for part, values in self.strips():
            found[part] = values
        return found


def columns_of(chunk: Chunk) -> Iterator[Column]:
    """The columns, each to be read before the next one is asked for."""
    while start := chunk.read(COLUMN_START.size):
        yield Column(chunk, start)
    chunk.finish()


def whole_columns(chunk: Chunk) -> list[Array]:
    return [column.values() for column in columns_of(chunk)]


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
    stored = array.astype(f"<{name}")
    return COLUMN_START.pack(name.encode("ascii"), stored.size) + stored.tobytes()


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
