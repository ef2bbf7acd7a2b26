# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the memory that one place of a program asks for is worth a treatment, and which."""

from collections.abc import Sequence
from dataclasses import dataclass

from kadence.phases import memory_calls
from kadence.phases.memory import FILES, LARGE_BLOCK
from kadence.phases.memory_document import SiteUse

POPULATE, KEEP, HUGE, MAP_AHEAD = "populate", "keep", "huge", "map-ahead"

# Below it malloc serves blocks from what it has, and faults are few.
LEAST_BLOCK = LARGE_BLOCK
# A batch costs about as much as one fault: fewer save less than can be measured.
FEWEST_FAULTS = 64
# What is never touched would be made present for nothing: with a twentieth, resident memory
# stays within the bound that is promised.
DENSE = 0.95
# Memory that was taken again so often is taken in every step, not by chance.
OFTEN = 3
HUGE_PAGE = 2 << 20


@dataclass(frozen=True)
class Verdict:
    """The treatments, or why there are none."""

    treatments: tuple[str, ...]
    evidence: str


@dataclass(frozen=True)
class Asked:
    """What calls of one kind in one place asked for, all together."""

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
        return f"fewer than {FEWEST_FAULTS} faults are not worth a batch"
    if not asked.of_files and max(site.request for site in asked.uses) < LEAST_BLOCK:
        return f"below {LEAST_BLOCK} bytes malloc serves blocks from what it has"
    if any(site.use.forked for site in asked.uses):
        return "the program forks while it is there, and its child would copy what is populated"
    if any(site.unreserved for site in asked.uses):
        return "mapped without a reservation, as only what stays mostly empty is"
    if asked.touched < DENSE:
        return f"sparse: at least {DENSE:.0%} must be touched for it to be made present at once"
    return None
