# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads and writes profiles.

A profile comes in three forms:

    file     "\\x93KPROF\\r\\n", version (4 bytes), form (4 bytes), then the form's bytes

    STRM     the frames that a backend appends while the program runs; after any crash, they are
             readable up to the last whole interval. format/stream_format.h describes them,
             rawstream.py reads them
    COLS     the same profile, compact and with all bytes checked; `kadence profile` puts it in the
             stream's place when the run is over
    RANK     the profiles of a parallel program's ranks (ranks.py), one after the other, so that
             the writer needs only one in memory: number of ranks (4 bytes), then for each rank
             what follows the head of its COLS

The bytes of COLS, all numbers little-endian:

    body     the chunks named in `CHUNKS`, in order
    chunk    tag (4 bytes), length of the body as stored (8 bytes), CRC-32 of tag, length and
             body (4 bytes), body, compressed by Zstandard (RFC 8878)
    column   type (2 bytes: u1 u2 u4 u8 i1 i2 i4 i8 f8), number of values (8 bytes), values, in
             strips of 2**20: of a strip first all lowest bytes, then all second ones, and so on

    META     JSON: interval, unit, backend, argv, command, build_id, exit_status, facts
    STRG     JSON: every text that a column refers to, by position
    BLKS     columns: address (each minus the one before), instructions, function, file, line,
             object, entry, checksum, index in the CFG (from 1; 0: none); if any block waits, also
             `waits`
    FUNC     JSON: for every function name, file, line, checksum, loops and entry; for every loop
             index, line, depth, before, header and latches
    ROWS     columns: instructions, thread, start (each minus the one before)
    CNTS     columns: entries in every row, block (each minus the one before), count
    VECS     columns: as CNTS, with instructions as the last; or, if its entries are those of CNTS,
             a single column: instructions minus count times the block's length
    CSIT     columns of the call sites: call, function, file, line, object
    PEER     columns of the peers: family, address
    CALL     columns: interval (each minus the one before), name, descriptor, count, bytes, site
             and peer (from 1; 0: none), sequential, random, gaps, instructions_between,
             nanoseconds_between, number of sizes, sizes
    SITE     columns of the allocation sites: call, function, file, line, object
    MAPS     columns of the mappings: kind, unreserved, site (from 1; 0: none), bytes, request,
             born, gone (from 1; 0: never), forked, again, beside
    TOUC     columns: interval (each minus the one before), mapping, pages, runs, upward,
             downward, released
    DONE     empty; it marks the file as whole
"""

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import zstandard

from kadence.base.artefact import atomic_output
from kadence.base.errors import ArtefactError
from kadence.profiler.combine import ranks, recorded
from kadence.profiler.format import callchunks, matrixchunks, memorychunks, validity
from kadence.profiler.format.chunks import (
    Chunk,
    Texts,
    differences_of,
    packed,
    stored,
    sums_of,
    whole_columns,
)
from kadence.profiler.format.profile import Block, Function, Loop, Profile
from kadence.profiler.stream import rawstream

MAGIC = b"\x93KPROF\r\n"
VERSION = 3
STREAM, COLUMNS, RANKS = b"STRM", b"COLS", b"RANK"
CHUNKS = (
    *("META", "STRG", "BLKS", "FUNC", "ROWS"),
    *matrixchunks.CHUNKS,
    *callchunks.CHUNKS,
    *memorychunks.CHUNKS,
    "DONE",
)

VERSION_FIELD = struct.Struct("<I")
NUMBER_OF_RANKS = struct.Struct("<I")
HEAD_SIZE = len(MAGIC) + VERSION_FIELD.size + len(STREAM)
DAMAGES = (
    *(ValueError, TypeError, LookupError, OverflowError, RecursionError, MemoryError),
    *(struct.error, zstandard.ZstdError),
)


# ---- writing ---------------------------------------------------------------------------------


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def _meta(profile: Profile) -> bytes:
    return _json(
        {
            "interval": profile.interval,
            "unit": profile.unit,
            "backend": profile.backend,
            "argv": profile.argv,
            "command": profile.command,
            "build_id": profile.build_id,
            "exit_status": profile.exit_status,
            "facts": profile.facts,
        }
    )


def _blocks(blocks: Sequence[Block], texts: Texts) -> bytes:
    return b"".join(
        (
            packed(differences_of(block.address for block in blocks)),
            packed(block.instructions for block in blocks),
            packed(texts.number(block.function) for block in blocks),
            packed(texts.number(block.file) for block in blocks),
            packed(block.line for block in blocks),
            packed(texts.number(block.object) for block in blocks),
            packed(int(block.entry) for block in blocks),
            packed(texts.number(block.checksum) for block in blocks),
            packed(0 if block.index is None else block.index + 1 for block in blocks),
            packed(block.waits for block in blocks) if any(b.waits for b in blocks) else b"",
        )
    )


def _rows(profile: Profile) -> bytes:
    return (
        packed(profile.instructions)
        + packed(profile.thread)
        + packed(differences_of(profile.start))
    )


def _bodies(profile: Profile) -> dict[str, bytes]:
    texts = Texts()
    blocks = _blocks(profile.blocks, texts)
    calls = callchunks.bodies(profile, texts)
    memory = memorychunks.bodies(profile.memory, texts)
    return {
        "META": _meta(profile),
        "STRG": _json(texts.all()),
        "BLKS": blocks,
        "FUNC": _json([astuple(function) for function in profile.functions]),
        "ROWS": _rows(profile),
        **matrixchunks.bodies(profile),
        **calls,
        **memory,
        "DONE": b"",
    }


def write(path: Path, profile: Profile) -> None:
    """Write a profile such that read() returns an equal one; equal profiles give equal bytes."""
    with atomic_output(path) as temporary, temporary.open("wb") as file:
        file.write(MAGIC + VERSION_FIELD.pack(VERSION) + COLUMNS)
        _write_chunks(file, profile)


def write_ranks(path: Path, profiles: Iterable[Profile]) -> None:
    """Write the profiles of all ranks as one file; each is written before the next is fetched."""
    with atomic_output(path) as temporary, temporary.open("wb") as file:
        file.write(MAGIC + VERSION_FIELD.pack(VERSION) + RANKS)
        place = file.tell()
        file.write(NUMBER_OF_RANKS.pack(0))
        number = 0
        for profile in profiles:
            _write_chunks(file, profile)
            number += 1
            del profile  # frees its memory before the next one is read
        file.seek(place)
        file.write(NUMBER_OF_RANKS.pack(number))


def _write_chunks(file: BinaryIO, profile: Profile) -> None:
    bodies = _bodies(profile)
    for tag in CHUNKS:
        file.write(stored(tag, bodies[tag]))


# ---- reading ---------------------------------------------------------------------------------


def _read_blocks(chunk: Chunk, texts: Sequence[str]) -> tuple[Block, ...]:
    addresses, lengths, functions, files, lines, objects, entries, checksums, indices, *rest = (
        whole_columns(chunk)
    )
    (waits,) = rest or (np.zeros(len(addresses), dtype=np.uint8),)
    return tuple(
        Block(
            address,
            length,
            texts[function],
            texts[file],
            line,
            texts[elf],
            bool(entry),
            texts[checksum],
            index - 1 if index else None,
            wait,
        )
        for address, length, function, file, line, elf, entry, checksum, index, wait in zip(
            sums_of(addresses).view(np.uint64).tolist(),
            lengths.tolist(),
            functions.tolist(),
            files.tolist(),
            lines.tolist(),
            objects.tolist(),
            entries.tolist(),
            checksums.tolist(),
            indices.tolist(),
            waits.tolist(),
            strict=True,
        )
    )


def _read_functions(data: bytes) -> tuple[Function, ...]:
    return tuple(
        Function(name, file, line, checksum, tuple(_loop(*loop) for loop in loops), *entry)
        # Older profiles lack a function's `entry` and a loop's `before`, `header` and `latches`.
        for name, file, line, checksum, loops, *entry in json.loads(data)
    )


def _loop(
    index: int,
    line: int,
    depth: int,
    before: int | None = None,
    header: int | None = None,
    latches: Sequence[int] = (),
) -> Loop:
    return Loop(index, line, depth, before, header, tuple(latches))


def _build(file: BinaryIO) -> Profile:
    meta = json.loads(Chunk(file, "META").rest())
    texts = json.loads(Chunk(file, "STRG").rest())
    blocks = _read_blocks(Chunk(file, "BLKS"), texts)
    functions = _read_functions(Chunk(file, "FUNC").rest())
    instructions, thread, start = whole_columns(Chunk(file, "ROWS"))
    counts = matrixchunks.read_counts(Chunk(file, "CNTS"), len(blocks))
    vectors = matrixchunks.read_vectors(Chunk(file, "VECS"), counts, blocks)
    calls = callchunks.read(file, texts, instructions.size)
    memory = memorychunks.read(file, texts, instructions.size)
    if Chunk(file, "DONE").rest():
        raise ValueError("data follows its end")
    if not instructions.size == thread.size == start.size == counts.shape[0] == vectors.shape[0]:
        raise ValueError("its chunks disagree about the number of rows")
    return Profile(
        interval=meta["interval"],
        vectors=vectors,
        counts=counts,
        instructions=instructions.astype(np.int64),
        thread=thread.astype(np.int32),
        start=sums_of(start),
        blocks=blocks,
        system_calls=calls.calls,
        call_sites=calls.sites,
        peers=calls.peers,
        functions=functions,
        build_id=meta["build_id"],
        argv=tuple(meta["argv"]),
        command=tuple(meta["command"]),
        exit_status=meta["exit_status"],
        facts=meta["facts"],
        memory=memory,
        backend=meta["backend"],
        unit=meta["unit"],
    )


def _read_stream(path: Path, _file: BinaryIO) -> Profile:
    return recorded.profile(rawstream.read(path))


def _read_columns(_path: Path, file: BinaryIO) -> Profile:
    found = _build(file)
    _check_end(file)
    return found


def _read_ranks(path: Path, file: BinaryIO) -> Profile:
    (number,) = NUMBER_OF_RANKS.unpack(file.read(NUMBER_OF_RANKS.size))
    found = []
    for _ in range(number):
        found.append(_build(file))
        validity.check(found[-1])
    _check_end(file)
    if not found:
        raise ValueError("it has no ranks")
    ranks.require_alike([ranks.Identity.of(str(path), profile) for profile in found])
    return ranks.merged(ranks.of_one_interval(found))


def _check_end(file: BinaryIO) -> None:
    if file.read(1):
        raise ValueError("data follows its end")


FORMS = {STREAM: _read_stream, COLUMNS: _read_columns, RANKS: _read_ranks}


def read(path: Path) -> Profile:
    """Read a profile; raise ArtefactError if it is damaged, of another version or no profile."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            return _guarded(path, file, _form_of(path, file.read(HEAD_SIZE)))
    except OSError as error:
        raise ArtefactError(f"cannot read {path}: {error.strerror}") from error


def _form_of(path: Path, start: bytes) -> bytes:
    if not start.startswith(MAGIC):
        raise ArtefactError(f"{path} is not a profile; make one with `kadence profile`")
    if len(start) < len(MAGIC) + VERSION_FIELD.size:
        raise ArtefactError(f"{path} is cut off; make it anew with `kadence profile`")
    (version,) = VERSION_FIELD.unpack_from(start, len(MAGIC))
    if version != VERSION:
        raise ArtefactError(
            f"{path} is a profile of version {version}, this Kadence knows {VERSION}; make it anew"
        )
    form = start[len(MAGIC) + VERSION_FIELD.size :]
    if form not in FORMS:
        raise ArtefactError(f"{path} is damaged (its form is {form!r}); make it anew")
    return form


def _guarded(path: Path, file: BinaryIO, form: bytes) -> Profile:
    try:
        found = FORMS[form](path, file)
        validity.check(found)
        return found
    except DAMAGES as error:
        raise ArtefactError(
            f"{path} is damaged ({error}); make it anew with `kadence profile`"
        ) from error
