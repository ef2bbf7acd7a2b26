# SPDX-License-Identifier: GPL-2.0-or-later
"""The kind of a phase: compute, file I/O, socket I/O, or unseen if calls were not recorded.

A phase does I/O if the kernel's estimated work for its transfers, in instructions, is at least a
tenth of the program's own instructions. The estimate is the cost of a small call plus the cost of
its bytes, as counted on the lab's virtual clock for a `write` to tmpfs and a `send` over loopback
(DESIGN.md, section 6).
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from kadence.profiler.format.profile import SystemCalls

COMPUTE = "compute"
FILE_IO = "file-io"
SOCKET_IO = "socket-io"
UNSEEN = "unseen"  # where the profile's backend sees no system calls

IO_SHARE = 0.1
INSTRUCTIONS_PER_CALL = {FILE_IO: 1700.0, SOCKET_IO: 4600.0}
INSTRUCTIONS_PER_BYTE = 1.2

# Pipes are read and written as files are, so they count as files. Devices are left out: writing to
# a terminal or to /dev/null uses no I/O path that could be adapted.
KIND_OF_DESCRIPTOR = {"file": FILE_IO, "pipe": FILE_IO, "socket": SOCKET_IO}

# Calls that are I/O although they name no descriptor, or one that says nothing.
FILE_SYSTEM_CALLS = frozenset(
    [
        "open",
        "openat",
        "openat2",
        "creat",
        "stat",
        "lstat",
        "newfstatat",
        "statx",
        "access",
        "faccessat",
        "faccessat2",
        "mkdir",
        "mkdirat",
        "rmdir",
        "unlink",
        "unlinkat",
        "rename",
        "renameat",
        "renameat2",
        "link",
        "linkat",
        "symlink",
        "symlinkat",
        "readlink",
        "readlinkat",
        "truncate",
        "chmod",
        "fchmodat",
        "utimensat",
        "sync",
    ]
)

# Calls on a descriptor that neither move data nor wait for any.
BOOKKEEPING_CALLS = frozenset(
    ["close", "dup", "dup2", "dup3", "fcntl", "fstat", "ioctl", "lseek", "mmap"]
)


@dataclass(frozen=True)
class Traffic:
    """The I/O of some rows."""

    calls: int
    bytes: int
    work: dict[str, float]  # estimated kernel instructions by kind


@dataclass(frozen=True)
class Verdict:
    """The kind of a phase, and the figures it rests on (per million of its instructions)."""

    kind: str
    calls_per_million: float
    bytes_per_million: float


def does_io(kind: str) -> bool:
    """Whether a phase of this kind is known to do I/O; for an unseen phase it is not known."""
    return kind in (FILE_IO, SOCKET_IO)


def adapted_alike(one: str, other: str) -> bool:
    """Whether the kinds of two phases give no reason to adapt them differently."""
    return one == other or not (does_io(one) or does_io(other))


def in_words(kind: str) -> str:
    """The kind for captions, which name what was not seen."""
    return "system calls unseen" if kind == UNSEEN else kind


def judge(calls: Iterable[SystemCalls], instructions: int) -> Verdict:
    """The kind of rows that ran `instructions` and made these calls."""
    traffic = _traffic(calls)
    per_million = 1e6 / max(instructions, 1)
    figures = (round(traffic.calls * per_million, 3), round(traffic.bytes * per_million, 3))
    if sum(traffic.work.values()) < IO_SHARE * max(instructions, 1):
        return Verdict(COMPUTE, *figures)
    return Verdict(max(sorted(traffic.work), key=lambda kind: traffic.work[kind]), *figures)


def _traffic(calls: Iterable[SystemCalls]) -> Traffic:
    number, moved = 0, 0
    work: defaultdict[str, float] = defaultdict(float)
    for call in calls:
        kind = _kind_of(call)
        if kind is None:
            continue
        number += call.count
        moved += call.bytes
        work[kind] += INSTRUCTIONS_PER_CALL[kind] * call.count + INSTRUCTIONS_PER_BYTE * call.bytes
    return Traffic(number, moved, dict(work))


def _kind_of(call: SystemCalls) -> str | None:
    if call.name in FILE_SYSTEM_CALLS:
        return FILE_IO
    if call.name in BOOKKEEPING_CALLS:
        return None
    return KIND_OF_DESCRIPTOR.get(call.descriptor)
