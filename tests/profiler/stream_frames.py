# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles in the form that is written while a program runs, assembled by hand."""

import struct
import zlib

START = b"\x93KPROF\r\n\3\0\0\0STRM"


def number(value: int) -> bytes:
    """LEB128, unsigned."""
    octets = bytearray()
    while value >= 0x80:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*octets, value])


def text(value: str) -> bytes:
    octets = value.encode()
    return number(len(octets)) + octets


def body(*parts: int | str) -> bytes:
    return b"".join(text(part) if isinstance(part, str) else number(part) for part in parts)


def frame(kind: str, *parts: int | str) -> bytes:
    content = body(*parts)
    start = kind.encode() + struct.pack("<I", len(content))
    return start + struct.pack("<I", zlib.crc32(start + content)) + content


def head(*, unit: int = 0, backend: str = "kbbv", path: str = "/nowhere/a") -> bytes:
    """The head of a profile of process 77, a child of process 70, run as `a x`."""
    return frame("H", 1000, unit, backend, 77, 70, "00ff", path, 2, "a", "x")


BLOCKS = (
    frame("B", 0, 0x401000, 4, 1, 10, "main", "/src", "a.c", "/bin/a", "", 0),
    frame("B", 1, 0, 7, 0, 0, "", "", "", "", "0123abcd", 3),
)
CALL = frame("N", 1, "write")
SITE = frame("S", 1, 12, "/src", "a.c", "fwrite", "main", "/bin/a")
PEER = frame("A", 1, 2, "127.0.0.1:80")
# Calls of 3, 3 and 634 bytes, two of them where the call before ended; site 1, no peer.
TALLY = (1, 1, 1, 0, 3, 640, 2, 1, 2, 500, 9000, 2, 2, 2, 10, 1)
# Two threads, so that the rows' order differs from the frames' order.
ROWS = (
    frame("R", 2, 0, 1, 0, 3, 12, 0),
    frame("R", 1, 12, 2, 0, 1, 4, 1, 2, 13, 1, *TALLY),
    frame("R", 2, 29, 0, 0),
)
FACTS = frame("F", 2, 1, 0, 4096, 0, 1, 2)
END = frame("E", 3)


def whole() -> bytes:
    return START + head() + b"".join((*BLOCKS, CALL, SITE, PEER, *ROWS, FACTS, END))


def doubled() -> bytes:
    """The interval doubles after the first row, so that rows are joined."""
    doubling = frame("I", 2000)
    return START + head() + b"".join((*BLOCKS, CALL, SITE, PEER, ROWS[0], doubling, *ROWS[1:], END))


def timed() -> bytes:
    """A program that counted itself, in intervals of time; the second row begins later."""
    later = (frame("L", 1000), frame("I", 2000))
    rows = (frame("R", 1, 0, 1, 0, 3, 12, 0), *later, frame("R", 1, 12, 0, 0))
    return START + head(unit=1, backend="compiled") + b"".join((*BLOCKS, *rows, END))


def taken_back() -> bytes:
    """A program that counted itself, and at its threads' ends reported what it had overcounted.

    Thread 1 entered the first block 3 times in one row and twice in another. It never entered the
    second block, for which it reports more than its rows have. Thread 2 did what its row says.
    """
    rows = (
        frame("R", 1, 0, 2, 0, 3, 12, 1, 1, 7, 0),
        frame("R", 2, 9, 1, 0, 5, 20, 0),
        frame("R", 1, 12, 2, 0, 4, 16, 1, 1, 7, 0),
        frame("R", 1, 30, 1, 1, 1, 7, 0),
        frame("O", 1, 2, 0, 2, 1, 4),
    )
    return START + head(backend="compiled") + b"".join((*BLOCKS, *rows, END))


def counted() -> bytes:
    """A program that counted itself, with counts for the layout."""
    counts = frame("Y", 0, "f", "a.c", "0123abcd", 2, 2, 5, 4, 1)
    return timed().removesuffix(END) + counts + END


def all_kinds() -> tuple[bytes, ...]:
    return whole(), doubled(), timed(), taken_back(), counted()
