# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the cost of profiling, and the targets."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.base.rows import MISSED, aligned
from bench.base.suite import CALLS, LOOPS, Subject
from bench.profiler.profiler_ways import BBV, EXACT, FAST, INTERVAL, KBBV, NATIVE, NULGRIND
from kadence.measurement.execution import Sample

MEBIBYTE = 1 << 20
NOT_THERE = "not there"
# The limit of the compiled-in counters' memory: a factor of the native program's, plus bytes.
MEMORY_FACTOR, MEMORY_MORE = 1.2, 64 * MEBIBYTE

Ways = Mapping[str, Sequence[Sample]]


@dataclass(frozen=True)
class Target:
    """A limit for the ratio of two ways' times, for each of some programs or for their mean."""

    way: str
    base: str
    limit: float
    at_least: bool = False
    kind: str = ""  # the kind of programs it applies to; empty: all
    program: str = ""  # the only program it applies to; empty: all
    mean: bool = False  # applies to the geometric mean

    def told(self) -> str:
        relation = "at least" if self.at_least else "at most"
        return f"{self.way} / {self.base} {relation} {self.limit:g}"


TARGETS = (
    Target(KBBV, NULGRIND, 1.25, mean=True),
    Target(KBBV, NULGRIND, 1.35, program="fibonacci"),
    Target(BBV, KBBV, 4, at_least=True, kind=CALLS),
    Target(BBV, KBBV, 2, at_least=True, kind=LOOPS),
    Target(FAST, NATIVE, 1.10, mean=True),
    Target(FAST, NATIVE, 1.5),
    Target(EXACT, NATIVE, 2),
)


def head() -> Iterator[str]:
    """Yields the head of the tables: their units."""
    yield "Seconds of wall time, median (lowest to highest), and of processor time"
    yield f"Intervals of {INTERVAL:,} instructions; compiled-*: a length that fits the run"
    yield "Instructions, in millions: executed (kbbv), estimated (compiled-*)"
    yield ""


def summary(found: Mapping[str, Ways], kinds: Mapping[str, str]) -> Iterator[str]:
    """Yields the means and verdicts over all tables. `kinds` gives each program's kind."""
    yield "Geometric means over the programs"
    yield from _means(found)
    yield ""
    yield "Targets"
    yield from _verdicts(found, kinds)


def program(subject: Subject, ways: Ways, instructions: Mapping[tuple[str, str], int]) -> list[str]:
    """Returns the table of one program. `instructions` is by program and way, if counted."""
    title = f"{subject.name} ({subject.kind})"
    heads = ("seconds", "", "processor", "of native", "of nulgrind", "peak MiB", "instructions")
    cells = [[title, *heads, "rounds"]]
    for name, samples in ways.items():
        seconds = [sample.program_seconds for sample in samples]
        cells.append(
            [
                f"  {name}",
                f"{np.median(seconds):.3f}",
                f"({min(seconds):.3f} to {max(seconds):.3f})",
                f"{_processor(samples):.3f}",
                _ratio_told(ways, name, NATIVE),
                _ratio_told(ways, name, NULGRIND),
                f"{_peak(samples) / MEBIBYTE:.1f}",
                _millions(instructions.get((subject.name, name))),
                str(len(samples)),
            ]
        )
    return [*aligned(cells), ""]


def ratios(ways: Ways, way: str, base: str) -> list[float]:
    """Returns the ratios of rounds in which both ways took part; none if either is missing."""
    pairs = zip(ways.get(way, ()), ways.get(base, ()), strict=False)
    return [one.program_seconds / other.program_seconds for one, other in pairs]


def _ratio_told(ways: Ways, way: str, base: str) -> str:
    return f"{np.median(ratios(ways, way, base)):.2f}"


def _millions(executed: int | None) -> str:
    return "" if executed is None else f"{executed / 1e6:,.0f}"


def _processor(samples: Sequence[Sample]) -> float:
    return float(np.median([sample.user_seconds + sample.system_seconds for sample in samples]))


def _peak(samples: Sequence[Sample]) -> float:
    return float(np.median([sample.max_resident_bytes for sample in samples]))


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def _medians(found: Mapping[str, Ways], way: str, base: str) -> dict[str, float]:
    """Returns the median ratio by program; empty if one of the ways is missing."""
    every = {name: ratios(ways, way, base) for name, ways in found.items()}
    return {name: float(np.median(values)) for name, values in every.items() if values}


def _means(found: Mapping[str, Ways]) -> Iterator[str]:
    names = list(next(iter(found.values())))
    cells = [["", "of native", "of nulgrind", "memory of native"]]
    for name in names:
        memory = [_peak(ways[name]) / _peak(ways[NATIVE]) for ways in found.values()]
        times = [list(_medians(found, name, base).values()) for base in (NATIVE, NULGRIND)]
        figures = [_geometric_mean(values) for values in (*times, memory)]
        cells.append([f"  {name}", *(f"{figure:.2f}" for figure in figures)])
    cells += [[f"  {name}", NOT_THERE, "", ""] for name in (FAST, EXACT) if name not in names]
    yield from aligned(cells)


def _verdicts(found: Mapping[str, Ways], kinds: Mapping[str, str]) -> Iterator[str]:
    for target in TARGETS:
        values = {
            name: value
            for name, value in _medians(found, target.way, target.base).items()
            if target.kind in ("", kinds[name]) and target.program in ("", name)
        }
        yield f"  {target.told()}{_asked(target)}: {_verdict(target, values)}"
    yield from (f"  {line}" for line in _memory(found))


def _asked(target: Target) -> str:
    if target.mean:
        return ", geometric mean"
    if target.program:
        return f", {target.program}"
    return f", each ({target.kind})" if target.kind else ", each"


def _verdict(target: Target, values: Mapping[str, float]) -> str:
    if not values:
        return NOT_THERE
    if target.mean:
        mean = _geometric_mean(list(values.values()))
        return f"{mean:.3f} {_met([mean], target)}"
    worst: Callable[..., str] = min if target.at_least else max
    name = worst(values, key=lambda name: values[name])
    return f"{values[name]:.2f} ({name}) {_met(list(values.values()), target)}"


def _met(values: Sequence[float], target: Target) -> str:
    worse = [value < target.limit if target.at_least else value > target.limit for value in values]
    return f"{MISSED} by {sum(worse)} of {len(values)}" if any(worse) else "met"


def _memory(found: Mapping[str, Ways]) -> Iterator[str]:
    for way in (FAST, EXACT):
        over = {
            name: _peak(ways[way]) - (MEMORY_FACTOR * _peak(ways[NATIVE]) + MEMORY_MORE)
            for name, ways in found.items()
            if way in ways
        }
        told = f"memory of {way} at most {MEMORY_FACTOR} of native + 64 MiB, each"
        if not over:
            yield f"{told}: {NOT_THERE}"
            continue
        missed = ", ".join(name for name, bytes_over in over.items() if bytes_over > 0)
        yield f"{told}: {f'{MISSED} by {missed}' if missed else 'met'}"
