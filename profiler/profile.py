# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile in memory: what every later stage sees of a `.kprof`."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

KBBV = "kbbv"  # under Valgrind
COMPILED = "compiled"  # programs that count themselves
SIMPOINT = "simpoint"  # other tools, imported from SimPoint's text


@dataclass(frozen=True)
class Backend:
    """What recorded a profile, and what of the run it could see."""

    recorded: str  # how, for people
    why_unseen: str = ""  # why nobody saw system calls and memory; empty where they were seen
    tasks_seen: bool = True  # threads, processes, and how the run ended

    @property
    def kernel_seen(self) -> bool:
        """Whether it looked at system calls and memory; else that there are none says nothing."""
        return not self.why_unseen


BACKENDS = {
    KBBV: Backend("by kbbv"),
    COMPILED: Backend(
        "by the program itself (compiled)",
        "the program counted itself, so nobody saw its system calls and its memory; profile a "
        "plain build for those",
    ),
    SIMPOINT: Backend(
        "by another tool, imported from SimPoint's text",
        "the profile was imported from SimPoint's text, which holds no system calls and no memory; "
        "profile the program with `kadence profile` for those",
        tasks_seen=False,
    ),
}


def backend_of(name: object) -> Backend:
    """The backend of that name; ValueError where there is none."""
    if not isinstance(name, str) or name not in BACKENDS:
        raise ValueError(f"its backend {name!r} is unknown")
    return BACKENDS[name]


@dataclass(frozen=True)
class Loop:
    """A natural loop of a function, from the CFG section of an object built by a wrapper."""

    index: int  # position in the plugin's enumeration of the function's loops
    line: int  # source line of the loop's header
    depth: int  # 1 for an outermost loop
    before: int | None = None  # index of the block that alone leads into it, where there is one
    header: int | None = None  # index of the block that every round begins with
    latches: tuple[int, ...] = ()  # blocks that lead back to it, and nowhere else


@dataclass(frozen=True)
class Function:
    """A function the wrappers compiled: what a marker must match."""

    name: str  # assembler name
    file: str
    line: int
    cfg_checksum: str  # eight hexadecimal digits
    loops: tuple[Loop, ...] = ()
    entry: int | None = None  # index of the block that calls alone lead to, where there is one


# What tells that a block waits for another thread; kbbv/waits.c says how it knows.
PAUSES = 1  # it ends by the instruction `pause`
UNCHANGING = 2  # it is a loop of which no round changes what the next one reads


@dataclass(frozen=True)
class Block:
    """A superblock as Valgrind translated it (single entry, several exits), or a basic block as
    the compiler made it, which has no address, but a place in its function's CFG."""

    address: int
    instructions: int  # guest instructions from entry to the last exit
    function: str  # assembler name, "" where unknown
    file: str
    line: int
    object: str  # path of the ELF object
    entry: bool  # the address is that of the function's symbol
    checksum: str = ""  # of the function's CFG, where the block was named by it
    index: int | None = None  # in that CFG
    waits: int = 0  # PAUSES, UNCHANGING, or their sum


@dataclass(frozen=True)
class SystemCalls:
    """The calls of one number, from one place, on one kind of descriptor and to one peer, in one
    interval (row of `vectors`)."""

    interval: int  # row index
    name: str
    descriptor: str  # file, socket, pipe, device, other, or "" where the call has none
    count: int
    bytes: int  # transferred; 0 for calls outside the read, write, send, recv families
    site: int | None = None  # position in the profile's call_sites
    peer: int | None = None  # position in its peers
    sequential: int = 0  # transfers of a file that began where its descriptor's last one ended
    random: int = 0  # those that did not
    # How many transfers there were by the bits of their number of bytes: of 0, 1, 2 to 3, 4 to 7
    # bytes and so on; the last of 34 has all larger ones. Nothing behind the last that is not 0.
    sizes: tuple[int, ...] = ()
    # From one such call of the thread to the next: how many pairs, the last of which is in this
    # interval, and how many of the thread's instructions and how much time was between.
    gaps: int = 0
    instructions_between: int = 0
    nanoseconds_between: int = 0  # under Valgrind, so that only ratios mean something


@dataclass(frozen=True)
class CallSite:
    """A place in the program that system calls come from, or that memory is asked for: the nearest
    outside of the language's libraries that has a line."""

    call: str  # the library's function that it called on the way; "" for a system call of its own
    function: str  # assembler name, "" where unknown
    file: str
    line: int
    object: str  # path of the ELF object


@dataclass(frozen=True)
class Peer:
    """Who was at the other end of a socket."""

    family: int  # AF_UNIX is 1, AF_INET 2, AF_INET6 10
    address: str  # 127.0.0.1:80, [0:0:0:0:0:0:0:1]:80, a path, @ and an abstract name, or ""


# What kbbv tells apart, by its number less one.
MEMORY_KINDS = (
    "anonymous",
    "heap",  # grown by brk, or made accessible out of what was reserved
    "stack",
    "thread-stack",
    "private-file",
    "shared-file",
    "shared",
    "data",  # of the program file
)


@dataclass(frozen=True)
class Mapping:
    """Memory that a system call gave the program."""

    kind: str  # one of MEMORY_KINDS
    unreserved: bool  # MAP_NORESERVE
    site: int | None  # position in the memory's sites
    bytes: int  # at its largest
    request: int  # bytes that the last allocating function was asked for, when it last grew
    born: int  # row index
    gone: int | None  # row index; None: it was there to the end
    forked: bool  # the process forked while it was there
    again: bool  # its site had given memory back before
    beside: int  # bytes of its site that were there when it came


@dataclass(frozen=True)
class Touches:
    """Pages of one mapping that were seen for the first time in one interval."""

    interval: int  # row index
    mapping: int
    pages: int
    runs: int  # in which these pages lie next to one another
    upward: int  # pages of runs that go on where touched pages end
    downward: int  # likewise, where touched pages begin
    released: int  # pages that were given back, whenever they had been touched


@dataclass(frozen=True)
class Memory:
    """Where a program's memory came from, and when it first touched which of it."""

    sites: tuple[CallSite, ...] = ()
    mappings: tuple[Mapping, ...] = ()
    touches: tuple[Touches, ...] = ()  # in the order of the intervals


class Vectors(Protocol):
    """Intervals x blocks: a sparse matrix, of which `vectors[rows]` gives some rows as one."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def nnz(self) -> int: ...
    def __getitem__(self, rows: Any) -> sparse.csr_array: ...
    def tocsr(self) -> sparse.csr_array: ...


class DerivedVectors:
    """Instructions by interval and block, computed when rows are asked for.

    A profile of a million intervals would not fit into memory twice, and what a block's entries
    come to follows from how many there were: entries times the block's length, plus a residual
    for what left by a side exit (one number per entry of `counts`; None where all are 0).
    """

    def __init__(
        self,
        counts: sparse.csr_array,
        lengths: npt.NDArray[np.int64],
        residual: npt.NDArray[Any] | None,
    ) -> None:
        self._counts, self._lengths = counts, lengths
        self._residual = None
        if residual is not None:
            self._residual = sparse.csr_array(
                (residual, counts.indices, counts.indptr), counts.shape
            )

    @property
    def shape(self) -> tuple[int, int]:
        rows, blocks = self._counts.shape
        return rows, blocks

    @property
    def nnz(self) -> int:
        return int(self._counts.nnz)

    def __getitem__(self, rows: Any) -> sparse.csr_array:
        counts = self._counts[rows]
        instructions = counts.data * self._lengths[counts.indices]
        if self._residual is not None:
            instructions += self._residual[rows].data
        return sparse.csr_array((instructions, counts.indices, counts.indptr), counts.shape)

    def tocsr(self) -> sparse.csr_array:
        return self[:]


@dataclass(frozen=True)
class Profile:
    """Rows are intervals, thread after thread, in time order within a thread.

    `vectors[i, b]` is the number of instructions that interval i executed in block b, so a
    row sums to `instructions[i]`. `counts[i, b]` is how often b was entered.
    """

    interval: int  # how many of `unit` an interval was meant to have
    vectors: Vectors  # numbers of any type, intervals x blocks
    counts: sparse.csr_array  # likewise; never subtract them, they may be unsigned
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
    # "processes" (how many there were), "shared_memory" (bool), "memory_bytes" (peak mapped),
    # "memory_rows_unseen" (rows whose touches are told with a later row's),
    # "memory_limit_bytes" (what the machine, its control group or a limit left the program),
    # "complete" (bool: the recording went on to the end of the process, or to its exec),
    # and of forked children "process", "parent" (their numbers) and "instructions_before" (that
    # the child ran before it became this program, and that are in no profile). Where others were
    # profiled beside it, "others_system_calls" (list of names) and "others_socket_families" (list
    # of int) are what these asked of the kernel.
    facts: dict[str, Any] = field(default_factory=dict)
    memory: Memory = Memory()
    backend: str = KBBV  # a name in BACKENDS
    unit: str = "instructions"  # of `interval`; or "nanoseconds" of processor time
    call_sites: tuple[CallSite, ...] = ()
    peers: tuple[Peer, ...] = ()

    @property
    def kernel_seen(self) -> bool:
        """Whether its backend looked at system calls and memory."""
        return backend_of(self.backend).kernel_seen

    @property
    def tasks_seen(self) -> bool:
        """Whether its backend tells threads and processes apart, and how the run ended."""
        return backend_of(self.backend).tasks_seen
