# SPDX-License-Identifier: GPL-2.0-or-later
"""In which way a program's first touch of a page is served on its tailored x86_64 kernel.

Where memory is planned, that kernel has huge pages for who asks (madvise), and the adapted program
asks for the blocks that its plan says so of. A fresh page that nobody asks for is a small one
then; what is judged is what the program gets.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from operations import GOALS
from rows import Goal

from kadence import artefact

PLAIN, POPULATED, HUGE = "page", "page_populated", ("page_huge", "page_64k")
WAYS = (PLAIN, POPULATED, *HUGE)


@dataclass(frozen=True)
class Pages:
    """The operations that the program's pages come by, and why."""

    ways: tuple[str, ...]
    why: str

    def goals(self) -> Mapping[str, Goal]:
        """Those of all operations, of the pages' only where the program gets them so."""
        others = {name: goal for name, goal in GOALS.items() if name not in WAYS}
        return others | dict.fromkeys(self.ways, GOALS[PLAIN])


def of(plan: Path) -> Pages:
    """What the program of this plan gets."""
    document = artefact.read(plan, artefact.PLAN)
    if not document["needs"].get("memory"):
        return Pages((PLAIN,), "no memory is planned, so the kernel's own way is judged")
    treated = [set(site["treatments"]) for site in document["memory"]["sites"]]
    asking = sum("huge" in treatments for treatments in treated)
    populated = sum("populate" in each and "huge" not in each for each in treated)
    told = f"huge ones at {asking} planned sites, small ones in bulk at {populated}"
    ways = (HUGE if asking else ()) + ((POPULATED,) if populated else ())
    if not ways:
        return Pages((PLAIN,), "of the planned memory no site asks for huge pages or a bulk here")
    return Pages(ways, f"{told}; who does not ask gets small ones, so `page` is not judged")
