# SPDX-License-Identifier: GPL-2.0-or-later
"""Which sections of a kernel's code ran, and how often one went on in another."""

from collections import Counter

from kadence.kconfig.layout.order import Flow
from kadence.kconfig.layout.sections import Sections
from kadence.lab.counts import Counted

# Blocks with another end go on anywhere: they return, or call by a pointer.
DIRECT = frozenset({"branches", "jumps", "calls"})


def flow(counted: Counted, sections: Sections) -> Flow:
    """The flow between sections that can move."""
    sizes: dict[str, int] = {}
    heat: Counter[str] = Counter()
    for block in counted.blocks:
        section = sections.at(block.address)
        if section is not None and section.can_move and any(block.counts):
            sizes[section.key] = section.bytes
            heat[section.key] += block.bytes * sum(block.counts)
    return Flow(sizes, heat, _edges(counted, sections, sizes))


def _edges(
    counted: Counted, sections: Sections, known: dict[str, int]
) -> dict[tuple[str, str], int]:
    """Calls and jumps. A return is none: it follows from the call."""
    endings = {(block.address, block.bytes): block.ending for block in counted.blocks}
    found: Counter[tuple[str, str]] = Counter()
    for edge in counted.edges:
        source, target = sections.at(edge.address), sections.at(edge.successor)
        if source is None or target is None or source is target:
            continue
        direct = endings.get((edge.address, edge.bytes)) in DIRECT
        if (direct or edge.successor == target.address) and {
            source.key,
            target.key,
        } <= known.keys():
            found[source.key, target.key] += sum(edge.counts)
    return dict(found)
