# SPDX-License-Identifier: GPL-2.0-or-later
"""What a map of code shows: lines by set and page, and what misses most."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from kadence.kconfig.layout.artefact import LINE_BYTES, PAGE_BYTES, Code, Misses, PhaseCode

NAMED = 12  # functions with a colour and a row
MARKED = 0.9  # of all misses: the lines that have these are marked


@dataclass(frozen=True)
class Line:
    """A line of code."""

    address: int
    fetches: int
    misses: int
    function: str
    phases: int = 0  # bit N: it ran in item N of the code's phases


@dataclass(frozen=True)
class PhaseRow:
    """What a phase takes of the code."""

    name: str
    instructions: int
    lines: int
    pages: int
    filled: float  # the share of its lines' bytes that it executes


@dataclass(frozen=True)
class Row:
    """A function that misses often."""

    function: str
    lines: int
    fetches: int
    misses: int
    evictor: str  # the function that took its place most often
    by_evictor: int


class CodeMap:
    """The code of one kernel, or of one program."""

    def __init__(self, found: Code, cache: Misses, lines: Sequence[Line] | None = None) -> None:
        """`lines`: instead of those of the code."""
        self._found, self._cache = found, cache
        self.bytes, self.ways = cache.bytes, cache.ways
        self.sets = cache.bytes // LINE_BYTES // cache.ways
        self.lines = [_line(text) for text in found.code] if lines is None else lines
        self._evictions = [_eviction(text) for text in found.evictions]
        self.phases = [_phase_row(each) for each in found.phases]

    def of_phase(self, name: str) -> "CodeMap":
        """The map of what runs in a phase. Misses are not known by phase."""
        bits = sum(1 << bit for bit, phase in enumerate(self.phases) if phase.name == name)
        lines = [replace(line, misses=0) for line in self.lines if line.phases & bits]
        return CodeMap(self._found, self._cache, lines)

    def set_of(self, line: Line) -> int:
        """The set of the cache that the line goes to."""
        return line.address // LINE_BYTES % self.sets

    @cached_property
    def pages(self) -> Sequence[int]:
        """Numbers of the pages with code that ran, by address."""
        return sorted({line.address // PAGE_BYTES for line in self.lines})

    @cached_property
    def misses_by_set(self) -> Sequence[int]:
        """A number for each set."""
        found = Counter[int]()
        for line in self.lines:
            found[self.set_of(line)] += line.misses
        return [found[number] for number in range(self.sets)]

    @cached_property
    def marked(self) -> frozenset[int]:
        """Addresses of the lines that have nine tenths of the misses."""
        left = MARKED * sum(line.misses for line in self.lines)
        found = []
        for line in sorted(self.lines, key=lambda line: -line.misses):
            if left <= 0:
                break
            found.append(line.address)
            left -= line.misses
        return frozenset(found)

    def rows(self) -> Sequence[Row]:
        """The functions that miss most."""
        misses, fetches, lines = Counter[str](), Counter[str](), Counter[str]()
        for line in self.lines:
            misses[line.function] += line.misses
            fetches[line.function] += line.fetches
            lines[line.function] += 1
        first: dict[str, tuple[str, int]] = {}
        for name, by, count in self._evictions:  # the most frequent pairs come first
            first.setdefault(name, (by, count))
        return [
            Row(name, lines[name], fetches[name], count, *first.get(name, ("", 0)))
            for name, count in misses.most_common(NAMED)
        ]


def _line(text: str) -> Line:
    address, fetches, misses, function, phases = text.split()
    return Line(int(address, 16), int(fetches), int(misses), function, int(phases, 16))


def _phase_row(found: PhaseCode) -> PhaseRow:
    name = "outside of phases" if found.phase is None else f"phase {found.phase}"
    filled = found.executed_bytes / (LINE_BYTES * max(found.lines, 1))
    return PhaseRow(name, found.instructions, found.lines, found.pages, filled)


def _eviction(text: str) -> tuple[str, str, int]:
    name, by, count = text.split()
    return name, by, int(count)
