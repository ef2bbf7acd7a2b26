# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes the text that SimPoint reads as a profile, and writes a profile as such a text.

One line an interval: `T`, then `:block:instructions` for each block that ran, blocks numbered
from 1. Valgrind's exp-bbv, gem5, Pin's PinPoints and QEMU's bbv plugin write it. It says nothing
of names, lines, threads and system calls, so neither does the profile, and its backend tells so.
What PinPoints says beside the vectors, of where slices begin and of its blocks, is passed over.

SimPoint 3.2 (Hamerly and others 2005) takes a line without a block for the end of the file, and
reads no line of more than a mebibyte.
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

from kadence.artefact import atomic_output
from kadence.errors import ArtefactError, UsageError
from kadence.profiler import kprof, matrixchunks
from kadence.profiler.chunks import is_integral
from kadence.profiler.profile import SIMPOINT, Block, Profile

STRIP = 2000  # lines that are read at a time
INTERVAL = re.compile(rb"T(?:[ \t]*:[0-9]{1,10}:[0-9]{1,10})*\s*")
# Nothing, exp-bbv's summary, or PinPoints' records: of input, process, command, first block, marker
# and start of a slice, then of the blocks, at the end.
PASSED_OVER = re.compile(
    rb"\s*(?:#.*)?"
    rb"|(?:[IPCBMSGV]|Block id|SliceSize): .*"
    rb"|Dynamic instruction count .*|End of bb\s*",
    re.DOTALL,
)
TO_SPACES = bytes.maketrans(b"T:", b"  ")
GZIP = b"\x1f\x8b"
GZIP_SUFFIX = ".gz"
LONGEST_LINE = (1 << 20) - 2  # of SimPoint's buffer, less its ends

Numbers = npt.NDArray[np.int64]


def import_text(source: Path, output: Path) -> Profile:
    """Read SimPoint's text, write it as a profile; returns that."""
    profile = read(source)
    kprof.write(output, profile)
    return profile


def read(source: Path) -> Profile:
    """The profile that a file of frequency vectors stands for; the file may be a gzip."""
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
    """How long a block is, the text does not say: it is one instruction, run so many times."""
    return Block(number, 1, f"block_{number}", "", 0, "", False)


def _matrix(file: Iterable[bytes], source: Path) -> tuple[sparse.csr_array, list[int]]:
    """The vectors, and the number of each column's block; there is none for a block that never ran.

    A file of one thread has few of the blocks of all, and a number may be as large as it likes.
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
    """Some lines, and the number of the first."""
    number = 1
    lines = iter(file)
    while strip := list(islice(lines, STRIP)):
        yield number, strip
        number += len(strip)


def _numbers(lines: list[bytes], first: int, source: Path) -> tuple[Numbers, Numbers]:
    """Per interval how many blocks, and for all of them block and instructions."""
    intervals = []
    for number, line in enumerate(lines, start=first):
        if INTERVAL.fullmatch(line):
            intervals.append(line)
        elif not PASSED_OVER.fullmatch(line):
            shown = line.decode("ascii", "replace").strip()[:40]
            raise ArtefactError(
                f"{source}, line {number}, is no interval of basic-block counts: {shown!r}; "
                "a line is `T:1:20 :2:35 …`"
            )
    length = np.array([line.count(b":") // 2 for line in intervals], dtype=np.int64)
    if not length.any():
        return length, np.empty((0, 2), dtype=np.int64)  # numpy reads a number out of blanks
    text = b"".join(intervals).translate(TO_SPACES)
    pairs = np.fromstring(text, dtype=np.int64, sep=" ").reshape(-1, 2)
    if pairs[:, 0].min() < 1:
        raise ArtefactError(f"{source}: block 0 at or after line {first}; blocks count from 1")
    return length, pairs


def _fitting(numbers: Numbers, source: Path) -> npt.NDArray[np.int32]:
    if numbers.size and numbers.max() > matrixchunks.LARGEST_SHORT:
        raise ArtefactError(f"{source}: {numbers.max()} is more than an interval can hold")
    return numbers.astype(np.int32)


# ---- writing ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """How many intervals became lines, and how many did not because nothing ran in them."""

    intervals: int
    empty: int


def export_text(profile: Profile, output: Path, *, thread: int | None = None) -> Written:
    """Write the vectors of all threads, one after the other, or of one; same profile, same bytes.

    Blocks are numbered as in the profile, from 1; all threads share the numbers.
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
        # Neither a name nor a time: the same bytes for the same profile.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield cast(BinaryIO, packed)


def _lines(profile: Profile, rows: Numbers) -> Iterator[bytes]:
    vectors = profile.vectors[rows]
    vectors.sort_indices()
    if not is_integral(vectors.data) or (vectors.data < 0).any():
        raise ArtefactError("the profile's vectors are no numbers of instructions")
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
