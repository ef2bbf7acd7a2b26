# SPDX-License-Identifier: GPL-2.0-or-later
"""What functions did in each phase, of all tasks together."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kadence.observe.probes.instruments import Instrument, Kind
from kadence.observe.probes.results import WAITS, Record, Results

LEAST = 63  # the bucket of calls that took less than the cost subtracted


@dataclass
class Function:
    """A function in a phase; ticks are those of results.Costs."""

    instrument: Instrument
    calls: int = 0
    inclusive: int = 0
    children: int = 0
    bytes: int = 0
    unended: int = 0
    waited: list[int] = field(default_factory=lambda: [0] * len(WAITS))
    histogram: Counter[int] = field(default_factory=Counter)

    @property
    def is_timed(self) -> bool:
        """Whether more than calls is known."""
        return self.instrument.kind not in (Kind.COUNT, Kind.POINT)

    @property
    def own(self) -> int:
        """Ticks without those of timed functions that it called."""
        return self.inclusive - self.children

    def percentile(self, percent: float) -> int:
        """Ticks that this share of the calls did not exceed, rounded up to a power of two."""
        rank = percent / 100 * sum(self.histogram.values())
        seen = 0
        for bucket in sorted(self.histogram, key=lambda each: -1 if each == LEAST else each):
            seen += self.histogram[bucket]
            if seen >= rank:
                return 1 if bucket == LEAST else 2 << bucket
        return 0


@dataclass
class Phase:
    """A phase, of all tasks together."""

    number: int
    tasks: int = 0
    elapsed: int = 0  # ticks of the task that was longest in it
    ran: int = 0  # ticks of all tasks
    functions: dict[int, Function] = field(default_factory=dict)

    def concurrency(self, function: Function) -> float:
        """How many threads were inside the function at once, on average."""
        return (function.inclusive + sum(function.waited)) / self.elapsed if self.elapsed else 0.0


def by_phase(results: Results, instruments: Sequence[Instrument]) -> list[Phase]:
    """All phases, by number; first what no phase contains."""
    phases: dict[int, Phase] = {}
    stays: dict[tuple[int, int], int] = defaultdict(int)
    for block in results.blocks:
        phase = phases.setdefault(block.phase, Phase(block.phase))
        if block.elapsed and not stays[block.phase, block.task]:
            phase.tasks += 1
        stays[block.phase, block.task] += block.elapsed
        phase.elapsed = max(phase.elapsed, stays[block.phase, block.task])
        phase.ran += block.elapsed - block.away
        for record in block.records:
            function = phase.functions.setdefault(
                record.function, Function(instruments[record.function])
            )
            _add(function, record)
    return sorted(phases.values(), key=lambda phase: phase.number)


def _add(function: Function, record: Record) -> None:
    function.calls += record.calls
    function.inclusive += record.inclusive
    function.children += record.children
    function.bytes += record.bytes
    function.unended += record.unended
    function.waited = [a + b for a, b in zip(function.waited, record.waited, strict=True)]
    function.histogram.update(record.histogram)


def timed(phases: Iterable[Phase]) -> list[Function]:
    """The functions of all phases whose costs were subtracted."""
    return [each for phase in phases for each in phase.functions.values() if each.is_timed]
