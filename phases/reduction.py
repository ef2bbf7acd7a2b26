# SPDX-License-Identifier: GPL-2.0-or-later
"""What a plan keeps of a program that does something else on another input.

Each adaptation stands on evidence of its own, and is refused on its own:

- A phase that another input does not know loses its calls, and with them its long quantum. A phase
  that all inputs know keeps them.
- Where another input does I/O in phases that the plan does not know, no phase gets a long quantum:
  nothing would end it there.
- A place with I/O or memory stays where all inputs speak for it (common_sites.py).
- What the kernel needs does not depend on phases.
"""

from collections.abc import Mapping
from typing import Any

from kadence.phases import common_sites
from kadence.phases.document import Document, Phase
from kadence.phases.inputs import Inputs
from kadence.phases.io_planning import Paths
from kadence.phases.memory_planning import Memory

REFUSED = "phase calls"

Body = dict[str, Any]


def why_unknown(phase: Phase, compared: Inputs | None) -> str | None:
    """Why a phase gets no calls, where that is because another input does not know it."""
    if compared is None or not compared.reduce:
        return None
    for other in compared.others:
        if other.unknown.issuperset(phase.members):
            return f"{other.name} has no such phase, so a call in it would be tuned to one input"
    return None


def why_no_long_quantum(compared: Inputs | None) -> str | None:
    """Why no phase at all gets one."""
    if compared is None or not compared.reduce:
        return None
    for other in compared.others:
        if other.brings_io:
            return (
                f"{other.name} does I/O in phases that the plan does not know: the long quantum "
                "would stay on there"
            )
    return None


def reduce(document: Document, compared: Inputs | None, paths: Paths, memory: Memory) -> list[Body]:
    """Take out of the sites what the inputs do not share; says what the phases lose."""
    if compared is None or not compared.reduce:
        return []
    sites = [other.sites for other in compared.others]
    common_sites.keep_common_io(paths, sites)
    common_sites.keep_common_memory(memory, sites)
    return [{"phase": None, "what": REFUSED, "reason": _lost(document, compared)}]


def told(plan: Mapping[str, Any]) -> list[str]:
    """Why a plan is reduced, where it is."""
    return [refusal["reason"] for refusal in plan["refused"] if refusal["what"] == REFUSED]


def _lost(document: Document, compared: Inputs) -> str:
    lost = [phase for phase in document.phases if why_unknown(phase, compared)]
    share = sum(phase.weight for phase in lost)
    count = f"{len(lost)} of {len(document.phases)}"
    return (
        f"the program is {compared.verdict}: {compared.unknown:.1%} of an input's instructions "
        f"are in phases that another does not know, {compared.allowed:.0%} are allowed; {count} "
        f"phases, with {share:.1%} of the instructions, get no calls"
    )
