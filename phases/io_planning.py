# SPDX-License-Identifier: GPL-2.0-or-later
"""Which writes of which phase go through rings and batches, which reads through windows.

A phase's writes are planned if they are small, and if there are many of them, by their rate or in
each stay in the phase; so are its reads of files. What was considered and left is told with the
reason.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from kadence.errors import UsageError
from kadence.phases import io_calls, io_records, kinds
from kadence.phases.document import Callers, Document, Phase
from kadence.phases.flushes import BOUND_AFTER
from kadence.phases.io_calls import STREAM_CALLS
from kadence.phases.io_records import BURST, READS, WRITES, Records

DEFAULT, STRICT, OFF = MODES = ("default", "strict", "off")

PATH, RING, WINDOW = REFUSED = ("I/O path", "ring", "window")

# Reads at an offset of their own, or into several places: a window is for what comes in turn.
OTHER_READS = {
    name: replace(READS, system_calls=frozenset([name])) for name in ("pread64", "readv")
}

Body = dict[str, Any]
Place = tuple[str | None, str | None, str | None]  # function, file, checksum


@dataclass
class Paths:
    """The I/O part of a plan in the making."""

    mode: str
    reason: str | None = None  # why there are none
    streams: bool = False
    sites: list[Body] = field(default_factory=list)
    refused: list[Body] = field(default_factory=list)

    def refuse(self, phase: int, what: str, count: int | None, reason: str) -> None:
        """Leave so many transfers as they are, where that is known."""
        self.refused.append({"phase": phase, "what": what, "count": count, "reason": reason})

    def described(self) -> Body:
        """As the plan has it."""
        return {
            "mode": self.mode,
            "reason": self.reason,
            "streams": self.streams,
            "sites": self.sites,
        }


@dataclass(frozen=True)
class Wanted:
    """What is to be redirected in a phase, and by whom it is called."""

    phase: Phase
    callers: Callers
    refusal: str  # what the plan calls it where nothing comes of it
    count: int  # of transfers
    evidence: str


def plan_io(document: Document, mode: str) -> Paths:
    """Decide for every phase; the mode is off where nothing is left to redirect."""
    if mode not in MODES:
        raise UsageError(f"--io takes {', '.join(MODES)}, not {mode!r}")
    paths = Paths(mode)
    if mode == OFF:
        paths.reason = "not wanted (--io=off)"
        return paths
    if not document.backend.kernel_seen:
        paths.mode, paths.reason = OFF, document.backend.why_unseen
        return paths
    for phase in document.phases:
        _plan_writes(document, phase, paths)
        _plan_reads(document, phase, paths)
    if not paths.sites:
        paths.mode = OFF
        paths.reason = (
            f"no phase makes many writes of up to {WRITES.small_bytes} bytes to files, pipes or "
            f"sockets, or many reads of up to {READS.small_bytes} bytes from files"
        )
    return paths


def _plan_writes(document: Document, phase: Phase, paths: Paths) -> None:
    _refuse_flushed(phase, paths)
    taken = []
    for records in io_records.of_phase(document, phase, WRITES):
        objection = records.objection()
        if objection is None:
            taken.append(records)
            _tell_of_strictness(phase, records, paths)
        elif kinds.does_io(phase.kind) or records.count >= BURST:
            paths.refuse(phase.number, PATH, records.count, objection)
    if taken:
        evidence = "; ".join(map(str, taken))
        count = sum(records.count for records in taken)
        if _take_sites(document, Wanted(phase, _bindable(phase), PATH, count, evidence), paths):
            paths.streams |= phase.writers.streams


def _refuse_flushed(phase: Phase, paths: Paths) -> None:
    for flushed in phase.flushed:
        moved = flushed.transfers
        if moved.count >= BURST:
            where = f" of {flushed.function}" if flushed.function else ""
            paths.refuse(
                phase.number,
                RING,
                moved.count,
                f"{moved.count} writes of {moved.bytes / moved.count:.3g} bytes on average by "
                f"{' and '.join(flushed.calls)}: the stream{where} is flushed, or has no buffer, "
                f"and gets a ring only after {BOUND_AFTER} bytes without a flush",
            )


def _bindable(phase: Phase) -> Callers:
    """Who writes, without what only writes by streams that get no ring."""
    writers = phase.writers
    if not phase.flushed:
        return writers
    others = {name: ran for name, ran in writers.calls.items() if name not in STREAM_CALLS}
    flushing = {flushed.function for flushed in phase.flushed}
    left = tuple(caller for caller in writers.functions if caller.function not in flushing)
    if phase.buffered:
        # A function that writes in both ways is taken: its other calls may get a ring.
        return writers if others else replace(writers, functions=left)
    # What the streams wrote is among the calls of write; where the rest is other functions', those
    # of the streams have nothing to redirect.
    rest = sum(others.values()) - sum(flushed.transfers.count for flushed in phase.flushed)
    elsewhere = sum(caller.count for caller in left) >= rest
    return replace(
        writers, calls=others, functions=left if left and elsewhere else writers.functions
    )


def _tell_of_strictness(phase: Phase, records: Records, paths: Paths) -> None:
    if paths.mode == STRICT and records.end != WRITES.ends["file"]:
        reason = f"{records}: the strict mode has rings for files alone, only batches are made"
        paths.refuse(phase.number, RING, records.count, reason)


def _plan_reads(document: Document, phase: Phase, paths: Paths) -> None:
    if not kinds.does_io(phase.kind) and not phase.readers.calls:
        return  # the loader's, which nobody asked for
    for records in io_records.of_phase(document, phase, READS):
        objection = records.objection()
        if objection is None:
            evidence = str(records)
            if phase.readers.streams:
                evidence += ", some of them by streams, which stay as they are"
            wanted = Wanted(phase, phase.readers, WINDOW, records.count, evidence)
            _take_sites(document, wanted, paths)
        elif records.count >= BURST:
            paths.refuse(phase.number, WINDOW, records.count, objection)
    _refuse_other_reads(document, phase, paths)


def _refuse_other_reads(document: Document, phase: Phase, paths: Paths) -> None:
    for name, way in OTHER_READS.items():
        for records in io_records.of_phase(document, phase, way):
            if records.count >= BURST:
                reason = f"{records}: by {name}, and a window is for what read takes in turn"
                paths.refuse(phase.number, WINDOW, records.count, reason)


def _take_sites(document: Document, wanted: Wanted, paths: Paths) -> bool:
    """Whether the C library's functions that are called are known."""
    calls = io_calls.with_families(set(wanted.callers.calls))
    if not calls:
        reason = f"{wanted.evidence}: by no function of the C library's that is known"
        paths.refuse(wanted.phase.number, wanted.refusal, wanted.count, reason)
        return False
    for caller in wanted.callers.functions:
        evidence = f"{wanted.evidence}; a block of the function ran {caller.count} times"
        place = (caller.function, caller.file, caller.cfg_checksum)
        paths.sites.append(_site(wanted.phase, place, calls, evidence))
    if not wanted.callers.functions:
        _take_files(document, wanted, calls, paths)
    return True


def _take_files(document: Document, wanted: Wanted, calls: list[str], paths: Paths) -> None:
    """Every function of the program's, because the profile does not tell which one calls."""
    if not document.files:
        paths.refuse(
            wanted.phase.number,
            wanted.refusal,
            wanted.count,
            f"{wanted.evidence}: the profile knows no function of the program; build it with "
            "Kadence's wrappers or with -g, and profile it anew",
        )
    evidence = (
        f"{wanted.evidence}; the profile does not tell which function: all of the file are taken"
    )
    for file in document.files:
        paths.sites.append(_site(wanted.phase, (None, file, None), calls, evidence))


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
