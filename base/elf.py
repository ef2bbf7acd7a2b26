# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the build-id and the contents of a program without slow imports.

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
LOADED = 1
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


def contents(path: Path) -> str | None:
    """A checksum of a program's code and data; None if it is no program.

    It leaves out what also depends on the debug information: the header and the notes.
    """
    import hashlib  # here, because it is slow to import

    try:
        with path.open("rb") as file:
            segments = list(_segments(file))
            left_out = [(0, HEADER.size)]
            left_out += [(start, length) for kind, start, length in segments if kind == NOTES]
            digest = hashlib.sha256()
            for kind, start, length in segments:
                if kind == LOADED:
                    file.seek(start)
                    digest.update(_blanked(bytearray(file.read(length)), start, left_out))
    except (OSError, struct.error):
        return None
    return digest.hexdigest() if segments else None


def _blanked(content: bytearray, start: int, left_out: list[tuple[int, int]]) -> bytearray:
    """The content of a segment, with zeros for the parts of the file that are left out."""
    for first, length in left_out:
        begin, end = (min(max(place - start, 0), len(content)) for place in (first, first + length))
        content[begin:end] = bytes(end - begin)
    return content


def _segments(file: BinaryIO) -> Iterator[tuple[int, int, int]]:
    header = file.read(HEADER.size)
    if not header.startswith(MAGIC):
        return
    offset, size, count = HEADER.unpack(header)
    for index in range(count):
        file.seek(offset + index * size)
        yield SEGMENT.unpack(file.read(SEGMENT.size))


def _build_ids(file: BinaryIO) -> Iterator[str]:
    for kind, start, length in _segments(file):
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
