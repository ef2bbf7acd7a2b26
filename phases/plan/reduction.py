# SPDX-License-Identifier: GPL-2.0-or-later
"""What a plan keeps if the program does other work on another input.

Each adaptation has evidence of its own, and is refused on its own:

- A phase that another input does not know loses its phase calls, and with them its long quantum.
  A phase that all inputs know keeps them.
- If another input does I/O in phases that the plan does not know, no phase gets a long quantum:
  nothing would end it there.
- An I/O site or memory site stays if all inputs support it (common_sites.py).
- The program's needs of the kernel do not depend on phases.
"""

from collections.abc import Mapping
from typing import Any

from kadence.phases.artefact.document import Document, Phase
from kadence.phases.plan import common_sites
from kadence.phases.plan.inputs import Inputs
from kadence.phases.plan.io_planning import Paths
from kadence.phases.plan.memory_planning import Memory

REFUSED = "phase calls"

Body = dict[str, Any]


def why_unknown(phase: Phase, compared: Inputs | None) -> str | None:
    """Why a phase gets no calls, if another input does not know it; else None."""
    if compared is None or not compared.reduce:
        return None
    for other in compared.others:
        if other.unknown.issuperset(phase.members):
            return f"{other.name} has no such phase, so a call in it would be tuned to one input"
    return None


def why_no_long_quantum(compared: Inputs | None) -> str | None:
    """Why no phase at all gets a long quantum, or None."""
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
    """Remove the sites that the inputs do not share; returns what the phases lose."""
    if compared is None or not compared.reduce:
        return []
    sites = [other.sites for other in compared.others]
    common_sites.keep_common_io(paths, sites)
    common_sites.keep_common_memory(memory, sites)
    return [{"phase": None, "what": REFUSED, "reason": _lost(document, compared)}]


def told(plan: Mapping[str, Any]) -> list[str]:
    """The reasons why a plan is reduced; empty if it is not."""
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
