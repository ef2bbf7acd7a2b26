# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides which writes of which phase go through rings and batches.

A phase's writes are planned if they are small and if there are many of them, either per second or
in each stay in the phase. Rings are for files. For pipes and sockets, only loops of calls become
batches. The plan also lists writes that stay as they are, with the reason.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kadence.base.errors import UsageError
from kadence.phases.artefact.document import Document, Phase, Writes
from kadence.phases.describe import io_calls, kinds
from kadence.phases.describe.places import Place
from kadence.phases.plan import io_records
from kadence.phases.plan.io_records import BATCHES, BURST, Records

STRICT, OFF = MODES = ("strict", "off")

REFUSED = "I/O path"

Body = dict[str, Any]


@dataclass
class Paths:
    """The I/O part of a plan in the making."""

    mode: str
    reason: str | None = None  # why there are none
    streams: bool = False
    sites: list[Body] = field(default_factory=list)
    refused: list[Body] = field(default_factory=list)

    def refuse(self, phase: int, count: int | None, reason: str) -> None:
        """Record transfers that stay as they are; `count` is None if it is not known."""
        self.refused.append({"phase": phase, "what": REFUSED, "count": count, "reason": reason})

    def described(self) -> Body:
        """The entry in the plan."""
        return {
            "mode": self.mode,
            "reason": self.reason,
            "streams": self.streams,
            "sites": self.sites,
        }


@dataclass
class _Site:
    """An I/O site of a plan in the making."""

    calls: set[str] = field(default_factory=set)
    evidence: list[str] = field(default_factory=list)


def plan_io(document: Document, mode: str) -> Paths:
    """Decide for every phase; the mode becomes off if there is nothing to redirect."""
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
        _plan_phase(document, phase, paths)
    if not paths.sites:
        paths.mode = OFF
        paths.reason = (
            "no phase makes many small writes to files by write, writev or fflush, or to pipes or "
            "sockets by write or send"
        )
    return paths


def redirected(made: Writes) -> str:
    """The call that a site names for these writes.

    C++'s and Fortran's streams call `write` within a shared library; interposing reaches that call.
    """
    return made.transfers.name if io_calls.is_of_stream(made.call) else made.call


def _plan_phase(document: Document, phase: Phase, paths: Paths) -> None:
    sites: defaultdict[Place, _Site] = defaultdict(_Site)
    for records in io_records.of_phase(document, phase):
        objection = records.objection()
        if objection is None:
            _take(phase, records, sites, paths)
        elif kinds.does_io(phase.kind) or records.count >= BURST:
            paths.refuse(phase.number, records.count, objection)
    paths.sites += [_described(phase, place, site) for place, site in sorted(sites.items())]


def _take(phase: Phase, records: Records, sites: defaultdict[Place, _Site], paths: Paths) -> None:
    only = ", where loops of the call become one" if records.way is BATCHES else ""
    for place, made in _placed(records):
        evidence = f"{made.transfers.count} by {made.call} here, of {records}{only}"
        sites[place].calls.add(redirected(made))
        sites[place].evidence.append(evidence)
        paths.streams |= io_calls.is_of_stream(made.call)
    unplaced = sum(made.transfers.count for made in records.writes if not made.places)
    if unplaced >= BURST:
        reason = (
            f"{records}: the profile does not tell in which function {unplaced} of them are; build "
            "the program with Kadence's wrappers or with -g, and profile it anew"
        )
        paths.refuse(phase.number, unplaced, reason)


def _placed(records: Records) -> Iterator[tuple[Place, Writes]]:
    for made in records.writes:
        for place in made.places:
            yield place, made


def _described(phase: Phase, place: Place, site: _Site) -> Body:
    return {
        "phase": phase.number,
        "line": None,
        **place.described(),
        "calls": sorted(site.calls),
        "evidence": "; ".join(site.evidence),
    }
