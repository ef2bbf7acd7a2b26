# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides how a program's first touch of a page is served on its tailored x86_64 kernel.

If the plan treats memory, the kernel gives huge pages on request (madvise). The adapted program
requests them for the blocks that the plan names. Other fresh pages are small. The goals apply to
the kinds of pages that the program gets.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.base.operations import GOALS
from bench.base.rows import Goal
from kadence.base import artefact

PLAIN, POPULATED, HUGE = "page", "page_populated", ("page_huge", "page_64k")
WAYS = (PLAIN, POPULATED, *HUGE)


@dataclass(frozen=True)
class Pages:
    """The operations that give the program its pages, and why."""

    ways: tuple[str, ...]
    why: str

    def goals(self) -> Mapping[str, Goal]:
        """Returns all goals, but only those page goals whose operation the program uses."""
        others = {name: goal for name, goal in GOALS.items() if name not in WAYS}
        return others | dict.fromkeys(self.ways, GOALS[PLAIN])


def of(plan: Path) -> Pages:
    """Returns the kinds of pages that the program of this plan gets."""
    document = artefact.read(plan, artefact.PLAN)
    if not document["needs"].get("memory"):
        return Pages((PLAIN,), "no memory is planned, so the kernel's own way is judged")
    treated = [set(site["treatments"]) for site in document["memory"]["sites"]]
    asking = sum("huge" in treatments for treatments in treated)
    populated = sum("populate" in each and "huge" not in each for each in treated)
    told = f"huge ones at {asking} planned sites, small ones in bulk at {populated}"
    ways = (HUGE if asking else ()) + ((POPULATED,) if populated else ())
    if not ways:
        return Pages((PLAIN,), "no planned site asks for huge pages or small pages in bulk here")
    return Pages(ways, f"{told}; other pages are small, so `page` is not judged")
