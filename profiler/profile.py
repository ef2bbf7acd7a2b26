# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile in memory: what every later stage sees of a `.kprof`."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse


@dataclass(frozen=True)
class Loop:
    """A natural loop of a function, from the CFG section of an object built by a wrapper."""

    index: int  # position in the plugin's enumeration of the function's loops
    line: int  # source line of the loop's header
    depth: int  # 1 for an outermost loop


@dataclass(frozen=True)
class Function:
    """A function the wrappers compiled: what a marker must match."""

    name: str  # assembler name
    file: str
    line: int
    cfg_checksum: str  # eight hexadecimal digits
    loops: tuple[Loop, ...] = ()


@dataclass(frozen=True)
class Block:
    """A superblock as Valgrind translated it (single entry, several exits)."""

    address: int
    instructions: int  # guest instructions from entry to the last exit
    function: str  # assembler name, "" where unknown
    file: str
    line: int
    object: str  # path of the ELF object
    entry: bool  # the address is that of the function's symbol


@dataclass(frozen=True)
class SystemCalls:
    """The calls of one number on one kind of descriptor in one interval (row of `vectors`)."""

    interval: int  # row index
    name: str
    descriptor: str  # file, socket, pipe, device, other, or "" where the call has none
    count: int
    bytes: int  # transferred; 0 for calls outside the read, write, send, recv families


@dataclass(frozen=True)
class Profile:
    """Rows are intervals, thread after thread, in time order within a thread.

    `vectors[i, b]` is the number of instructions that interval i executed in block b, so a
    row sums to `instructions[i]`. `counts[i, b]` is how often b was entered.
    """

    interval: int  # instructions an interval was meant to have
    vectors: sparse.csr_array  # numbers of any type, intervals x blocks
    counts: sparse.csr_array  # likewise
    instructions: npt.NDArray[np.int64]
    thread: npt.NDArray[np.int32]  # thread of each row, 1 for the first
    start: npt.NDArray[np.int64]  # instructions all threads had run when the row began
    blocks: tuple[Block, ...]
    system_calls: tuple[SystemCalls, ...]
    functions: tuple[Function, ...] = ()  # of the program, where it was built by a wrapper
    build_id: str | None = None
    argv: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    exit_status: int = 0
    # What concerns the run as a whole: "socket_families" (list of int), "threads" and
    # "processes" (how many there were), "shared_memory" (bool), "memory_bytes" (peak mapped).
    facts: dict[str, Any] = field(default_factory=dict)
