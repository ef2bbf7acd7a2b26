# SPDX-License-Identifier: GPL-2.0-or-later
"""Decodes LEB128 numbers as kbbv writes them."""

import numpy as np
import numpy.typing as npt

LARGEST = 2**64 - 1


def decode(data: bytes) -> npt.NDArray[np.int64]:
    """Decode `data`, which holds nothing but numbers of at most 63 bits."""
    octets = np.frombuffer(data, dtype=np.uint8)
    if octets.size == 0:
        return np.zeros(0, dtype=np.int64)
    last = np.flatnonzero(octets < 0x80)
    if last.size == 0 or last[-1] != octets.size - 1:
        raise ValueError("a number is cut off")
    first = np.concatenate(([0], last[:-1] + 1))
    lengths = last - first + 1
    if lengths.max() > 9:
        raise ValueError("a number is too large")
    position = np.arange(octets.size) - np.repeat(first, lengths)
    parts = (octets & 0x7F).astype(np.int64) << (7 * position)
    return np.asarray(np.add.reduceat(parts, first), dtype=np.int64)


class Cursor:
    """Reads numbers and texts one after another."""

    def __init__(self, data: bytes, offset: int = 0) -> None:
        self.data = data
        self.offset = offset

    def number(self) -> int:
        """Return the next number, of at most 64 bits."""
        value = shift = 0
        while True:
            octet = self.data[self.offset]
            self.offset += 1
            value |= (octet & 0x7F) << shift
            if octet < 0x80:
                break
            shift += 7
        if value > LARGEST:
            raise ValueError("a number is too large")
        return value

    def text(self) -> str:
        """Return the next text, which is stored as its length and its bytes."""
        length = self.number()
        octets = self.data[self.offset : self.offset + length]
        if len(octets) != length:
            raise IndexError("a text is cut off")
        self.offset += length
        return octets.decode("utf-8", "surrogateescape")
