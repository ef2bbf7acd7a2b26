# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides whether the memory that a place allocates is worth a treatment, and which."""

from collections.abc import Sequence
from dataclasses import dataclass

from kadence.phases.artefact.memory_document import SiteUse
from kadence.phases.describe import memory_calls
from kadence.phases.describe.memory import FILES, LARGE_BLOCK

POPULATE, KEEP, HUGE, MAP_AHEAD = "populate", "keep", "huge", "map-ahead"

# malloc serves smaller blocks from memory that it has, so their faults are few.
LEAST_BLOCK = LARGE_BLOCK
# One call to populate costs about as much as a fault. Fewer faults save too little to measure.
FEWEST_FAULTS = 64
# Pages that are never touched are populated for nothing. If they are at most a twentieth, resident
# memory stays within the promised bound.
DENSE = 0.95
# A site that allocates again this often does so in every step, not by chance.
OFTEN = 3
HUGE_PAGE = 2 << 20


@dataclass(frozen=True)
class Verdict:
    """The treatments, or why there are none."""

    treatments: tuple[str, ...]
    evidence: str


@dataclass(frozen=True)
class Asked:
    """The memory that the calls of one place allocated, all together."""

    uses: Sequence[SiteUse]

    @property
    def pages(self) -> int:
        return sum(site.use.pages for site in self.uses)

    @property
    def mappings(self) -> int:
        return sum(site.use.mappings for site in self.uses)

    @property
    def bytes(self) -> int:
        return sum(site.use.bytes for site in self.uses)

    @property
    def again(self) -> int:
        return sum(site.use.again for site in self.uses)

    @property
    def largest(self) -> int:
        return max(site.use.largest for site in self.uses)

    @property
    def touched(self) -> float:
        """Share of the pages."""
        return sum(site.use.touched * site.use.bytes for site in self.uses) / max(self.bytes, 1)

    @property
    def of_files(self) -> bool:
        return all(site.use.kind in FILES for site in self.uses)

    def __str__(self) -> str:
        orders = sorted({site.use.order for site in self.uses if site.use.order})
        calls = ", ".join(sorted({site.call for site in self.uses}))
        again = f", {self.again} of them again" if self.again else ""
        mappings = "mapping" if self.mappings == 1 else "mappings"
        return (
            f"{self.mappings} {mappings} by {calls}{again}, up to {self.largest} bytes large; "
            f"{self.pages} faults, {self.touched:.1%} of the pages touched "
            f"({' and '.join(orders) or 'none'})"
        )


def judge(asked: Asked) -> Verdict:
    """Decide for one place."""
    objection = _objection(asked)
    if objection is not None:
        return Verdict((), f"{asked}: {objection}")
    if asked.of_files:
        return Verdict((MAP_AHEAD,), str(asked))
    treatments = [POPULATE]
    if asked.again >= OFTEN and not any(memory_calls.maps(site.call) for site in asked.uses):
        treatments.append(KEEP)
    if asked.bytes >= HUGE_PAGE * asked.mappings:
        treatments.append(HUGE)
    return Verdict(tuple(treatments), str(asked))


def _objection(asked: Asked) -> str | None:
    if not all(site.own for site in asked.uses):
        return "asked for by a library, which is not compiled with the program"
    if not all(memory_calls.family(site.call) for site in asked.uses):
        return "by no call that can be redirected"
    if asked.pages < FEWEST_FAULTS:
        return f"fewer than {FEWEST_FAULTS} faults are not worth populating"
    if not asked.of_files and max(site.request for site in asked.uses) < LEAST_BLOCK:
        return f"malloc serves blocks below {LEAST_BLOCK} bytes from memory that it has"
    if any(site.use.forked for site in asked.uses):
        return "the program forks while it is there, and the child would copy the populated pages"
    if any(site.unreserved for site in asked.uses):
        return "mapped without a reservation, as memory that stays mostly empty is"
    if asked.touched < DENSE:
        return f"sparse: at least {DENSE:.0%} of the pages must be touched to populate all at once"
    return None
