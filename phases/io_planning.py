# SPDX-License-Identifier: GPL-2.0-or-later
"""Which writes of which phase go through rings and batches, and why not the others.

A ring pays where many small records go to a file, a pipe or a socket: it saves the crossing, some
1,400 instructions a write and 4,500 a send, and costs a copy. So a phase's writes are planned if
they are small, and if there are many of them, by their rate or in each stay in the phase.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kadence.errors import UsageError
from kadence.phases import io_calls, kinds
from kadence.phases.document import Document, Phase
from kadence.phases.marking import firings_per_second

DEFAULT, STRICT, OFF = MODES = ("default", "strict", "off")

PATH, RING, MAPPED_READS = REFUSED = ("I/O path", "ring", "mapped reads")

SMALL_BYTES = 4096  # at more a record, the copy costs what the crossing did
CALLS_PER_SECOND = 1000.0  # fewer are a thousandth of the time
BURST = 64  # as many in one stay are worth a binding

# System calls that a redirected call of the C library makes.
WRITING = frozenset(["write", "pwrite64", "writev", "sendto"])
READING = frozenset(["read", "pread64", "readv"])
DESCRIPTORS = {"file": "files", "pipe": "pipes", "socket": "sockets"}

Body = dict[str, Any]
Place = tuple[str | None, str | None, str | None]  # function, file, checksum


@dataclass(frozen=True)
class Records:
    """What a phase writes to one kind of descriptor."""

    to: str
    count: int
    bytes: int
    per_second: float
    per_stay: float

    @property
    def size(self) -> float:
        return self.bytes / self.count

    def __str__(self) -> str:
        return (
            f"{self.count} writes of {self.size:.3g} bytes on average to {self.to}, "
            f"{self.per_second:.3g} a second and {self.per_stay:.3g} in each stay in the phase"
        )

    def objection(self) -> str | None:
        """Why no ring pays for them."""
        if self.size > SMALL_BYTES:
            return f"{self}: above {SMALL_BYTES} bytes a copy costs as much as a call"
        if self.per_second < CALLS_PER_SECOND and self.per_stay < BURST:
            return (
                f"{self}: too few for a ring, which takes {CALLS_PER_SECOND:.0f} a second or "
                f"{BURST} in a stay"
            )
        return None


@dataclass
class Paths:
    """The I/O part of a plan in the making."""

    mode: str
    reason: str | None = None  # why there are none
    streams: bool = False
    sites: list[Body] = field(default_factory=list)
    refused: list[Body] = field(default_factory=list)

    def refuse(self, phase: Phase, what: str, reason: str) -> None:
        self.refused.append({"phase": phase.number, "what": what, "reason": reason})

    def described(self) -> Body:
        """As the plan has it."""
        return {
            "mode": self.mode,
            "reason": self.reason,
            "streams": self.streams,
            "sites": self.sites,
        }


def plan_io(document: Document, mode: str) -> Paths:
    """Decide for every phase; the mode is off where nothing is left to redirect."""
    if mode not in MODES:
        raise UsageError(f"--io takes {', '.join(MODES)}, not {mode!r}")
    paths = Paths(mode)
    if mode == OFF:
        paths.reason = "not wanted (--io=off)"
        return paths
    for phase in document.phases:
        _plan_phase(document, phase, paths)
    if not paths.sites:
        paths.mode = OFF
        paths.reason = (
            f"no phase makes many writes of up to {SMALL_BYTES} bytes to files, pipes or sockets"
        )
    return paths


def _plan_phase(document: Document, phase: Phase, paths: Paths) -> None:
    taken = []
    for records in _records(document, phase):
        objection = records.objection()
        if objection is None:
            taken.append(records)
        elif phase.kind != kinds.COMPUTE or records.count >= BURST:
            paths.refuse(phase, PATH, objection)
        if objection is None and paths.mode == STRICT and records.to != DESCRIPTORS["file"]:
            paths.refuse(
                phase,
                RING,
                f"{records}: the strict mode has rings for files alone, only batches are made",
            )
    if taken:
        _take_sites(document, phase, taken, paths)
    _refuse_reads(phase, paths)


def _records(document: Document, phase: Phase) -> Iterable[Records]:
    instructions = max(round(phase.weight * document.total_instructions), 1)
    stays = max(sum(boundary.after == phase.number for boundary in document.boundaries), 1)
    for descriptor, to in DESCRIPTORS.items():
        calls = [
            call
            for call in phase.transfers
            if call.name in WRITING and call.descriptor == descriptor
        ]
        count = sum(call.count for call in calls)
        if count:
            moved = sum(call.bytes for call in calls)
            rate = firings_per_second(count, instructions)
            yield Records(to, count, moved, rate, count / stays)


def _take_sites(document: Document, phase: Phase, taken: list[Records], paths: Paths) -> None:
    what = "; ".join(map(str, taken))
    calls = io_calls.with_families(set(phase.writers.calls))
    if not calls:
        paths.refuse(phase, PATH, f"{what}: by no function of the C library's that is known")
        return
    paths.streams |= phase.writers.streams
    for writer in phase.writers.functions:
        evidence = f"{what}; a block of the function ran {writer.count} times"
        place = (writer.function, writer.file, writer.cfg_checksum)
        paths.sites.append(_site(phase, place, calls, evidence))
    if not phase.writers.functions:
        _take_files(document, phase, calls, what, paths)


def _take_files(
    document: Document, phase: Phase, calls: list[str], what: str, paths: Paths
) -> None:
    """Every function of the program's, because the profile does not tell which one writes."""
    if not document.files:
        paths.refuse(
            phase,
            PATH,
            f"{what}: the profile knows no function of the program; build it with Kadence's "
            "wrappers or with -g, and profile it anew",
        )
    evidence = f"{what}; the profile does not tell which function: all of the file are taken"
    for file in document.files:
        paths.sites.append(_site(phase, (None, file, None), calls, evidence))


def _site(phase: Phase, place: Place, calls: list[str], evidence: str) -> Body:
    function, file, cfg_checksum = place
    return {
        "phase": phase.number,
        "function": function,
        "file": file,
        "line": None,
        "cfg_checksum": cfg_checksum,
        "calls": calls,
        "evidence": evidence,
    }


def _refuse_reads(phase: Phase, paths: Paths) -> None:
    """Reads are counted for the reader of the plan; nothing is made of them yet."""
    reads = [call for call in phase.transfers if call.name in READING and call.descriptor == "file"]
    count = sum(call.count for call in reads)
    if phase.kind != kinds.COMPUTE and count >= BURST:
        size = sum(call.bytes for call in reads) / count
        paths.refuse(
            phase,
            MAPPED_READS,
            f"{count} reads of {size:.3g} bytes on average from files: reads stay as they are",
        )
