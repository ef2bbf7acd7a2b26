# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs that a fuzzer feeds to readers of profiles and trials, and what must then hold.

The readers refuse a wrong checksum, and so nearly every input that a fuzzer makes up. Most kinds
of input therefore leave the checksums out; the functions here make files of them, with checksums:

    columns  changes to the numbers of a sound profile, of 12 bytes each: the table, the column, the
             row and what to do (1 byte each), and a number (8 bytes)
    ranks    the same, to the first of two ranks
    stream   frames: kind (1 byte), length (2 bytes), body
    file     a whole profile, checksums included
    vectors  SimPoint's text
    records  records of trials; a line that has no sum gets one
    learned  the trials of a plan, into which a sound record is folded
"""

import io
import json
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import archives
import pyarrow as pa
import pyarrow.parquet as pq
import test_profiler_kprof

from kadence.base import artefact
from kadence.base.errors import KadenceError
from kadence.profiler import frequencies, kprof, summary
from kadence.profiler.format.profile import Profile
from kadence.profiler.stream.rawstream import HEADER, START
from kadence.trials import findings, learning, record
from kadence.trials.record import TrialsFile

sys.path.append(str(Path(__file__).resolve().parent.parent / "trials"))

import planted_records  # noqa: E402

CHANGE = struct.Struct("<BBBBq")
FRAME = struct.Struct("<BH")
FEW_ROWS = 1 << 12  # a profile of more rows is not shown or exported, which takes too long


def columns_file(data: bytes) -> bytes:
    """A profile with changed numbers."""
    return _changed(data, kprof.write, "")


def ranks_file(data: bytes) -> bytes:
    """The profiles of two ranks, of which the first has changed numbers."""

    def write(path: Path, profile: Profile) -> None:
        kprof.write_ranks(path, [profile, profile])

    return _changed(data, write, "rank0/")


def _changed(data: bytes, write: Callable[[Path, Profile], None], folder: str) -> bytes:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "P.kprof"
        write(path, test_profiler_kprof.example())
        members = archives.members(path)
        tables = sorted(each for each in members if each.startswith(folder) and "parquet" in each)
        for offset in range(0, len(data) - CHANGE.size + 1, CHANGE.size):
            number, *change = CHANGE.unpack_from(data, offset)
            table = tables[number % len(tables)]
            members[table] = _changed_table(members[table], *change)
        archives.write(path, members)
        return path.read_bytes()


def _changed_table(content: bytes, column: int, row: int, action: int, number: int) -> bytes:
    """The table without that row (2), without the column (3), or with another number there."""
    columns = pq.read_table(io.BytesIO(content)).to_pydict()
    if not columns:
        return content
    name = list(columns)[column % len(columns)]
    if action % 4 == 3:
        del columns[name]
    for each in columns.values():
        if each and action % 4 == 2:
            del each[row % len(each)]
    values = columns.get(name) or []
    if values and action % 4 < 2 and type(values[row % len(values)]) is int:
        values[row % len(values)] = number % 16 if action % 4 else number
    return _table(columns, pq.read_schema(io.BytesIO(content)))


def _table(columns: dict[str, list[object]], schema: pa.Schema) -> bytes:
    """A table with the schema's types, with wider ones, or nothing if a number fits into none."""
    kept = pa.schema([schema.field(name) for name in columns])
    for types in (kept, None):
        written = io.BytesIO()
        try:
            pq.write_table(pa.table(columns, schema=types), written)
        except (pa.ArrowInvalid, OverflowError):
            continue
        return written.getvalue()
    return b""


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


def records_file(data: bytes) -> bytes:
    """The lines, of which those without a sum get one; what follows the last is a cut line."""
    *lines, rest = data.split(b"\n")
    return b"".join(_summed(line) + b"\n" for line in lines) + rest


def _summed(line: bytes) -> bytes:
    if not line.endswith(b"}") or record.SUMMED.fullmatch(line):
        return line
    return line[:-1] + f', "sum": "{zlib.crc32(line[:-1]):08x}"}}'.encode()


def plan_file(data: bytes) -> bytes:
    """A plan whose trials are this JSON."""
    with tempfile.TemporaryDirectory() as name:
        plan = planted_records.write_plan(Path(name) / "plan")
        text = plan.read_text()
    start = text.index('"trials": {') + len('"trials": ')
    return text[:start].encode() + data + b"}"


def learn(plan: Path) -> TrialsFile:
    """Fold a sound record into the plan; returns the record."""
    file = planted_records.planted(-0.03).write(plan.with_name("record"))
    learning.learn(plan, [file], plan)
    return record.read(file)


def _as_it_is(data: bytes) -> bytes:
    return data


def use_profile(profile: Profile, folder: Path) -> None:
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


def use_records(read: TrialsFile, folder: Path) -> None:
    """Learn from the records. Only a foreign one, or one that is there twice, may be refused."""
    findings.of_records(read.records)
    plan = planted_records.write_plan(folder / "plan")
    try:
        learning.learn(plan, [read.path], plan)
    except KadenceError:
        return
    learning.learn(plan, [], plan)


def use_plan(read: TrialsFile, folder: Path) -> None:
    """The written plan holds the record, so it is read again and refuses the record."""
    plan = folder / "file"
    json.dumps(artefact.read(plan, artefact.PLAN), allow_nan=False)
    learning.learn(plan, [], plan)
    try:
        learning.learn(plan, [read.path], plan)
    except learning.ForeignError:
        return
    raise AssertionError("a record counts twice")


Make, Read, Use = Callable[[bytes], bytes], Callable[[Path], Any], Callable[[Any, Path], None]

# kind of input -> the functions that make a file of it, that read it, and that use what was read
KINDS: dict[str, tuple[Make, Read, Use]] = {
    "columns": (columns_file, kprof.read, use_profile),
    "ranks": (ranks_file, kprof.read, use_profile),
    "stream": (stream_file, kprof.read, use_profile),
    "file": (_as_it_is, kprof.read, use_profile),
    "vectors": (_as_it_is, frequencies.read, use_profile),
    "records": (records_file, record.read, use_records),
    "learned": (plan_file, learn, use_plan),
}


def check(kind: str, data: bytes, folder: Path | None = None) -> Any:
    """Read it: either the reader refuses it in one sentence, or what was read can be used."""
    make, read, use = KINDS[kind]
    with tempfile.TemporaryDirectory(dir=folder) as name:
        file = Path(name) / "file"
        file.write_bytes(make(data))
        try:
            found = read(file)
        except KadenceError as error:
            assert "\n" not in str(error), f"more than a sentence: {error}"
            return None
        use(found, Path(name))
    return found
