# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads and writes profiles.

A profile comes in two forms:

    a stream    the frames that a backend appends while the program runs; after any crash, they are
                readable up to the last whole interval. format/stream_format.h describes them,
                stream/rawstream.py reads them
    an archive  the same profile, compact and with all bytes checked; `kadence profile` puts it in
                the stream's place when the run is over

An archive is an uncompressed ZIP file (format/archive.py) of Parquet tables and a JSON artefact,
so that other programs can read them:

    profile.json            the fields of `Run`
    blocks.parquet          a row per `Block`. The tables refer to a block, as to everything else,
                            by the number of its row, from 0
    intervals.parquet       instructions, thread, start
    counts.parquet          interval, block, count; and, unless vectors.parquet exists, residual:
                            the instructions that exceed count times the block's length
    vectors.parquet         interval, block, instructions
    system_calls.parquet    a row per `SystemCalls`
    call_sites.parquet      a row per `CallSite`
    peers.parquet           a row per `Peer`
    memory_sites.parquet    a row per `CallSite` that allocates
    mappings.parquet        a row per `Mapping`
    touches.parquet         a row per `Touches`
    layout_counts.parquet   a row per `LayoutCount`; missing if there are none

The profiles of a parallel program's ranks (combine/ranks.py) are one archive, in which the members
of the first rank are below rank0/, those of the second below rank1/, and so on.
"""

import struct
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from kadence.base import artefact, codec
from kadence.base.artefact import atomic_output
from kadence.base.errors import ArtefactError
from kadence.profiler.combine import ranks, recorded
from kadence.profiler.format import archive, matrices, tables, validity
from kadence.profiler.format import profile as parts
from kadence.profiler.format.archive import Archive
from kadence.profiler.format.profile import Facts, Function, Memory, Profile
from kadence.profiler.stream import rawstream

STREAM_MAGIC = b"\x93KPROF\r\n"
RUN = "profile.json"
DAMAGES = (
    *(ValueError, LookupError, OverflowError, MemoryError, EOFError),
    *(struct.error, zipfile.BadZipFile, NotImplementedError, pa.ArrowException),
)


@dataclass(frozen=True)
class Run:
    """What profile.json holds beside an artefact's envelope."""

    build_id: str | None
    command: tuple[str, ...]
    interval: int
    unit: str
    backend: str
    argv: tuple[str, ...]
    exit_status: int
    facts: Facts
    functions: tuple[Function, ...]


# Name of a table -> the class of its rows, and the profile's objects.
TABLES: Mapping[str, tuple[type, Callable[[Profile], tuple[Any, ...]]]] = {
    "blocks": (parts.Block, lambda profile: profile.blocks),
    "system_calls": (parts.SystemCalls, lambda profile: profile.system_calls),
    "call_sites": (parts.CallSite, lambda profile: profile.call_sites),
    "peers": (parts.Peer, lambda profile: profile.peers),
    "memory_sites": (parts.CallSite, lambda profile: profile.memory.sites),
    "mappings": (parts.Mapping, lambda profile: profile.memory.mappings),
    "touches": (parts.Touches, lambda profile: profile.memory.touches),
}
LAYOUT = "layout_counts"
INTERVALS, COUNTS, VECTORS = "intervals", "counts", "vectors"


def _file(name: str) -> str:
    return f"{name}.parquet"


OPTIONAL = {_file(VECTORS), _file(LAYOUT)}
MEMBERS = {RUN, *map(_file, (*TABLES, INTERVALS, COUNTS))}  # of every archive


# ---- writing ---------------------------------------------------------------------------------


def _run(profile: Profile) -> bytes:
    fields = {name: getattr(profile, name) for name in Run.__dataclass_fields__}
    body = codec.encode(Run(**fields))
    return artefact.text(artefact.PROFILE, profile.build_id, profile.command, body).encode()


def write(path: Path, profile: Profile) -> None:
    """Write a profile such that read() returns an equal one; equal profiles give equal bytes."""
    with atomic_output(path) as temporary, archive.created(temporary) as output:
        _write_profile(output, "", profile)


def write_ranks(path: Path, profiles: Iterable[Profile]) -> None:
    """Write the profiles of all ranks as one file; each is written before the next is fetched."""
    with atomic_output(path) as temporary, archive.created(temporary) as output:
        number = 0  # enumerate() would keep a profile until it has the next one.
        for profile in profiles:
            _write_profile(output, f"rank{number}/", profile)
            number += 1  # noqa: SIM113
            del profile  # frees its memory before the next one is read


def _write_profile(output: zipfile.ZipFile, folder: str, profile: Profile) -> None:
    with archive.member(output, folder + RUN) as file:
        file.write(_run(profile))
    for name, (kind, objects) in TABLES.items():
        with archive.member(output, folder + _file(name)) as file:
            tables.write(file, kind, objects(profile))
    if profile.layout_counts:
        with archive.member(output, folder + _file(LAYOUT)) as file:
            tables.write(file, parts.LayoutCount, profile.layout_counts)
    _write_matrices(output, folder, profile)


def _write_matrices(output: zipfile.ZipFile, folder: str, profile: Profile) -> None:
    residual = matrices.residual_of(profile)
    with archive.member(output, folder + _file(INTERVALS)) as file:
        matrices.write_intervals(file, profile)
    with archive.member(output, folder + _file(COUNTS)) as file:
        matrices.write_counts(file, profile.counts, residual)
    if residual is None:
        with archive.member(output, folder + _file(VECTORS)) as file:
            matrices.write_vectors(file, profile.vectors.tocsr())


# ---- reading ---------------------------------------------------------------------------------


def _build(found: Archive, folder: str) -> Profile:
    run = _read_run(found, folder)
    lists: dict[str, Any] = {
        name: tables.read(found.read(folder + _file(name)), kind)
        for name, (kind, _objects) in TABLES.items()
    }
    if folder + _file(LAYOUT) in found.names:
        lists[LAYOUT] = tables.read(found.read(folder + _file(LAYOUT)), parts.LayoutCount)
    sites, mappings, touches = (lists.pop(one) for one in ("memory_sites", "mappings", "touches"))
    instructions, thread, start = matrices.read_intervals(found.read(folder + _file(INTERVALS)))
    rows, blocks = instructions.size, lists["blocks"]
    counts, vectors = matrices.read_counts(found.read(folder + _file(COUNTS)), rows, blocks)
    if vectors is None:
        vectors = matrices.read_vectors(found.read(folder + _file(VECTORS)), rows, blocks)
    return Profile(
        **vars(run),
        **lists,
        vectors=vectors,
        counts=counts,
        instructions=instructions,
        thread=thread,
        start=start,
        memory=Memory(sites, mappings, touches),
    )


def _read_run(found: Archive, folder: str) -> Run:
    content = bytes(found.read(folder + RUN))
    document = artefact.parse(f"{found.path} ({folder}{RUN})", content, artefact.PROFILE)
    return codec.decode(Run, document)


def _read_archive(path: Path, file: BinaryIO) -> Profile:
    found = Archive(file)
    if RUN in found.names:
        _require_members(found, [""])
        return _build(found, "")
    folders = [*takewhile(lambda rank: rank + RUN in found.names, map("rank{}/".format, count()))]
    _require_members(found, folders)
    profiles = [_checked(_build(found, folder)) for folder in folders]
    if not profiles:
        raise ValueError("it has no ranks")
    ranks.require_alike([ranks.Identity.of(str(path), profile) for profile in profiles])
    return ranks.merged(ranks.of_one_interval(profiles))


def _require_members(found: Archive, folders: list[str]) -> None:
    known = {folder + name for folder in folders for name in (*MEMBERS, *OPTIONAL)}
    if unknown := sorted(found.names - known):
        raise ValueError(f"its member {unknown[0]} belongs to no profile")


def _checked(profile: Profile) -> Profile:
    validity.check(profile)
    return profile


def read(path: Path) -> Profile:
    """Read a profile; raise ArtefactError if it is damaged, of another version or no profile."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            start = file.read(len(rawstream.START))
            return _guarded(path, file, start)
    except OSError as error:
        raise ArtefactError(f"cannot read {path}: {error.strerror}") from error


def _guarded(path: Path, file: BinaryIO, start: bytes) -> Profile:
    try:
        return _checked(_reader(path, start)(path, file))
    except (*DAMAGES, codec.DecodeError) as error:
        raise _damaged(path, error) from error
    except OSError as error:
        if error.errno is None:  # of pyarrow, about the bytes
            raise _damaged(path, error) from error
        raise


def _damaged(path: Path, error: Exception) -> ArtefactError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return ArtefactError(f"{path} is damaged ({reason}); make it anew with `kadence profile`")


def _reader(path: Path, start: bytes) -> Callable[[Path, BinaryIO], Profile]:
    """Return the function that reads the form of which these are the first bytes."""
    if start.startswith(archive.MAGIC):
        return _read_archive
    if start == rawstream.START:
        return _read_stream
    if not start.startswith(STREAM_MAGIC):
        raise ArtefactError(f"{path} is not a profile; make one with `kadence profile`")
    raise ArtefactError(
        f"{path} is cut off or a profile of another version; make it anew with `kadence profile`"
    )


def _read_stream(path: Path, _file: BinaryIO) -> Profile:
    return recorded.profile(rawstream.read(path))
