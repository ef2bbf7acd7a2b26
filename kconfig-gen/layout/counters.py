# SPDX-License-Identifier: GPL-2.0-or-later
"""GCC's files of counters (.gcda), in the format of GCC 12 (its gcc/gcov-io.h).

All numbers have 32 bits and the machine's order of bytes, but for the counters, which have 64. A
kernel with GCOV_KERNEL writes such files without the object's summary. GCC then drops all counts,
and says nothing.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kadence.base.errors import GuestError

MAGIC = 0x67636461  # "gcda"
FUNCTION, ARCS, SUMMARY = 0x01000000, 0x01A10000, 0xA1000000
MOST = 2**32 - 1  # that a summary can say


@dataclass(frozen=True)
class Function:
    """The counts of a function's arcs, in GCC's order. The checksums tell the function's graph."""

    ident: int
    lineno_checksum: int
    cfg_checksum: int
    counts: tuple[int, ...]

    @property
    def ran(self) -> bool:
        return any(self.counts)


def read(name: str, content: bytes) -> tuple[int, list[Function]]:
    """GCC's version as its files have it, and the functions of one file."""
    try:
        magic, version, _, _ = struct.unpack_from("<4I", content)
        if magic != MAGIC:
            raise GuestError(f"{name} has no counters of GCC; is the kernel's GCC {version:#x}?")
        return version, list(_functions(content))
    except struct.error as error:
        raise GuestError(f"the counters of {name} are cut off ({error})") from error


def _functions(content: bytes) -> Iterator[Function]:
    identity: tuple[int, int, int] | None = None
    for tag, words in _records(content):
        if tag == FUNCTION and len(words) >= 12:
            identity = struct.unpack_from("<3I", words)
        elif tag == ARCS and identity is not None:
            yield Function(*identity, struct.unpack(f"<{len(words) // 8}Q", words))


def _records(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 16
    while at < len(content):
        (tag,) = struct.unpack_from("<I", content, at)
        if not tag:
            return
        (size,) = struct.unpack_from("<i", content, at + 4)
        at += 8
        # A negative size stands for so many bytes of zeros, which are left out.
        yield tag, content[at : at + size] if size >= 0 else bytes(-size)
        at += max(size, 0)


def write(version: int, functions: Sequence[Function], most: int) -> bytes:
    """The content of a file for GCC. `most` is the largest counter of all files."""
    parts = [struct.pack("<4I", MAGIC, version, 0, 0)]
    parts.append(struct.pack("<4I", SUMMARY, 8, 1, min(most, MOST)))
    for function in functions:
        identity = (function.ident, function.lineno_checksum, function.cfg_checksum)
        size = 8 * len(function.counts)
        parts.append(struct.pack("<5I", FUNCTION, 12, *identity))
        parts.append(struct.pack(f"<2I{len(function.counts)}Q", ARCS, size, *function.counts))
    return b"".join([*parts, bytes(4)])
