# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the I/O sites and memory sites that the inputs of a program have in common.

Where inputs run different phases, the same functions may still write the same small records and
allocate the same memory. So a comparison records, for each input, the I/O sites that a plan made
from that input alone would have, and the use of its memory sites. The plan of an input-dependent
program then takes what all inputs support.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.phases.artefact import document
from kadence.phases.artefact.memory_document import MemoryUse, SiteUse
from kadence.phases.plan import io_planning, memory_planning
from kadence.phases.plan.io_planning import Paths
from kadence.phases.plan.memory_judgement import FEWEST_FAULTS, KEEP, Asked, judge
from kadence.phases.plan.memory_planning import Memory

Body = dict[str, Any]


@dataclass(frozen=True)
class Site:
    """An I/O site of a plan, and the functions that it calls."""

    function: str
    file: str | None
    calls: tuple[str, ...]

    def is_at(self, site: Body) -> bool:
        return (self.function, self.file) == (site["function"], site["file"])


@dataclass(frozen=True)
class Sites:
    """The sites of one input, as the comparison holds them."""

    io: tuple[Site, ...]
    ahead: tuple[str, ...]  # ranges that a plan would populate ahead
    memory: MemoryUse

    @classmethod
    def of(cls, description: Mapping[str, Any], path: Path) -> "Sites":
        """The sites of an input with these phases."""
        own = document.parse(dict(description), path)
        sites = io_planning.plan_io(own, io_planning.STRICT).sites
        return cls(
            tuple(Site(site["function"], site["file"], tuple(site["calls"])) for site in sites),
            tuple(memory_planning.plan_memory(own, memory_planning.DEFAULT).ahead),
            own.memory,
        )


# ---- I/O -----------------------------------------------------------------------------------------


def keep_common_io(paths: Paths, others: Sequence[Sites]) -> None:
    """Keep only the sites that every other input's own plan would have as well."""
    kept = []
    for site in paths.sites:
        calls = _common_calls(site, others)
        if calls:
            kept.append(site | {"calls": calls})
            continue
        reason = f"{site['function']}: another input does not write small records there"
        paths.refuse(site["phase"], None, reason)
    if paths.sites and not kept:
        paths.mode = io_planning.OFF
        paths.reason = "no place writes small records on all inputs"
    paths.sites = kept
    paths.streams = paths.streams and bool(kept)


def _common_calls(site: Body, others: Sequence[Sites]) -> list[str]:
    calls = set(site["calls"])
    for other in others:
        calls &= {call for found in other.io if found.is_at(site) for call in found.calls}
    return sorted(calls)


# ---- memory --------------------------------------------------------------------------------------


def keep_common_memory(memory: Memory, others: Sequence[Sites]) -> None:
    """Keep only treatments that no input contradicts, at sites where all inputs allocate."""
    planned = bool(memory.sites or memory.ahead)
    kept = []
    for site in memory.sites:
        treatments, objection = _common_treatments(site, others)
        if treatments:
            kept.append(site | {"treatments": treatments})
        else:
            memory.refuse(site["phase"], f"{site['function']}: {objection}")
    memory.sites = kept
    if not any(KEEP in site["treatments"] for site in kept):
        memory.keep_bytes = 0
    for name in [name for name in memory.ahead if not _all_go_on_in(name, others)]:
        memory.ahead.remove(name)
        memory.refuse(None, f"the {name}: its faults are not in an order on every input")
    if planned and not (memory.sites or memory.ahead):
        memory.mode = memory_planning.OFF
        memory.reason = "no memory is used alike on all inputs"


def _all_go_on_in(name: str, others: Iterable[Sites]) -> bool:
    return all(name in other.ahead for other in others)


def _common_treatments(site: Body, others: Iterable[Sites]) -> tuple[list[str], str]:
    """Return the treatments that a site keeps and, if it keeps none, the reason."""
    treatments = list(site["treatments"])
    objection = ""
    for other in others:
        uses = list(_uses_at(site, other.memory))
        if not uses:
            return [], "another input asks for no memory there"
        verdict = judge(Asked(uses))
        if not verdict.treatments and Asked(uses).pages < FEWEST_FAULTS:
            continue  # too few faults to decide either way
        treatments = [name for name in treatments if name in verdict.treatments]
        objection = f"on another input {verdict.evidence}"
    return treatments, objection


def _uses_at(site: Body, memory: MemoryUse) -> Iterator[SiteUse]:
    for use in memory.sites:
        places = ((place.function, place.file or None) for place in use.places)
        at_line = site["line"] in (use.line, None)
        if use.own and at_line and (site["function"], site["file"]) in places:
            yield use
