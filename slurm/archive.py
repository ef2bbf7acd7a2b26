# SPDX-License-Identifier: GPL-2.0-or-later
"""Archives: a tar of regular files, compressed with zstd; the same files give the same bytes.

The reader trusts nothing. It refuses an archive that is damaged or too large once unpacked, and
one with a member that is not a regular file or whose name could lead out of the folder.
"""

import io
import re
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass

import zstandard

from kadence.base.errors import KadenceError

LEVEL = 19
LARGEST_UNPACKED_BYTES = 256 << 20
# Every four bytes of compressed data may expand to 128 KiB, so data is decompressed in pieces.
PIECE_BYTES = 1 << 10
PLAIN_MODE, EXECUTABLE_MODE = 0o644, 0o755
# One part of a path: visible ASCII, and not `.` or `..`.
PART = re.compile(r"(?!\.{1,2}$)[!-.0-~]+")
LONGEST_PATH = 100  # the limit of a tar header without an extension


class ArchiveError(KadenceError):
    """An archive is damaged, or holds something that no bundle has."""


@dataclass(frozen=True)
class Member:
    """A regular file of an archive."""

    path: str
    content: bytes
    executable: bool = False


def is_plain_path(path: str) -> bool:
    """Whether a path names a file inside the folder that it is unpacked into."""
    return len(path) <= LONGEST_PATH and all(PART.fullmatch(part) for part in path.split("/"))


def pack(members: Iterable[Member]) -> bytes:
    """Make an archive of these files in this order."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for member in members:
            if not is_plain_path(member.path):
                raise ArchiveError(f"{member.path!r} cannot name a file of a bundle")
            tar.addfile(_header(member), io.BytesIO(member.content))
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, threads=0)
    return compressor.compress(packed.getvalue())


def _header(member: Member) -> tarfile.TarInfo:
    """A header without owner and time: TarInfo's defaults are zero."""
    header = tarfile.TarInfo(member.path)
    header.size = len(member.content)
    header.mode = EXECUTABLE_MODE if member.executable else PLAIN_MODE
    return header


def unpack(name: str, packed: bytes, limit: int = LARGEST_UNPACKED_BYTES) -> list[Member]:
    """Read the files of an archive; `name` is for error messages."""
    try:
        with tarfile.open(fileobj=io.BytesIO(_decompressed(name, packed, limit)), mode="r:") as tar:
            return [_member(name, tar, header) for header in tar]
    except tarfile.TarError as error:
        raise ArchiveError(f"{name} is damaged: its archive can't be read ({error})") from error


def _decompressed(name: str, packed: bytes, limit: int) -> bytes:
    decompressor = zstandard.ZstdDecompressor().decompressobj()
    unpacked = bytearray()
    try:
        for start in range(0, len(packed), PIECE_BYTES):
            unpacked += decompressor.decompress(packed[start : start + PIECE_BYTES])
            if len(unpacked) > limit:
                raise ArchiveError(f"{name} holds more than the {limit >> 20} MiB that are allowed")
            if decompressor.eof and (decompressor.unused_data or start + PIECE_BYTES < len(packed)):
                raise ArchiveError(f"{name} is damaged: data follows its end")
    except zstandard.ZstdError as error:
        raise ArchiveError(f"{name} is not a bundle, or is damaged ({error})") from error
    if not decompressor.eof:
        raise ArchiveError(f"{name} is truncated, or not a bundle")
    return bytes(unpacked)


def _member(name: str, tar: tarfile.TarFile, header: tarfile.TarInfo) -> Member:
    if not header.isreg() or header.issparse():
        raise ArchiveError(f"{name} has {header.name!r}, which is not a regular file")
    if not is_plain_path(header.name):
        raise ArchiveError(f"{name} has a file named {header.name!r}, which no bundle may have")
    file = tar.extractfile(header)
    content = file.read() if file is not None else b""
    if len(content) != header.size:
        raise ArchiveError(f"{name} is damaged: {header.name} is truncated")
    if header.mode not in (PLAIN_MODE, EXECUTABLE_MODE):
        raise ArchiveError(f"{name} gives {header.name} the mode {header.mode:o}")
    return Member(header.name, content, header.mode == EXECUTABLE_MODE)
