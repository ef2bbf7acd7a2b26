# SPDX-License-Identifier: GPL-2.0-or-later
"""The file of a profile: a ZIP archive of uncompressed members, with a checksum over all bytes.

The archive's comment, its last eight bytes, is the CRC-32 of all bytes before it, in hexadecimal.
ZIP itself leaves bytes unchecked: dates, attributes, and the local copies of names and sizes.
"""

import mmap
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

MAGIC = b"PK\x03\x04"
CHECKSUM_SIZE = 8
PIECE = 1 << 20  # bytes that are read at a time
# A member's local header: its size, and where it gives the lengths of the name and extra field.
LOCAL_SIZE, LENGTHS_AT, LENGTHS = 30, 26, struct.Struct("<HH")


@contextmanager
def created(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield an empty archive; add its checksum when the caller has written all members."""
    with zipfile.ZipFile(path, "w") as archive:
        yield archive
        archive.comment = b"0" * CHECKSUM_SIZE
    with path.open("r+b") as file:
        checksum = _checksum(iter(lambda: file.read(PIECE), b""))
        file.seek(-CHECKSUM_SIZE, 2)
        file.write(checksum)


def _checksum(pieces: Iterator[bytes]) -> bytes:
    """Return the checksum of all pieces but their last eight bytes."""
    found, kept = 0, b""
    for piece in pieces:
        whole = kept + piece
        found = zlib.crc32(memoryview(whole)[:-CHECKSUM_SIZE], found)
        kept = whole[-CHECKSUM_SIZE:]
    return b"%08x" % found


@contextmanager
def member(archive: zipfile.ZipFile, name: str) -> Iterator[BinaryIO]:
    """Yield a file whose content becomes the member of that name. It has no date."""
    with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as file:
        yield file  # type: ignore[misc]


class Archive:
    """An archive that is read; its members are parts of the mapped file."""

    def __init__(self, file: BinaryIO) -> None:
        """Raise ValueError unless the checksum is right."""
        self.path = file.name
        self._bytes = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        checksum = b"%08x" % zlib.crc32(self._bytes[:-CHECKSUM_SIZE])
        if checksum != self._bytes[-CHECKSUM_SIZE:]:
            raise ValueError("its checksum is wrong")
        with zipfile.ZipFile(file) as archive:
            self._members = {one.filename: one for one in archive.infolist()}

    @property
    def names(self) -> set[str]:
        return set(self._members)

    def read(self, name: str) -> memoryview:
        """Return a member's bytes without a copy; raise ValueError if there is none."""
        if name not in self._members:
            raise ValueError(f"{name} is missing")
        found = self._members[name]
        begin = found.header_offset + LOCAL_SIZE
        begin += sum(LENGTHS.unpack_from(self._bytes, found.header_offset + LENGTHS_AT))
        content = self._bytes[begin : begin + found.file_size]
        if found.compress_type != zipfile.ZIP_STORED or len(content) != found.file_size:
            raise ValueError(f"{name} is compressed or cut off")
        return content
