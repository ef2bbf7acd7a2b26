# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel's and a program's code takes while a command runs: lines, pages and misses."""

import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Self

from kadence.kconfig.layout.artefact import (
    LINE_BYTES,
    PAGE_BYTES,
    Code,
    Footprint,
    Misses,
    PhaseCode,
)
from kadence.kconfig.store.store import Kernel
from kadence.kernel.executable import Executable
from kadence.lab.counts import Block, Counted, Eviction, Line, ProgramBlock

AnyBlock = Block | ProgramBlock

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


class _Names:
    """The function of a line: the one whose block ran oftenest there."""

    def __init__(self, functions: Functions, blocks: Iterable[AnyBlock]) -> None:
        self._functions = functions
        self._hottest: dict[int, tuple[int, int]] = {}  # of a line: executions, address
        for block in blocks:
            for line in _lines_of(block):
                ran = sum(block.counts), max(block.address, line)
                self._hottest[line] = max(ran, self._hottest.get(line, ran))

    def of_line(self, line: int) -> str:
        _, address = self._hottest.get(line, (0, line))
        return self._functions.at(address)

    def of_kernel(self, line: int) -> str | None:
        """None if the line is not the kernel's."""
        return self.of_line(line) if line >= KERNEL else None


def footprint(
    counted: Counted, functions: Functions, executable: Executable | None = None
) -> Footprint:
    """The footprint in a run that was counted with the geometries of caches.

    `executable` is the program, whose code is looked for as well.
    """
    own = [line for line in counted.lines if line.address >= KERNEL]
    names = _Names(functions, counted.blocks)
    pairs = _pairs(counted.evictions, names.of_kernel)
    code = _code(own, counted.blocks, pairs, names, counted.phases)
    return Footprint(
        **vars(code),
        instructions=counted.kernel,
        programs=counted.programs,
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
        program_code=None if executable is None else _of_program(counted, names, executable),
    )


def _of_program(counted: Counted, kernel: _Names, executable: Executable) -> Code:
    pages = executable.pages(counted.program_blocks)

    def place(one: ProgramBlock | Line) -> int:
        return pages[one.page] + one.address % PAGE_BYTES

    blocks = [
        replace(block, address=place(block))
        for block in counted.program_blocks
        if block.page in pages
    ]
    own = [line for line in counted.lines if line.page in pages]
    lines = [replace(line, address=place(line)) for line in own]
    places = {line.address: place(line) for line in own}
    names = _Names(Functions(executable.functions), blocks)

    def name_of(address: int) -> str | None:
        name = kernel.of_kernel(address)
        if name is not None:
            return f"kernel:{name}"
        return names.of_line(places[address]) if address in places else None

    pairs = _pairs([one for one in counted.evictions if one.address in places], name_of)
    return _code(lines, blocks, pairs, names, counted.phases)


def _pairs(evictions: Iterable[Eviction], name_of: Callable[[int], str | None]) -> list[str]:
    """Which functions were most often evicted by which function, if both have names."""
    found: Counter[tuple[str, str]] = Counter()
    for one in evictions:
        name, by = name_of(one.address), name_of(one.by)
        if name is not None and by is not None:
            found[name, by] += one.count
    return [f"{name} {by} {count}" for (name, by), count in found.most_common(MOST_PAIRS)]


def _code(
    lines: Sequence[Line],
    blocks: Sequence[AnyBlock],
    evictions: list[str],
    names: _Names,
    numbers: Mapping[int, int],
) -> Code:
    phases = _Phases(blocks, numbers)
    return Code(
        lines=len({line.address for line in lines}),
        executed_bytes=executed_bytes(blocks),
        pages=len({line.address // PAGE_BYTES for line in lines}),
        code=[
            f"{line.address:x} {line.fetches} {line.misses[0]} {names.of_line(line.address)} "
            f"{phases.of_line(line.address):x}"
            for line in sorted(lines, key=lambda line: line.address)
        ],
        evictions=evictions,
        phases=phases.all,
    )


class _Phases:
    """Which code runs in which phase. `numbers` has the plugin's number of each, and the phase."""

    def __init__(self, blocks: Sequence[AnyBlock], numbers: Mapping[int, int]) -> None:
        self._lines: list[set[int]] = []
        self.all: list[PhaseCode] = []
        if numbers:
            for number in (0, *sorted(numbers, key=numbers.__getitem__)):
                self._add(
                    numbers.get(number), [one for one in blocks if one.counts[number]], number
                )

    def of_line(self, address: int) -> int:
        """A bit for each phase in which the line ran."""
        return sum(1 << bit for bit, lines in enumerate(self._lines) if address in lines)

    def _add(self, phase: int | None, ran: Sequence[AnyBlock], number: int) -> None:
        lines = {line for block in ran for line in _lines_of(block)}
        self._lines.append(lines)
        self.all.append(
            PhaseCode(
                phase=phase,
                instructions=sum(block.instructions * block.counts[number] for block in ran),
                lines=len(lines),
                executed_bytes=_bytes_of(ran),
                pages=len({address // PAGE_BYTES for address in lines}),
            )
        )


def _lines_of(block: AnyBlock) -> range:
    first = block.address // LINE_BYTES * LINE_BYTES
    return range(first, block.address + block.bytes, LINE_BYTES)


def executed_bytes(blocks: Iterable[AnyBlock]) -> int:
    """Bytes of the instructions that ran."""
    return _bytes_of(block for block in blocks if any(block.counts))


def _bytes_of(blocks: Iterable[AnyBlock]) -> int:
    """Bytes of blocks, which may overlap."""
    total = end = 0
    for start, after in sorted((block.address, block.address + block.bytes) for block in blocks):
        total += max(after - max(start, end), 0)
        end = max(end, after)
    return total
