# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the build-id of a program without slow imports.

A Slurm step inspects its command before it boots a kernel, so this time counts. Importing the
profiler's reader (`kadence.profiler.format.cfgsection`) takes 50 ms; this module takes none.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little endian
HEADER = struct.Struct("<16x16xQ8x4x2xHH6x")  # offset, size and number of the program headers
SEGMENT = struct.Struct("<I4xQ16xQ")  # type, offset, bytes in the file
NOTE = struct.Struct("<III")  # bytes of the name, bytes of the content, type
NOTES = 4
BUILD_ID = 3
OWNER = b"GNU\0"
LARGEST_NOTES = 1 << 20


def is_program(path: Path) -> bool:
    """Whether a file is a 64-bit ELF file. Kadence supports no other programs."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def build_id(path: Path) -> str | None:
    """The build-id in hex digits; None if the program or its build-id is missing."""
    try:
        with path.open("rb") as file:
            return next(_build_ids(file), None)
    except (OSError, struct.error):
        return None


def _build_ids(file: BinaryIO) -> Iterator[str]:
    header = file.read(HEADER.size)
    if not header.startswith(MAGIC):
        return
    offset, size, count = HEADER.unpack(header)
    for index in range(count):
        file.seek(offset + index * size)
        kind, start, length = SEGMENT.unpack(file.read(SEGMENT.size))
        if kind == NOTES:
            file.seek(start)
            yield from _ids_in(file.read(min(length, LARGEST_NOTES)))


def _ids_in(notes: bytes) -> Iterator[str]:
    while len(notes) >= NOTE.size:
        name_bytes, content_bytes, kind = NOTE.unpack_from(notes)
        content = NOTE.size + _padded(name_bytes)
        if kind == BUILD_ID and notes[NOTE.size : NOTE.size + name_bytes] == OWNER:
            yield notes[content : content + content_bytes].hex()
        notes = notes[content + _padded(content_bytes) :]


def _padded(length: int) -> int:
    return (length + 3) & ~3
