# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel's code takes while a command runs: lines, pages, branches and misses."""

import bisect
from collections import Counter
from collections.abc import Iterable

from kadence.kconfig.layout.artefact import Footprint, Misses
from kadence.lab.counts import Block, Counted

KERNEL = 0xFFFF_8000_0000_0000  # its first address
LINE_BYTES, PAGE_BYTES = 64, 4096
MOST_PAIRS = 200
UNKNOWN = "?"  # of kernels that were stored without names


class Functions:
    """Finds functions by address."""

    def __init__(self, lines: Iterable[str]) -> None:
        pairs = sorted((int(line.split()[0], 16), line.split()[1]) for line in lines)
        self._addresses = [address for address, _ in pairs]
        self._names = [name for _, name in pairs]

    def at(self, address: int) -> str:
        """The function that has this address, or lies before it."""
        number = bisect.bisect_right(self._addresses, address) - 1
        return self._names[number] if number >= 0 else UNKNOWN

    def of_line(self, address: int) -> str:
        """The function at the end of a line, which has most of its bytes more often than not."""
        return self.at(address + LINE_BYTES - 1)


def footprint(counted: Counted, functions: Functions) -> Footprint:
    """The footprint in a run that was counted with the geometries of caches."""
    own = [line for line in counted.lines if line.address >= KERNEL]
    return Footprint(
        instructions=counted.kernel,
        programs=counted.programs,
        lines=len({line.address for line in own}),
        executed_bytes=executed_bytes(counted.blocks),
        pages=len({line.address // PAGE_BYTES for line in own}),
        taken_branches=sum(
            sum(edge.counts)
            for edge in counted.edges
            if edge.successor != edge.address + edge.bytes
        ),
        caches=[
            Misses(
                bytes=cache.bytes,
                ways=cache.ways,
                misses=cache.misses,
                in_kernel=sum(line.misses[number] for line in own),
                second_level=cache.second_level_misses,
                translations=cache.translation_misses,
            )
            for number, cache in enumerate(counted.caches)
        ],
        code=[
            f"{line.address:x} {line.fetches} {line.misses[0]} {functions.of_line(line.address)}"
            for line in sorted(own, key=lambda line: line.address)
        ],
        evictions=_evictions(counted, functions),
    )


def _evictions(counted: Counted, functions: Functions) -> list[str]:
    found: Counter[tuple[str, str]] = Counter()
    for one in counted.evictions:
        if min(one.address, one.by) >= KERNEL:
            found[functions.of_line(one.address), functions.of_line(one.by)] += one.count
    return [f"{name} {by} {count}" for (name, by), count in found.most_common(MOST_PAIRS)]


def executed_bytes(blocks: Iterable[Block]) -> int:
    """Bytes of the instructions that ran; blocks may overlap."""
    total = end = 0
    for start, after in sorted((b.address, b.address + b.bytes) for b in blocks if any(b.counts)):
        total += max(after - max(start, end), 0)
        end = max(end, after)
    return total
