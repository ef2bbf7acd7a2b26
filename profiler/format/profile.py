# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile in memory: the form in which every later stage gets a `.kprof`."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

KBBV = "kbbv"  # recorded under Valgrind
COMPILED = "compiled"  # recorded by the program itself
SIMPOINT = "simpoint"  # recorded by another tool, imported from SimPoint's text


@dataclass(frozen=True)
class Backend:
    """The recorder of a profile, and which parts of the run it could see."""

    recorded: str  # how the profile was recorded, for messages
    why_unseen: str = ""  # why system calls and memory are missing; empty if they were seen
    tasks_seen: bool = True  # whether it saw threads, processes, and how the run ended

    @property
    def kernel_seen(self) -> bool:
        """Whether it looked at system calls and memory; if not, their absence means nothing."""
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
    """Return the backend of that name; raise ValueError if there is none."""
    if not isinstance(name, str) or name not in BACKENDS:
        raise ValueError(f"its backend {name!r} is unknown")
    return BACKENDS[name]


@dataclass(frozen=True)
class Loop:
    """A natural loop of a function, from the CFG section of an object built by a wrapper."""

    index: int  # position in the plugin's enumeration of the function's loops
    line: int  # source line of the loop's header
    depth: int  # 1 for an outermost loop
    before: int | None = None  # index of the only block that leads into it, if there is one
    header: int | None = None  # index of the block with which every round begins
    latches: tuple[int, ...] = ()  # blocks that lead back to the header, and nowhere else


@dataclass(frozen=True)
class Function:
    """A function that a wrapper compiled: a marker must match its name, file and checksum."""

    name: str  # assembler name
    file: str
    line: int
    cfg_checksum: str  # eight hexadecimal digits
    loops: tuple[Loop, ...] = ()
    entry: int | None = None  # index of the block that only calls lead to, if there is one


# Signs that a block waits for another thread; kbbv/waits.c finds them.
PAUSES = 1  # It ends with the instruction `pause`.
UNCHANGING = 2  # It is a loop in which no round changes what the next round reads.


@dataclass(frozen=True)
class Block:
    """A superblock that Valgrind translated, or a basic block that the compiler made.

    A superblock has one entry and may have several exits. A compiler's basic block has no address,
    but an index in its function's CFG.
    """

    address: int
    instructions: int  # guest instructions from entry to the last exit
    function: str  # assembler name, "" where unknown
    file: str
    line: int
    object: str  # path of the ELF object
    entry: bool  # the address is that of the function's symbol
    checksum: str = ""  # of the function's CFG, if the block was identified by it
    index: int | None = None  # in that CFG
    waits: int = 0  # PAUSES, UNCHANGING, or their sum


@dataclass(frozen=True)
class LayoutCount:
    """How often the run entered a block that the compiler had after its early passes.

    Small functions are inlined there, so a function's copies have counts of their own.
    """

    function: str  # assembler name
    file: str
    checksum: str  # of the function's CFG then
    index: int  # of the block in that CFG
    count: int


@dataclass(frozen=True)
class SystemCalls:
    """The calls of one number, site, kind of descriptor and peer in one interval."""

    interval: int  # row index
    name: str
    descriptor: str  # file, socket, pipe, device, other, or "" if the call has none
    count: int
    bytes: int  # transferred; 0 for calls outside the read, write, send, recv families
    site: int | None = None  # position in the profile's call_sites
    peer: int | None = None  # position in its peers
    sequential: int = 0  # transfers of a file that began where its descriptor's last one ended
    random: int = 0  # other transfers of a file
    # Numbers of transfers of 0, 1, 2 to 3, 4 to 7 bytes, and so on: position i holds the transfers
    # whose number of bytes has i bits. Position 33, the last possible one, holds all larger
    # transfers. Zeros at the end are left out.
    sizes: tuple[int, ...] = ()
    # Pairs of successive such calls of one thread, the second of which is in this interval; and
    # the thread's instructions and the time between the calls of these pairs.
    gaps: int = 0
    instructions_between: int = 0
    nanoseconds_between: int = 0  # under Valgrind, so that only ratios are meaningful


@dataclass(frozen=True)
class CallSite:
    """A place in the program that makes system calls or allocates memory.

    This is the innermost caller outside the language's libraries that has a line.
    """

    call: str  # the library's function that it called; "" if it made the system call itself
    function: str  # assembler name, "" where unknown
    file: str
    line: int
    object: str  # path of the ELF object


@dataclass(frozen=True)
class Peer:
    """The other end of a socket."""

    family: int  # AF_UNIX is 1, AF_INET 2, AF_INET6 10
    address: str  # 127.0.0.1:80, [0:0:0:0:0:0:0:1]:80, a path, @ and an abstract name, or ""


# The kinds that kbbv distinguishes, by kbbv's number minus one.
MEMORY_KINDS = (
    "anonymous",
    "heap",  # grown by brk, or made accessible within a reserved mapping
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
    request: int  # bytes requested from the allocating function when the mapping last grew
    born: int  # row index
    gone: int | None  # row index; None if it lasted to the end
    forked: bool  # whether the process forked while it existed
    again: bool  # whether its site had given memory back before
    beside: int  # bytes that its site already had when it was mapped


@dataclass(frozen=True)
class Touches:
    """Pages of one mapping that were first touched in one interval."""

    interval: int  # row index
    mapping: int
    pages: int
    runs: int  # groups of adjacent pages among them
    upward: int  # pages of runs that begin where touched pages end
    downward: int  # pages of runs that end where touched pages begin
    released: int  # pages that were given back in this interval, whenever they were touched


@dataclass(frozen=True)
class Memory:
    """Where a program's memory came from, and when the program first touched its pages."""

    sites: tuple[CallSite, ...] = ()
    mappings: tuple[Mapping, ...] = ()
    touches: tuple[Touches, ...] = ()  # in the order of the intervals


@dataclass(frozen=True)
class Facts:
    """What a recorder noted of the run as a whole; None for what it did not see."""

    threads: int | None = None
    processes: int | None = None
    shared_memory: bool | None = None
    socket_families: tuple[int, ...] | None = None
    memory_bytes: int | None = None  # peak of mapped bytes
    memory_rows_unseen: int | None = None  # rows whose touches are recorded with a later row's
    # The least of the limits by the machine, control groups and rlimits.
    memory_limit_bytes: int | None = None
    complete: bool | None = None  # The recording reached the end of the process, or its exec.
    # Of forked children only: the numbers of the processes, and how many instructions ran before
    # the child executed this program, and are in no profile.
    process: int | None = None
    parent: int | None = None
    instructions_before: int | None = None
    # If other processes were profiled beside it: their requests to the kernel.
    others_system_calls: tuple[str, ...] | None = None
    others_socket_families: tuple[int, ...] | None = None


class Vectors(Protocol):
    """A sparse matrix, intervals x blocks; `vectors[rows]` returns a matrix of some rows."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def nnz(self) -> int: ...
    def __getitem__(self, rows: Any) -> sparse.csr_array: ...
    def tocsr(self) -> sparse.csr_array: ...


class DerivedVectors:
    """Instructions by interval and block, computed from the counts when rows are requested.

    Storing both would not fit into memory for a profile of a million intervals. An entry's
    instructions are its count times the block's length, plus a residual for executions that left by
    a side exit. `residual` has one number per entry of `counts`; None if all are 0.
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
    """Rows are intervals, thread after thread, in the order of time within a thread.

    `vectors[i, b]` is the number of instructions that interval i executed in block b. Row i
    therefore sums to `instructions[i]`. `counts[i, b]` is how often interval i entered block b.
    """

    interval: int  # nominal length of an interval, in `unit`
    vectors: Vectors  # numbers of any type, intervals x blocks
    counts: sparse.csr_array  # numbers of any type; never subtract them, they may be unsigned
    instructions: npt.NDArray[np.int64]
    thread: npt.NDArray[np.int32]  # thread of each row, 1 for the first
    start: npt.NDArray[np.int64]  # instructions all threads had run when the row began
    blocks: tuple[Block, ...]
    system_calls: tuple[SystemCalls, ...]
    functions: tuple[Function, ...] = ()  # of the program, if it was built by a wrapper
    build_id: str | None = None
    argv: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    exit_status: int = 0
    facts: Facts = Facts()
    memory: Memory = Memory()
    backend: str = KBBV  # a name in BACKENDS
    unit: str = "instructions"  # of `interval`; or "nanoseconds" of processor time
    call_sites: tuple[CallSite, ...] = ()
    peers: tuple[Peer, ...] = ()
    layout_counts: tuple[LayoutCount, ...] = ()  # of the whole run

    @property
    def kernel_seen(self) -> bool:
        """Whether its backend looked at system calls and memory."""
        return backend_of(self.backend).kernel_seen

    @property
    def tasks_seen(self) -> bool:
        """Whether its backend saw threads, processes, and how the run ended."""
        return backend_of(self.backend).tasks_seen
