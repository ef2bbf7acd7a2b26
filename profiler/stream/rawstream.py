# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the form of a profile that is written while the program runs.

format/stream_format.h describes the format. Reading ends at the first frame that is cut off or
scrambled, because the writer may have died at any moment; all frames before it count. A frame with
a correct checksum and impossible content is refused.
"""

import mmap
import os
import struct
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from kadence.base.errors import ArtefactError
from kadence.profiler.format import leb128
from kadence.profiler.format.profile import Block, Facts, Peer
from kadence.profiler.stream import callstream, memorystream, streamrows
from kadence.profiler.stream.layoutstream import LayoutStream
from kadence.profiler.stream.memorystream import MemoryStream
from kadence.profiler.stream.streamrows import Row

START = b"\x93KPROF\r\n" + struct.pack("<I", 3) + b"STRM"
HEADER = struct.Struct("<BII")
BEFORE_CHECKSUM = 5
UNITS = ("instructions", "nanoseconds")


@dataclass(frozen=True)
class Head:
    """The program and process of a profile, and how it was recorded."""

    interval: int
    unit: str
    backend: str
    process: int
    parent: int  # 0: none that was recorded
    build_id: str | None
    path: str
    argv: tuple[str, ...]


@dataclass
class Recording:
    """The contents of a stream, as far as it was written."""

    head: Head
    interval: int  # at the end; earlier rows may have a shorter one, down to the head's
    blocks: list[Block] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    call_names: dict[int, str] = field(default_factory=dict)
    peers: list[Peer] = field(default_factory=list)
    layout: LayoutStream = field(default_factory=LayoutStream)
    facts: Facts = Facts()
    complete: bool = False  # The process ran to its end.
    replaced: bool = False  # The last frame is an exec.
    successor: str = ""  # the program that was executed, if it has no profile of its own
    instructions_before: int = 0  # run since the process was forked, and in no profile
    exit_status: int = 0
    memory: MemoryStream = field(default_factory=MemoryStream)
    elapsed: int = 0  # nanoseconds of processor time until the next row begins
    rows_of: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    taken_back: bool = False  # Counts were taken back from some rows.

    @property
    def ended(self) -> bool:
        """Whether no frame can follow."""
        return self.complete or self.replaced


def _head(body: bytes) -> Head:
    cursor = leb128.Cursor(body)
    interval, unit = cursor.number(), cursor.number()
    backend = cursor.text()
    process, parent = cursor.number(), cursor.number()
    build_id, path = cursor.text(), cursor.text()
    argv = tuple(cursor.text() for _ in range(cursor.number()))
    return Head(interval, UNITS[unit], backend, process, parent, build_id or None, path, argv)


def _block(recording: Recording, body: bytes) -> None:
    cursor = leb128.Cursor(body)
    number, address, instructions, entry, line = (cursor.number() for _ in range(5))
    function, directory, file, object_path, checksum = (cursor.text() for _ in range(5))
    index = cursor.number()
    waits = cursor.number() if cursor.offset < len(body) else 0  # compiled programs write none
    if number != len(recording.blocks):
        raise ValueError("blocks are not in order")
    recording.blocks.append(
        Block(
            address=address,
            instructions=instructions,
            function=function,
            file=os.path.join(directory, file) if file else "",  # noqa: PTH118
            line=line,
            object=object_path,
            entry=bool(entry),
            checksum=checksum,
            index=index - 1 if index else None,
            waits=waits,
        )
    )


def _row(recording: Recording, body: bytes) -> None:
    numbers = leb128.decode(body)
    thread, start, entries = (int(number) for number in numbers[:3])
    end = 3 + 3 * entries
    table = numbers[3:end].reshape(entries, 3)
    calls = callstream.parse(
        numbers[end:].tolist(), len(recording.memory.sites), len(recording.peers)
    )
    blocks = np.cumsum(table[:, 0])
    if entries and blocks[-1] >= len(recording.blocks):
        raise ValueError("a row names an unknown block")
    recording.memory.row_ends(thread, len(recording.rows))
    recording.rows_of[thread].append(len(recording.rows))
    recording.rows.append(
        Row(thread, start, blocks, table[:, 1], table[:, 2], calls, recording.elapsed)
    )


def _over(recording: Recording, body: bytes) -> None:
    thread, entries, *numbers = leb128.decode(body).tolist()
    table = np.array(numbers, dtype=np.int64).reshape(entries, 2)
    left = dict(zip(np.cumsum(table[:, 0]).tolist(), table[:, 1].tolist(), strict=True))
    streamrows.take_back(recording.rows, recording.rows_of[thread], left)
    recording.taken_back = True


def _interval(recording: Recording, body: bytes) -> None:
    interval = leb128.Cursor(body).number()
    if interval != 2 * recording.interval:
        raise ValueError("its interval changes to something other than its double")
    recording.interval = interval


def _elapsed(recording: Recording, body: bytes) -> None:
    elapsed = leb128.Cursor(body).number()
    if elapsed < recording.elapsed or recording.head.unit != "nanoseconds":
        raise ValueError("its elapsed time decreases or has no meaning for its intervals")
    recording.elapsed = elapsed


def _call_name(recording: Recording, body: bytes) -> None:
    cursor = leb128.Cursor(body)
    number = cursor.number()
    recording.call_names[number] = cursor.text()


def _peer(recording: Recording, body: bytes) -> None:
    cursor = leb128.Cursor(body)
    number, family = cursor.number(), cursor.number()
    if number != len(recording.peers) + 1:
        raise ValueError("peers are not in order")
    recording.peers.append(Peer(family, cursor.text()))


def _facts(recording: Recording, body: bytes) -> None:
    threads, processes, shared, mapped, unseen, _count, *families = leb128.decode(body).tolist()
    recording.facts = Facts(
        threads=threads,
        processes=processes,
        shared_memory=bool(shared),
        memory_bytes=mapped,
        memory_rows_unseen=unseen,
        socket_families=tuple(families),
    )


def _layout(recording: Recording, body: bytes) -> None:
    recording.layout.add(body)


def _past(recording: Recording, body: bytes) -> None:
    recording.instructions_before = leb128.Cursor(body).number()


def _exec(recording: Recording, body: bytes) -> None:
    recording.replaced = True
    cursor = leb128.Cursor(body)
    path = cursor.text() if body else ""
    recording.successor = path if body and cursor.number() == 0 else ""


def _end(recording: Recording, body: bytes) -> None:
    recording.complete = True
    recording.exit_status = leb128.Cursor(body).number() if body else 0


def _of_memory(
    handle: Callable[[MemoryStream, bytes], None],
) -> Callable[[Recording, bytes], None]:
    return lambda recording, body: handle(recording.memory, body)


FRAMES: dict[int, Callable[[Recording, bytes], None]] = {
    ord("B"): _block,
    ord("R"): _row,
    ord("O"): _over,
    ord("I"): _interval,
    ord("L"): _elapsed,
    ord("N"): _call_name,
    ord("A"): _peer,
    ord("Y"): _layout,
    ord("F"): _facts,
    ord("P"): _past,
    ord("X"): _exec,
    ord("E"): _end,
    **{kind: _of_memory(handle) for kind, handle in memorystream.FRAMES.items()},
}


def _frames(data: mmap.mmap, offset: int) -> Iterator[tuple[int, bytes]]:
    """Yield the whole frames, up to the first one that is cut off or has a wrong checksum."""
    while offset + HEADER.size <= len(data):
        kind, length, expected = HEADER.unpack_from(data, offset)
        begin = offset + HEADER.size
        body = data[begin : begin + length]
        checksum = zlib.crc32(body, zlib.crc32(data[offset : offset + BEFORE_CHECKSUM]))
        if len(body) != length or checksum != expected:
            return
        yield kind, body
        offset = begin + length


def _read(data: mmap.mmap) -> Recording:
    frames = _frames(data, len(START))
    kind, body = next(frames, (0, b""))
    if kind != ord("H"):
        raise ValueError("its head is missing")
    head = _head(body)
    recording = Recording(head, head.interval)
    for kind, body in frames:
        recording.replaced = False
        FRAMES[kind](recording, body)
    if recording.taken_back:
        recording.blocks, recording.rows = streamrows.of_blocks_that_ran(
            recording.blocks, recording.rows
        )
    return recording


def read(path: Path) -> Recording:
    """Read a stream up to its last whole frame."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[: len(START)] != START:
                raise ValueError("unknown magic")
            return _read(data)
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        raise ArtefactError(f"{path} is damaged ({error}); profile the program again") from error


class RowCounter:
    """Counts the rows of a stream that is still being written, merged rows as one."""

    def __init__(self, path: Path, before: tuple[int, int] | None = None) -> None:
        self.rows = 0
        self._path, self._before = path, before
        self._offset = len(START)

    def advance(self) -> int:
        """Read what was appended since the last call; return the number of rows so far."""
        try:
            with self._path.open("rb") as file:
                self._count(file)
        except OSError:
            pass  # The file does not exist yet; the next call tries again.
        return self.rows

    def _count(self, file: BinaryIO) -> None:
        status = os.fstat(file.fileno())
        if (status.st_dev, status.st_ino) == self._before:
            return  # This is an older profile, which the run will replace.
        size = status.st_size
        while self._offset + HEADER.size <= size:
            file.seek(self._offset)
            kind, length, _checksum = HEADER.unpack(file.read(HEADER.size))
            if self._offset + HEADER.size + length > size:
                return
            self._offset += HEADER.size + length
            self.rows += kind == ord("R")
            if kind == ord("I"):
                self.rows = (self.rows + 1) // 2
