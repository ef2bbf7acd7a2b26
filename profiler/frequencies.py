# SPDX-License-Identifier: GPL-2.0-or-later
"""Imports SimPoint's text of frequency vectors as a profile, and exports a profile as such a text.

Each interval is a line: `T`, then `:block:instructions` for each block that ran. Blocks are
numbered from 1. Valgrind's exp-bbv, gem5, Pin's PinPoints and QEMU's bbv plugin write this text.
It holds no names, lines, threads or system calls. The profile has none either, and its backend
says so. The reader skips what PinPoints adds about the beginnings of slices and about its blocks.

SimPoint 3.2 (Hamerly and others 2005) takes a line without a block for the end of the file, and
cannot read a line of more than a mebibyte.
"""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.base.artefact import atomic_output
from kadence.base.errors import ArtefactError, UsageError
from kadence.profiler import kprof
from kadence.profiler.format.matrices import LARGEST_SHORT, is_integral
from kadence.profiler.format.profile import SIMPOINT, Block, Profile

STRIP = 2000  # lines that are read at a time
INTERVAL = re.compile(rb"T(?:[ \t]*:[0-9]{1,10}:[0-9]{1,10})*\s*")
# An empty line, exp-bbv's summary, or PinPoints' records: input, process, command, first block,
# marker and start of a slice; then, at the end of the file, the blocks.
PASSED_OVER = re.compile(
    rb"\s*(?:#.*)?"
    rb"|(?:[IPCBMSGV]|Block id|SliceSize): .*"
    rb"|Dynamic instruction count .*|End of bb\s*",
    re.DOTALL,
)
TO_SPACES = bytes.maketrans(b"T:", b"  ")
GZIP = b"\x1f\x8b"
GZIP_SUFFIX = ".gz"
LONGEST_LINE = (1 << 20) - 2  # SimPoint's buffer, less the line's two ends

Numbers = npt.NDArray[np.int64]


def import_text(source: Path, output: Path) -> Profile:
    """Read SimPoint's text, write it as a profile, and return the profile."""
    profile = read(source)
    kprof.write(output, profile)
    return profile


def read(source: Path) -> Profile:
    """Make a profile of a file of frequency vectors, which gzip may have compressed."""
    try:
        with _opened(source) as file:
            matrix, numbers = _matrix(file, source)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ArtefactError(f"cannot read {source}: {reason}") from error
    instructions = np.asarray(matrix.sum(axis=1, dtype=np.int64)).ravel()
    return Profile(
        interval=int(np.median(instructions)),
        vectors=matrix,
        counts=matrix,
        instructions=instructions,
        thread=np.ones(len(instructions), dtype=np.int32),
        start=np.cumsum(instructions) - instructions,
        blocks=tuple(map(_block, numbers)),
        system_calls=(),
        command=("kadence", "profile", "import", str(source)),
        backend=SIMPOINT,
    )


def _opened(source: Path) -> BinaryIO:
    file = source.open("rb")
    if file.peek(2).startswith(GZIP):
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    return file


def _block(number: int) -> Block:
    """Make a block of one instruction, because the text does not tell a block's length.

    The count of such a block is its number of instructions.
    """
    return Block(number, 1, f"block_{number}", "", 0, "", False)


def _matrix(file: Iterable[bytes], source: Path) -> tuple[sparse.csr_array, list[int]]:
    """Return the vectors, and the number of each column's block.

    A block that never ran has no column: a file of one thread has few of the program's blocks, and
    block numbers may be large.
    """
    lengths, blocks, values, known = [], [], [], []
    for number, lines in _strips(file):
        length, pairs = _numbers(lines, number, source)
        lengths.append(length)
        blocks.append(_fitting(pairs[:, 0], source))
        known.append(np.unique(blocks[-1]))
        values.append(_fitting(pairs[:, 1], source))
    if not lengths or not sum(map(len, blocks)):
        raise ArtefactError(f"{source} holds no interval; give a file with lines `T:1:20 :2:35 …`")
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    numbers = np.unique(np.concatenate(known))
    indices = np.concatenate(blocks) - 1
    if numbers[-1] != numbers.size:
        indices = np.searchsorted(numbers, indices + 1).astype(np.int32)
    size = (len(indptr) - 1, numbers.size)
    matrix = sparse.csr_array((np.concatenate(values), indices, indptr), size)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix, numbers.tolist()


def _strips(file: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the lines in strips, each with the number of its first line."""
    number = 1
    lines = iter(file)
    while strip := list(islice(lines, STRIP)):
        yield number, strip
        number += len(strip)


def _numbers(lines: list[bytes], first: int, source: Path) -> tuple[Numbers, Numbers]:
    """Return the number of blocks of each interval, and all pairs of block and instructions."""
    intervals = []
    for number, line in enumerate(lines, start=first):
        if INTERVAL.fullmatch(line):
            intervals.append(line)
        elif not PASSED_OVER.fullmatch(line):
            shown = line.decode("ascii", "replace").strip()[:40]
            raise ArtefactError(
                f"{source}, line {number}, is not an interval of basic-block counts: {shown!r}; "
                "a line is `T:1:20 :2:35 …`"
            )
    length = np.array([line.count(b":") // 2 for line in intervals], dtype=np.int64)
    if not length.any():
        return length, np.empty((0, 2), dtype=np.int64)  # NumPy would read a number from blanks.
    text = b"".join(intervals).translate(TO_SPACES)
    pairs = np.fromstring(text, dtype=np.int64, sep=" ").reshape(-1, 2)
    if pairs[:, 0].min() < 1:
        raise ArtefactError(f"{source}: block 0 at or after line {first}; blocks count from 1")
    return length, pairs


def _fitting(numbers: Numbers, source: Path) -> npt.NDArray[np.int32]:
    if numbers.size and numbers.max() > LARGEST_SHORT:
        raise ArtefactError(f"{source}: {numbers.max()} is more than an interval can hold")
    return numbers.astype(np.int32)


# ---- writing ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """How many intervals became lines, and how many were left out because nothing ran in them."""

    intervals: int
    empty: int


def export_text(profile: Profile, output: Path, *, thread: int | None = None) -> Written:
    """Write the vectors of all threads, one thread after the other, or of one thread.

    Blocks have the profile's numbers, from 1, in all threads. The same profile gives the same
    bytes.
    """
    rows = np.arange(len(profile.thread))
    if thread is not None:
        rows = rows[profile.thread == thread]
        if not rows.size:
            known = ", ".join(map(str, np.unique(profile.thread)))
            raise UsageError(f"the profile has no thread {thread}; its threads are {known}")
    written = 0
    with atomic_output(output) as temporary:
        with _created(temporary, output.name) as file:
            for first in range(0, rows.size, STRIP):
                lines = list(_lines(profile, rows[first : first + STRIP]))
                file.writelines(lines)
                written += len(lines)
        if not written:
            raise ArtefactError("the profile holds no interval in which anything ran")
    return Written(written, rows.size - written)


@contextmanager
def _created(path: Path, name: str) -> Iterator[BinaryIO]:
    with path.open("wb") as file:
        if not name.endswith(GZIP_SUFFIX):
            yield file
            return
        # No name and no time, so that the same profile gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield cast(BinaryIO, packed)


def _lines(profile: Profile, rows: Numbers) -> Iterator[bytes]:
    vectors = profile.vectors[rows]
    vectors.sort_indices()
    if not is_integral(vectors.data) or (vectors.data < 0).any():
        raise ArtefactError("the profile's vectors are not numbers of instructions")
    for row, first, end in zip(rows, vectors.indptr[:-1], vectors.indptr[1:], strict=True):
        pairs = zip(
            (vectors.indices[first:end] + 1).tolist(),
            vectors.data[first:end].astype(np.int64).tolist(),
            strict=True,
        )
        line = " ".join(f":{block}:{instructions}" for block, instructions in pairs if instructions)
        if len(line) > LONGEST_LINE:
            raise ArtefactError(
                f"interval {row} has more blocks than fit into a line that SimPoint reads; "
                "profile with a smaller --interval"
            )
        if line:
            yield f"T{line}\n".encode("ascii")
