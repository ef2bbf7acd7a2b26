# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel's code takes while a command runs: lines, pages, branches and misses."""

import bisect
from collections import Counter
from collections.abc import Iterable
from typing import Self

from kadence.kconfig.layout.artefact import LINE_BYTES, PAGE_BYTES, Footprint, Misses, PhaseCode
from kadence.kconfig.store.store import Kernel
from kadence.lab.counts import Block, Counted

KERNEL = 0xFFFF_8000_0000_0000  # its first address
MOST_PAIRS = 200
UNKNOWN = "?"  # of kernels that were stored without names


class Functions:
    """Finds functions by address."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.pairs = sorted((int(line.split()[0], 16), line.split()[1]) for line in lines)
        self._addresses = [address for address, _ in self.pairs]
        self._names = [name for _, name in self.pairs]

    @classmethod
    def of(cls, kernel: Kernel) -> Self:
        """The functions of a kernel; none if it was stored without names."""
        if not kernel.functions.exists():
            return cls([])
        return cls(kernel.functions.read_text(encoding="utf-8").splitlines())

    def at(self, address: int) -> str:
        """The function that has this address, or lies before it."""
        number = bisect.bisect_right(self._addresses, address) - 1
        return self._names[number] if number >= 0 else UNKNOWN

    def address_of(self, name: str) -> int | None:
        """The address of a function; None if the kernel has none of this name."""
        return self._addresses[self._names.index(name)] if name in self._names else None

    def of_line(self, address: int) -> str:
        """The function at the end of a line, which has most of its bytes more often than not."""
        return self.at(address + LINE_BYTES - 1)


def footprint(counted: Counted, functions: Functions) -> Footprint:
    """The footprint in a run that was counted with the geometries of caches."""
    own = [line for line in counted.lines if line.address >= KERNEL]
    phases = _Phases(counted)
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
            f"{line.address:x} {line.fetches} {line.misses[0]} {functions.of_line(line.address)} "
            f"{phases.of_line(line.address):x}"
            for line in sorted(own, key=lambda line: line.address)
        ],
        evictions=_evictions(counted, functions),
        phases=phases.all,
    )


class _Phases:
    """Which code runs in which phase."""

    def __init__(self, counted: Counted) -> None:
        self._lines: list[set[int]] = []
        self.all: list[PhaseCode] = []
        if counted.phases:
            for number in (0, *sorted(counted.phases, key=counted.phases.__getitem__)):
                self._add(number, counted)

    def of_line(self, address: int) -> int:
        """A bit for each phase in which the line ran."""
        return sum(1 << bit for bit, lines in enumerate(self._lines) if address in lines)

    def _add(self, number: int, counted: Counted) -> None:
        ran = [block for block in counted.blocks if block.counts[number]]
        lines = {line for block in ran for line in _lines_of(block)}
        self._lines.append(lines)
        self.all.append(
            PhaseCode(
                phase=counted.phases.get(number),
                instructions=sum(block.instructions * block.counts[number] for block in ran),
                lines=len(lines),
                executed_bytes=_bytes_of(ran),
                pages=len({address // PAGE_BYTES for address in lines}),
            )
        )


def _lines_of(block: Block) -> range:
    first = block.address // LINE_BYTES * LINE_BYTES
    return range(first, block.address + block.bytes, LINE_BYTES)


def _evictions(counted: Counted, functions: Functions) -> list[str]:
    found: Counter[tuple[str, str]] = Counter()
    for one in counted.evictions:
        if min(one.address, one.by) >= KERNEL:
            found[functions.of_line(one.address), functions.of_line(one.by)] += one.count
    return [f"{name} {by} {count}" for (name, by), count in found.most_common(MOST_PAIRS)]


def executed_bytes(blocks: Iterable[Block]) -> int:
    """Bytes of the instructions that ran."""
    return _bytes_of(block for block in blocks if any(block.counts))


def _bytes_of(blocks: Iterable[Block]) -> int:
    """Bytes of blocks, which may overlap."""
    total = end = 0
    for start, after in sorted((block.address, block.address + block.bytes) for block in blocks):
        total += max(after - max(start, end), 0)
        end = max(end, after)
    return total
