# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs that a fuzzer feeds to the readers of profiles, and what must then hold.

The readers refuse a wrong checksum, and so nearly every input that a fuzzer makes up. Three kinds
of input therefore leave the checksums out; the functions here make files of them, with checksums:

    columns  the chunks' bodies, each after its length (2 bytes, little-endian)
    ranks    the number of ranks (1 byte), then for each rank the same as in `columns`
    stream   frames: kind (1 byte), length (2 bytes), body
    file     a whole profile, checksums included
    vectors  SimPoint's text
"""

import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import zstandard

from kadence.base.errors import KadenceError
from kadence.profiler import frequencies, kprof, summary
from kadence.profiler.format.chunks import CHECKSUM, CHUNK_START, stored
from kadence.profiler.format.profile import Profile
from kadence.profiler.stream.rawstream import HEADER, START

LENGTH = struct.Struct("<H")
FRAME = struct.Struct("<BH")
FEW_ROWS = 1 << 12  # a profile of more rows is not shown or exported, which takes too long


def columns_file(data: bytes) -> bytes:
    """A file of columns; a chunk for which the input has no body is empty."""
    return _head(kprof.COLUMNS) + b"".join(_chunks(data, 1))


def ranks_file(data: bytes) -> bytes:
    """A file of ranks: the first rank, and each further rank for which there is input left."""
    number = data[0] if data else 0
    chunks = b"".join(_chunks(data[1:], number))
    return _head(kprof.RANKS) + kprof.NUMBER_OF_RANKS.pack(number) + chunks


def _head(form: bytes) -> bytes:
    return kprof.MAGIC + kprof.VERSION_FIELD.pack(kprof.VERSION) + form


def _chunks(data: bytes, times: int) -> Iterator[bytes]:
    for time in range(times):
        if time and not data:
            return
        for tag in kprof.CHUNKS:
            (length,) = LENGTH.unpack(data[: LENGTH.size].ljust(LENGTH.size, b"\0"))
            yield stored(tag, data[LENGTH.size : LENGTH.size + length])
            data = data[LENGTH.size + length :]


def columns_input(file: bytes) -> bytes:
    """The input from which columns_file() makes this file."""
    return _bodies(file, kprof.HEAD_SIZE)


def ranks_input(file: bytes) -> bytes:
    """The input from which ranks_file() makes this file, which has fewer than 256 ranks."""
    (number,) = kprof.NUMBER_OF_RANKS.unpack_from(file, kprof.HEAD_SIZE)
    return bytes([number]) + _bodies(file, kprof.HEAD_SIZE + kprof.NUMBER_OF_RANKS.size)


def _bodies(file: bytes, offset: int) -> bytes:
    parts = []
    while offset < len(file):
        _tag, length = CHUNK_START.unpack_from(file, offset)
        begin = offset + CHUNK_START.size + CHECKSUM.size
        body = zstandard.ZstdDecompressor().decompress(file[begin : begin + length])
        parts += [LENGTH.pack(len(body)), body]
        offset = begin + length
    return b"".join(parts)


def stream_file(data: bytes) -> bytes:
    """A stream of the frames; a frame whose body is cut off is the last one, and shorter."""
    parts, offset = [START], 0
    while offset + FRAME.size <= len(data):
        kind, length = FRAME.unpack_from(data, offset)
        offset += FRAME.size
        body = data[offset : offset + length]
        offset += length
        start = struct.pack("<BI", kind, len(body))
        parts += [start, struct.pack("<I", zlib.crc32(start + body)), body]
    return b"".join(parts)


def stream_input(file: bytes) -> bytes:
    """The input from which stream_file() makes this file."""
    parts, offset = [], len(START)
    while offset < len(file):
        kind, length, _checksum = HEADER.unpack_from(file, offset)
        offset += HEADER.size
        parts += [FRAME.pack(kind, length), file[offset : offset + length]]
        offset += length
    return b"".join(parts)


def _as_it_is(data: bytes) -> bytes:
    return data


# kind of input -> the function that makes a file of it, and the function that reads the file
KINDS: dict[str, tuple[Callable[[bytes], bytes], Callable[[Path], Profile]]] = {
    "columns": (columns_file, kprof.read),
    "ranks": (ranks_file, kprof.read),
    "stream": (stream_file, kprof.read),
    "file": (_as_it_is, kprof.read),
    "vectors": (_as_it_is, frequencies.read),
}


def check(kind: str, data: bytes, folder: Path | None = None) -> Profile | None:
    """Read it: either the reader refuses it in one sentence, or the profile can be used."""
    make, read = KINDS[kind]
    with tempfile.TemporaryDirectory(dir=folder) as name:
        file = Path(name) / "file"
        file.write_bytes(make(data))
        try:
            profile = read(file)
        except KadenceError as error:
            assert "\n" not in str(error), f"more than a sentence: {error}"
            return None
        use(profile, Path(name))
    return profile


def use(profile: Profile, folder: Path) -> None:
    """Do what users do with a profile. Only the export may refuse vectors, as not SimPoint's."""
    kprof.write(folder / "again", profile)
    kprof.read(folder / "again")
    if len(profile.instructions) > FEW_ROWS:
        return
    summary.text(summary.document(profile))
    try:
        frequencies.export_text(profile, folder / "text")
    except KadenceError:
        return
