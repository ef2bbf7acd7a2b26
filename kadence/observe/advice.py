# SPDX-License-Identifier: GPL-2.0-or-later
"""Advice on what the kernel does for a command: which row of advice.toml fits its paths."""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as File

from kadence.observe import paths
from kadence.observe.paths import Path

TABLE = File(__file__).with_name("advice.toml")
LEAST = 0.1  # of the cost, in phases that are named
# What may be changed, in the order in which it is shown.
CHANGES = ("program", "plan", "option", "mount")


@dataclass(frozen=True)
class Advice:
    """A row of advice.toml, whose head explains the keys."""

    name: str
    function: str
    says: str
    source: str
    change: Mapping[str, str]
    below: str = "*"
    calls: int = 1
    percent: float = 0.0
    most_per_call: float = float("inf")
    least_per_call: float = 0.0
    waiting_percent: float = 0.0
    per: str = ""
    ratio: float = 0.0


@dataclass
class Evidence:
    """What a function did, in all paths that an advice is about."""

    calls: int = 0
    cost: int = 0
    waited: int = 0
    paths: list[Path] = field(default_factory=list)

    @property
    def per_call(self) -> float:
        """Virtual ns."""
        return self.cost / self.calls if self.calls else 0.0


def read(table: File = TABLE) -> list[Advice]:
    """All rows."""
    rows = tomllib.loads(table.read_text(encoding="utf-8"))["advice"]
    return [Advice(**row) for row in rows]


def fitting(root: Path, rows: Sequence[Advice]) -> list[tuple[Advice, Evidence]]:
    """The rows that fit a command's paths, what costs most first."""
    found = [(row, _evidence(root, row.function, row.below)) for row in rows]
    fits = [(row, seen) for row, seen in found if seen.calls and _fits(root, row, seen)]
    return sorted(fits, key=lambda each: (-each[1].cost, each[0].name))


def lines(root: Path, found: Sequence[tuple[Advice, Evidence]]) -> Iterator[str]:
    """The advice for a person."""
    for row, seen in found:
        share = f"{100 * seen.cost / root.cost:.1f} %"
        yield (
            f"{row.name}: {row.says} ({share} of the kernel's time, {seen.calls:,} calls of "
            f"{seen.paths[0].function}, {seen.per_call:,.0f} ns each{_where(seen)}; {row.source})"
        )
        for what in CHANGES:
            if what in row.change:
                yield f"  {what}: {row.change[what]}"


def _where(seen: Evidence) -> str:
    """The phases in which most of it was."""
    costs: Counter[int] = Counter()
    for path in seen.paths:
        costs.update({each.phase: path.cost for each in path.above() if each.phase is not None})
    numbers = [str(phase) for phase, cost in sorted(costs.items()) if cost >= seen.cost * LEAST]
    phases = "phase" if len(numbers) == 1 else "phases"
    return f", in {phases} {', '.join(numbers)}" if numbers else ""


def _evidence(root: Path, function: str, below: str) -> Evidence:
    seen = Evidence()
    for path, _ in paths.matching(root, function, below):
        seen.calls += path.calls
        seen.cost += path.cost
        seen.waited += path.waited
        seen.paths.append(path)
    return seen


def _fits(root: Path, row: Advice, seen: Evidence) -> bool:
    conditions = [
        seen.calls >= row.calls,
        seen.cost >= root.cost * row.percent / 100,
        row.least_per_call <= seen.per_call <= row.most_per_call,
        seen.waited >= seen.cost * row.waiting_percent / 100,
    ]
    if row.per:
        conditions.append(seen.calls >= row.ratio * _evidence(root, row.per, "*").calls)
    return all(conditions)
