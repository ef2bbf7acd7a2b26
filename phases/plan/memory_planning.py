# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides which memory is populated, which is kept, and at which sites.

A memory site is planned if the profile shows that nearly all of its memory is touched, and that
there is enough of it. Other memory that grows in order, such as the heap, is planned as a range.
The plan also lists memory that stays as it is, with the reason.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kadence.base.errors import UsageError
from kadence.phases.artefact.document import Document, Phase
from kadence.phases.artefact.memory_document import MemoryUse, SiteUse, Use
from kadence.phases.describe import memory_calls
from kadence.phases.describe.memory import SCATTERED
from kadence.phases.describe.places import Place
from kadence.phases.plan.memory_judgement import (
    FEWEST_FAULTS,
    KEEP,
    LEAST_BLOCK,
    Asked,
    Verdict,
    judge,
)

DEFAULT, OFF = MODES = ("default", "off")
REFUSED = "memory"

HEAP, STACK, MAPPINGS = "heap", "stack", "mappings"
KIND_OF_RANGE = {
    "heap": HEAP,
    "stack": STACK,
    "anonymous": MAPPINGS,
    "thread-stack": MAPPINGS,
    "block": MAPPINGS,
}
# Share of the memory that a program may have. Beyond it, a program is near its limit: one page too
# many may kill it.
NEAR_LIMIT = 0.8
# The promised bound on what adaptation adds to resident memory.
KEPT_SHARE = 0.05
KEPT_BYTES = 32 << 20
# The calls by which a process without threads makes other processes.
FORKING = frozenset(["fork", "clone", "clone3"])

Body = dict[str, Any]


@dataclass
class Memory:
    """The memory part of a plan in the making."""

    mode: str
    reason: str | None = None  # why there are none
    ahead: list[str] = field(default_factory=list)
    keep_bytes: int = 0
    sites: list[Body] = field(default_factory=list)
    refused: list[Body] = field(default_factory=list)
    plain: set[int] = field(default_factory=set)  # phases whose faults are served one by one

    def refuse(self, phase: int | None, reason: str, count: int | None = None) -> None:
        """Record faults that stay as they are; `count` is None if it is not known."""
        self.refused.append({"phase": phase, "what": REFUSED, "count": count, "reason": reason})

    def described(self) -> Body:
        """The entry in the plan."""
        return {
            "mode": self.mode,
            "reason": self.reason,
            "ahead": self.ahead,
            "keep_bytes": self.keep_bytes,
            "fresh_least_bytes": LEAST_BLOCK,
            "sites": self.sites,
        }


def plan_memory(document: Document, mode: str) -> Memory:
    """Decide for every site and range; the mode becomes off if there is nothing to do."""
    if mode not in MODES:
        raise UsageError(f"--memory takes {', '.join(MODES)}, not {mode!r}")
    if mode == OFF:
        return Memory(OFF, "not wanted (--memory=off)")
    if not document.backend.kernel_seen:
        return Memory(OFF, document.backend.why_unseen)
    near = _near_limit(document)
    if near is not None:
        return Memory(OFF, near)
    memory = Memory(mode)
    left = _plan_sites(document.memory, memory)
    _plan_ranges(document.memory, left, memory)
    if not memory.sites and not memory.ahead:
        memory.mode = OFF
        memory.reason = (
            f"nothing that the program touches in order or as a whole causes {FEWEST_FAULTS} page "
            "faults"
        )
        return memory
    memory.plain = {phase.number for phase in document.phases if _is_plain(document, phase)}
    return memory


def _near_limit(document: Document) -> str | None:
    limit = document.memory.limit_bytes
    if limit == 0 or document.memory_bytes <= NEAR_LIMIT * limit:
        return None
    return (
        f"{document.memory_bytes} bytes were mapped at most, and the program may have {limit}: "
        f"above {NEAR_LIMIT:.0%} of it memory stays as it is"
    )


# ---- sites ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Treated:
    """The treatment of one place: of one line, or of all calls of the function."""

    place: Place
    line: int | None
    sites: tuple[SiteUse, ...]
    verdict: Verdict

    def described(self) -> Body:
        """The site's entry in the plan."""
        heaviest = max(self.sites, key=lambda site: (site.use.pages, -site.line))
        calls = {name for site in self.sites for name in memory_calls.family(site.call)}
        return {
            "phase": heaviest.phase or 0,
            **self.place.described(),
            "line": self.line,
            "calls": sorted(calls),
            "treatments": list(self.verdict.treatments),
            "evidence": self.verdict.evidence,
        }


def _plan_sites(use: MemoryUse, memory: Memory) -> list[SiteUse]:
    """Plan the sites that are worth it; returns the sites that stay as they are."""
    treated: list[Treated] = []
    for place, sites in _by_place(use.sites).items():
        verdicts = {line: judge(Asked(found)) for line, found in _by_line(sites).items()}
        treated += _treated(place, sites, verdicts)
        for line, found in _by_line(sites).items():
            if not verdicts[line].treatments:
                _refuse(found, f"{place.function}: {verdicts[line].evidence}", memory)
    for site in _nowhere(use.sites):
        _refuse([site], judge(Asked([site])).evidence, memory)
    memory.sites = [entry.described() for entry in treated]
    memory.sites.sort(key=lambda site: (site["phase"], site["function"], site["line"] or 0))
    memory.keep_bytes = _keep_bytes(use, treated)
    taken = {site for entry in treated for site in entry.sites}
    return [site for site in use.sites if site not in taken]


def _refuse(sites: Sequence[SiteUse], reason: str, memory: Memory) -> None:
    """List sites that stay as they are, if they have enough faults to matter."""
    pages = Asked(sites).pages
    if pages >= FEWEST_FAULTS:
        memory.refuse(sites[0].phase, reason, pages)


def _treated(
    place: Place, sites: Sequence[SiteUse], verdicts: dict[int, Verdict]
) -> Iterator[Treated]:
    """One treatment for the whole function if its lines are alike, else one for each line."""
    if len({verdict.treatments for verdict in verdicts.values()}) == 1:
        whole = judge(Asked(sites))
        if whole.treatments:
            yield Treated(place, None, tuple(sites), whole)
        return
    for line, found in _by_line(sites).items():
        if verdicts[line].treatments:
            yield Treated(place, line, tuple(found), verdicts[line])


def _nowhere(sites: Iterable[SiteUse]) -> Iterator[SiteUse]:
    return (site for site in sites if not (site.own and site.places))


def _by_place(sites: Iterable[SiteUse]) -> dict[Place, list[SiteUse]]:
    found: defaultdict[Place, list[SiteUse]] = defaultdict(list)
    for site in sites:
        if site.own:
            for place in site.places:
                found[place].append(site)
    return dict(sorted(found.items()))


def _by_line(sites: Iterable[SiteUse]) -> dict[int, list[SiteUse]]:
    found: defaultdict[int, list[SiteUse]] = defaultdict(list)
    for site in sites:
        found[site.line].append(site)
    return dict(sorted(found.items()))


def _keep_bytes(use: MemoryUse, treated: Iterable[Treated]) -> int:
    """Bytes that the keeping sites held at once, within the bound; larger inputs need more.

    How much is really kept, libkadapt decides from the memory that the program has in use.
    """
    keeping = {
        site for entry in treated if KEEP in entry.verdict.treatments for site in entry.sites
    }
    if not keeping:
        return 0
    bound = int(KEPT_SHARE * use.peak_resident_bytes) + KEPT_BYTES
    return min(max(sum(site.held for site in keeping), KEPT_BYTES), bound)


# ---- ranges --------------------------------------------------------------------------------------


def _plan_ranges(use: MemoryUse, left: Iterable[SiteUse], memory: Memory) -> None:
    """The heap, the stack, and the mappings that no site was planned for."""
    found: defaultdict[str, list[Use]] = defaultdict(list)
    for used in use.ranges:
        if used.kind in KIND_OF_RANGE:
            found[KIND_OF_RANGE[used.kind]].append(used)
    reserved_only = False
    for site in left:
        if site.use.kind in KIND_OF_RANGE:
            found[KIND_OF_RANGE[site.use.kind]].append(site.use)
            reserved_only = reserved_only or site.unreserved
    for name in (HEAP, STACK, MAPPINGS):
        objection = _range_objection(found[name])
        if name == MAPPINGS and reserved_only:
            objection = objection or "some are mapped without a reservation"
        pages = sum(used.pages for used in found[name])
        if objection is None:
            memory.ahead.append(name)
        elif pages >= FEWEST_FAULTS:
            memory.refuse(None, f"the {name}: {objection}", pages)


def _range_objection(uses: Sequence[Use]) -> str | None:
    """Judge a range by its ordered faults; how much of it stays empty need not be known.

    The kernel populates only ahead of a task that touches pages in order, and never more than the
    bound on resident memory allows.
    """
    pages = sum(used.pages for used in uses)
    ordered = sum(used.pages for used in uses if used.order not in (SCATTERED, None))
    if pages < FEWEST_FAULTS:
        return f"{pages} faults are fewer than {FEWEST_FAULTS}"
    if any(used.forked for used in uses):
        return f"{pages} faults, but the program forks while it is there"
    if ordered < FEWEST_FAULTS:
        return f"{pages} faults, of which {ordered} are in an order"
    return None


# ---- phases --------------------------------------------------------------------------------------


def _is_plain(document: Document, phase: Phase) -> bool:
    """Whether the phase forks: a child would copy the populated pages, one by one."""
    return (
        document.concurrency.processes > 1
        and document.concurrency.threads == 1
        and any(call.name in FORKING for call in phase.transfers)
    )
