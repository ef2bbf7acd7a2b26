# SPDX-License-Identifier: GPL-2.0-or-later
"""Archives: a tar of regular files, compressed with zstd; the same files give the same bytes.

Reading takes nothing on trust: what is damaged, too large once unpacked, no regular file, or
named so that it could land elsewhere is refused.
"""

import io
import re
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass

import zstandard

from kadence.errors import KadenceError

LEVEL = 19
LARGEST_UNPACKED_BYTES = 256 << 20
# A piece of the compressed form may unfold to 128 KiB for every four bytes of it.
PIECE_BYTES = 1 << 10
PLAIN_MODE, EXECUTABLE_MODE = 0o644, 0o755
# One part of a path: visible ASCII, and not `.` or `..`.
PART = re.compile(r"(?!\.{1,2}$)[!-.0-~]+")
LONGEST_PATH = 100  # what a tar's header holds without an extension


class ArchiveError(KadenceError):
    """An archive is damaged, or holds what none of ours does."""


@dataclass(frozen=True)
class Member:
    """A regular file of an archive."""

    path: str
    content: bytes
    executable: bool = False


def is_plain_path(path: str) -> bool:
    """Whether a path names a file below whatever it is unpacked into, and nothing else."""
    return len(path) <= LONGEST_PATH and all(PART.fullmatch(part) for part in path.split("/"))


def pack(members: Iterable[Member]) -> bytes:
    """An archive of these files in this order."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for member in members:
            if not is_plain_path(member.path):
                raise ArchiveError(f"{member.path!r} is no name for a file of a bundle")
            tar.addfile(_header(member), io.BytesIO(member.content))
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, threads=0)
    return compressor.compress(packed.getvalue())


def _header(member: Member) -> tarfile.TarInfo:
    """Without owner and time: TarInfo's own are all zero."""
    header = tarfile.TarInfo(member.path)
    header.size = len(member.content)
    header.mode = EXECUTABLE_MODE if member.executable else PLAIN_MODE
    return header


def unpack(name: str, packed: bytes, limit: int = LARGEST_UNPACKED_BYTES) -> list[Member]:
    """The files of an archive; `name` is for refusals."""
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
                raise ArchiveError(f"{name} is damaged: it goes on after its end")
    except zstandard.ZstdError as error:
        raise ArchiveError(f"{name} is no bundle, or a damaged one ({error})") from error
    if not decompressor.eof:
        raise ArchiveError(f"{name} is truncated, or no bundle at all")
    return bytes(unpacked)


def _member(name: str, tar: tarfile.TarFile, header: tarfile.TarInfo) -> Member:
    if not header.isreg() or header.issparse():
        raise ArchiveError(f"{name} has {header.name!r}, which is no regular file")
    if not is_plain_path(header.name):
        raise ArchiveError(f"{name} has a file named {header.name!r}, which no bundle may have")
    file = tar.extractfile(header)
    content = file.read() if file is not None else b""
    if len(content) != header.size:
        raise ArchiveError(f"{name} is damaged: {header.name} is truncated")
    if header.mode not in (PLAIN_MODE, EXECUTABLE_MODE):
        raise ArchiveError(f"{name} gives {header.name} the mode {header.mode:o}")
    return Member(header.name, content, header.mode == EXECUTABLE_MODE)
