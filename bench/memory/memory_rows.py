# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables with several kernels side by side, in which single figures may have a goal."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench.base.rows import MISSED, Tally, aligned

MET = "met"


@dataclass(frozen=True)
class Cell:
    """A figure with its spread, and the most that it should be."""

    value: float
    low: float
    high: float
    goal: float | None = None
    digits: int = 0

    @classmethod
    def of(cls, samples: Sequence[float], goal: float | None = None, digits: int = 0) -> "Cell":
        return cls(statistics.median(samples), min(samples), max(samples), goal, digits)

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        return MET if self.value <= self.goal else MISSED

    def __str__(self) -> str:
        value, low, high = (
            f"{number:,.{self.digits}f}" for number in (self.value, self.low, self.high)
        )
        text = value if low == high else f"{value} ({low}-{high})"
        if self.goal is None:
            return text
        return f"{text} <= {self.goal:,.{self.digits}f} {self.verdict}"


@dataclass(frozen=True)
class Line:
    """A label, and a cell or a text for each column."""

    label: str
    cells: Sequence[Cell | str]


def table(names: Sequence[str], lines: Sequence[Line]) -> list[str]:
    """Returns lines of text with aligned columns."""
    columns = len(names)
    texts = [
        [line.label, *map(str, line.cells), *[""] * (columns - len(line.cells))] for line in lines
    ]
    return aligned([["", *names], *texts])


def tally(lines: Sequence[Line]) -> Tally:
    """Counts the goals, and collects the lines that missed theirs, with the title above them."""
    judged, missed, title = 0, [], ""
    for line in lines:
        title = title if line.cells else f"{line.label}: "
        verdicts = [cell.verdict for cell in line.cells if isinstance(cell, Cell) and cell.verdict]
        judged += len(verdicts)
        missed += [f"{title}{line.label.strip()}"] * verdicts.count(MISSED)
    return Tally(judged, tuple(missed))
