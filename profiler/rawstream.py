# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what kbbv wrote; the format is at the head of kbbv/stream.c."""

import mmap
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.errors import ArtefactError
from kadence.profiler import leb128, memorystream
from kadence.profiler.memorystream import MemoryStream
from kadence.profiler.profile import Block, SystemCalls

MAGIC = b"KBBVRAW1"
HEADER = struct.Struct("<BI")
DESCRIPTORS = ("", "file", "socket", "pipe", "device", "other")


@dataclass(frozen=True)
class Row:
    """One interval of one thread."""

    thread: int
    start: int
    blocks: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    instructions: npt.NDArray[np.int64]
    calls: npt.NDArray[np.int64]  # one line each: number, kind of descriptor, count, bytes


@dataclass
class Recording:
    """A whole stream, as far as it was written."""

    interval: int = 0
    blocks: list[Block] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    call_names: dict[int, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    complete: bool = False  # the run came to its end
    replaced: bool = False  # the last that was seen is an exec
    memory: MemoryStream = field(default_factory=MemoryStream)


def _block(recording: Recording, body: bytes) -> None:
    cursor = leb128.Cursor(body)
    number, address, instructions, entry, line = (cursor.number() for _ in range(5))
    function, directory, file, object_path = (cursor.text() for _ in range(4))
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
        )
    )


def _row(recording: Recording, body: bytes) -> None:
    numbers = leb128.decode(body)
    thread, start, entries = (int(number) for number in numbers[:3])
    end = 3 + 3 * entries
    table = numbers[3:end].reshape(entries, 3)
    calls = numbers[end + 1 :].reshape(int(numbers[end]), 4)
    blocks = np.cumsum(table[:, 0])
    if entries and blocks[-1] >= len(recording.blocks):
        raise ValueError("a row names an unknown block")
    recording.memory.row_ends(thread, len(recording.rows))
    recording.rows.append(Row(thread, start, blocks, table[:, 1], table[:, 2], calls))


def _call_name(recording: Recording, body: bytes) -> None:
    cursor = leb128.Cursor(body)
    number = cursor.number()
    recording.call_names[number] = cursor.text()


def _facts(recording: Recording, body: bytes) -> None:
    threads, processes, shared, mapped, unseen, _count, *families = leb128.decode(body).tolist()
    recording.facts = {
        "threads": threads,
        "processes": processes,
        "shared_memory": bool(shared),
        "memory_bytes": mapped,
        "memory_rows_unseen": unseen,
        "socket_families": families,
    }


def _exec(recording: Recording, _body: bytes) -> None:
    recording.replaced = True


def _end(recording: Recording, _body: bytes) -> None:
    recording.complete = True


def _of_memory(
    handle: Callable[[MemoryStream, bytes], None],
) -> Callable[[Recording, bytes], None]:
    return lambda recording, body: handle(recording.memory, body)


FRAMES: dict[int, Callable[[Recording, bytes], None]] = {
    ord("B"): _block,
    ord("R"): _row,
    ord("N"): _call_name,
    ord("F"): _facts,
    ord("X"): _exec,
    ord("E"): _end,
    **{kind: _of_memory(handle) for kind, handle in memorystream.FRAMES.items()},
}


def _frames(data: mmap.mmap, offset: int) -> Iterator[tuple[int, bytes]]:
    """The whole frames; what a dying process left cut off at the end is not among them."""
    while offset + HEADER.size <= len(data):
        kind, length = HEADER.unpack_from(data, offset)
        offset += HEADER.size
        if offset + length > len(data):
            return
        yield kind, data[offset : offset + length]
        offset += length


def _read(data: mmap.mmap) -> Recording:
    cursor = leb128.Cursor(data[: len(MAGIC) + 10], len(MAGIC))
    recording = Recording(interval=cursor.number())
    for kind, body in _frames(data, cursor.offset):
        recording.replaced = False
        FRAMES[kind](recording, body)
    return recording


def read(path: Path) -> Recording:
    """Read a stream as far as it has whole frames."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[: len(MAGIC)] != MAGIC:
                raise ValueError("unknown magic")
            return _read(data)
    except (ValueError, IndexError, KeyError) as error:
        raise ArtefactError(
            f"the recording {path} is damaged ({error}); profile the program again"
        ) from error


class RowCounter:
    """Counts the rows of a stream that is still being written."""

    def __init__(self, path: Path) -> None:
        self.rows = 0
        self._path = path
        self._offset = 0

    def advance(self) -> int:
        """Look at what was appended since the last call; return the rows so far."""
        try:
            with self._path.open("rb") as file:
                self._count(file)
        except (OSError, IndexError):
            pass  # not there yet: there will be another look
        return self.rows

    def _count(self, file: BinaryIO) -> None:
        if self._offset == 0:
            cursor = leb128.Cursor(file.read(len(MAGIC) + 10), len(MAGIC))
            cursor.number()
            self._offset = cursor.offset
        size = os.fstat(file.fileno()).st_size
        while self._offset + HEADER.size <= size:
            file.seek(self._offset)
            kind, length = HEADER.unpack(file.read(HEADER.size))
            if self._offset + HEADER.size + length > size:
                return
            self._offset += HEADER.size + length
            self.rows += kind == ord("R")


def matrices(recording: Recording) -> tuple[sparse.csr_array, sparse.csr_array]:
    """The rows' instructions and counts by block, as sparse matrices."""
    rows = recording.rows
    shape = (len(rows), len(recording.blocks))
    ends = np.cumsum([0, *(row.blocks.size for row in rows)])
    columns = np.concatenate([row.blocks for row in rows])
    counts = np.concatenate([row.counts for row in rows]).astype(np.float64)
    instructions = np.concatenate([row.instructions for row in rows]).astype(np.float64)
    return (
        sparse.csr_array((instructions, columns, ends), shape=shape),
        sparse.csr_array((counts, columns.copy(), ends.copy()), shape=shape),
    )


def system_calls(recording: Recording) -> tuple[SystemCalls, ...]:
    """The calls of all rows, named, in the order of the rows."""
    return tuple(
        SystemCalls(
            interval=index,
            name=recording.call_names.get(number, f"system_call_{number}"),
            descriptor=DESCRIPTORS[descriptor],
            count=count,
            bytes=moved,
        )
        for index, row in enumerate(recording.rows)
        for number, descriptor, count, moved in sorted(map(tuple, row.calls.tolist()))
    )
