# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile with planted, and so known, phases, weights and firings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial.distance import cdist

from kadence.profiler.format.profile import (
    Block,
    CallSite,
    Facts,
    Function,
    Loop,
    Profile,
    SystemCalls,
)

INTERVAL = 1_000_000
PROGRAM = "/tmp/planted"
LIBC = "/lib/x86_64-linux-gnu/libc.so.6"


def block(function: str, line: int, *, entry: bool = False, **other: Any) -> Block:
    """A block of planted.c; `other` replaces any of its members."""
    values: dict[str, Any] = {
        "address": 0x1000 + 16 * line,
        "instructions": 10,
        "file": "/src/planted.c",
        "object": PROGRAM,
    }
    return Block(function=function, line=line, entry=entry, **(values | other))


# Like heat: `compute` runs once per step, `checkpoint` now and then, `exchange` after it.
BLOCKS = (
    block("main", 90, entry=True),
    block("compute", 10, entry=True),
    block("compute", 12),
    block("compute", 14),
    block("checkpoint", 30, entry=True),
    block("write", 0, entry=True, file="", object=LIBC),
    block("format", 0, entry=True, file="", object=LIBC),
    block("exchange", 50, entry=True),
    block("send", 0, entry=True, file="", object=LIBC),
    block("log_line", 70, entry=True),
    block("exchange", 52),
)
MAIN, COMPUTE, OUTER, INNER, CHECKPOINT, WRITE, FORMAT, EXCHANGE, SEND, LOG, RECORD = range(11)

FUNCTIONS = (
    Function("compute", "planted.c", 10, "0000aaaa", (Loop(1, 12, 1), Loop(2, 14, 2))),
    Function("checkpoint", "planted.c", 30, "0000bbbb"),
    Function("exchange", "planted.c", 50, "0000cccc", (Loop(1, 52, 1),)),
    Function("log_line", "planted.c", 70, "0000dddd"),
    Function("main", "planted.c", 90, "0000eeee", (Loop(1, 92, 1),)),
)

# The sites of system calls, and their positions in SITES.
SITES = (
    CallSite("write", "checkpoint", "/src/planted.c", 31, PROGRAM),
    CallSite("send", "exchange", "/src/planted.c", 52, PROGRAM),
)
WRITES, SENDS = range(2)

# Shares of the instructions, by block.
SHARES = {
    "C": {OUTER: 0.1, INNER: 0.9},
    "F": {FORMAT: 0.7, WRITE: 0.3},
    "S": {RECORD: 0.4, SEND: 0.6},
    "X": {LOG: 0.8, MAIN: 0.2},  # work that no other letter does
}


@dataclass
class Planted:
    """Rows under construction: letters of SHARES, possibly mixed, and blocks' entry counts."""

    rows: list[dict[str, float]] = field(default_factory=list)
    counts: dict[tuple[int, int], float] = field(default_factory=dict)
    calls: list[SystemCalls] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def add(self, mixture: dict[str, float], thread: int = 1, size: int = INTERVAL) -> int:
        """Append a row; returns its number."""
        self.rows.append(mixture)
        self.threads.append(thread)
        self.sizes.append(size)
        return len(self.rows) - 1

    def enter(self, row: int, entered: int, times: float = 1) -> None:
        key = (row, entered)
        self.counts[key] = self.counts.get(key, 0) + times

    def profile(self, *, noise: float = 0.01, **changes: Any) -> Profile:
        """The profile; up to `noise` of each row's instructions move between two blocks."""
        generator = np.random.default_rng(1)
        shares = np.zeros((len(self.rows), len(BLOCKS)))
        for row, mixture in enumerate(self.rows):
            for letter, part in mixture.items():
                for number, share in SHARES[letter].items():
                    shares[row, number] += part * share
            first, second = np.argsort(-shares[row], kind="stable")[:2]
            moved = noise * generator.random()
            shares[row, first] -= moved
            shares[row, second] += moved
        sizes = np.array(self.sizes, dtype=np.int64)
        counts = sparse.lil_array((len(self.rows), len(BLOCKS)))
        for (row, number), times in self.counts.items():
            counts[row, number] = times
        values: dict[str, Any] = {
            "interval": INTERVAL,
            "vectors": sparse.csr_array(shares * sizes[:, np.newaxis]),
            "counts": sparse.csr_array(counts),
            "instructions": sizes,
            "thread": np.array(self.threads, dtype=np.int32),
            "start": np.cumsum(sizes) - sizes,
            "blocks": BLOCKS,
            "system_calls": tuple(self.calls),
            "call_sites": SITES,
            "functions": FUNCTIONS,
            "argv": (PROGRAM,),
            "build_id": "ab" * 20,
            "facts": Facts(threads=1, processes=1, shared_memory=False),
        }
        return Profile(**(values | changes))


CYCLES = 6
COMPUTE_ROWS, FILE_ROWS, SOCKET_ROWS = 12, 4, 3


def three_phases(thread: int = 1, into: Planted | None = None) -> Planted:
    """Cycles of compute, checkpoint and exchange, with a mixed row where one phase ends.

    Rows of a cycle: 12 compute, 1 half compute and half file (it belongs to either), 4 file,
    3 socket. `compute` is entered in every compute row, `checkpoint` and `exchange` once a
    cycle, `log_line` at every boundary.
    """
    planted = into or Planted()
    for cycle in range(CYCLES):
        for number in range(COMPUTE_ROWS):
            row = planted.add({"C": 1.0}, thread)
            planted.enter(row, COMPUTE)
            planted.enter(row, OUTER, 1000)
            planted.enter(row, INNER, 90_000)
            if number == 0 and cycle == 0:
                planted.enter(row, MAIN)
                _load_libraries(planted, row)
            if number == 0:
                planted.enter(row, LOG)
        mixed = planted.add({"C": 0.5, "F": 0.5}, thread)
        planted.enter(mixed, CHECKPOINT)
        planted.enter(mixed, LOG)
        for _ in range(FILE_ROWS):
            row = planted.add({"F": 1.0}, thread)
            planted.enter(row, WRITE, 100)
            planted.calls.append(SystemCalls(row, "write", "file", 100, 6400, WRITES))
        for number in range(SOCKET_ROWS):
            row = planted.add({"S": 1.0}, thread)
            planted.enter(row, SEND, 60)
            planted.calls.append(SystemCalls(row, "sendto", "socket", 60, 3840, SENDS))
            planted.enter(row, RECORD, 60)
            if number == 0:
                planted.enter(row, EXCHANGE)
                planted.enter(row, LOG)
    return planted


def _load_libraries(planted: Planted, row: int) -> None:
    """Add the loader's system calls, a thousand times."""
    planted.calls.append(SystemCalls(row, "openat", "", 2000, 0))
    planted.calls.append(SystemCalls(row, "read", "file", 1000, 832_000))


def one_kind(letter: str, rows: int) -> Planted:
    """A program that does one thing all the time, in a function entered once."""
    planted = Planted()
    for _ in range(rows):
        planted.add({letter: 1.0})
    planted.enter(0, MAIN)
    return planted


def letters(planted: Planted) -> Sequence[str]:
    """The letter with the largest part in each row."""
    return [max(mixture, key=lambda letter: mixture[letter]) for mixture in planted.rows]


def all_distances(profile: Profile) -> npt.NDArray[np.float64]:
    """The distances of all pairs of intervals, by scipy from the dense vectors."""
    dense = profile.vectors.tocsr().toarray()
    return np.asarray(cdist(*2 * [dense / dense.sum(axis=1, keepdims=True)], "cityblock"))
