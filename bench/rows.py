# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables that set a tailored kernel beside Debian's, with the goal of each line and its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass

from kadence.lab import Figure

MISSED = "MISSED"


@dataclass(frozen=True)
class Goal:
    """What a figure should be at most: a number, a share of Debian's figure, or nothing."""

    most: float | None = None
    share: float | None = None

    def limit(self, reference: float | None) -> float | None:
        """The number it comes to."""
        if self.most is not None:
            return self.most
        if self.share is None or reference is None:
            return None
        return self.share * reference


NO_GOAL = Goal()


@dataclass(frozen=True)
class Row:
    """One line: a figure on two kernels."""

    label: str
    reference: float | None
    value: float | None
    goal: Goal = NO_GOAL
    why_none: str = "n/a"  # what stands for a value that there is not
    digits: int = 0

    @property
    def limit(self) -> float | None:
        return self.goal.limit(self.reference)

    @property
    def verdict(self) -> str:
        if self.limit is None or self.value is None:
            return ""
        return "met" if self.value <= self.limit else MISSED

    def cells(self) -> list[str]:
        """Label, both figures, their ratio, the goal, the verdict."""
        ratio = ""
        if self.reference and self.value is not None:
            ratio = f"{self.value / self.reference:.2f}"
        limit = "" if self.limit is None else f"<= {self.limit:,.{self.digits}f}"
        return [
            self.label,
            self._text(self.reference, "-"),
            self._text(self.value, self.why_none),
            ratio,
            limit,
            self.verdict,
        ]

    def _text(self, value: float | None, otherwise: str) -> str:
        return otherwise if value is None else f"{value:,.{self.digits}f}"


def table(names: tuple[str, str], rows: Sequence[Row]) -> list[str]:
    """Lines of text, columns aligned."""
    cells = [["", *names, "ratio", "goal", ""], *(row.cells() for row in rows)]
    lines = aligned([line[:-1] for line in cells])
    return [f"{line}  {verdict}".rstrip() for line, (*_, verdict) in zip(lines, cells, strict=True)]


def aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    """Lines of text: the first column to the left, the others to the right."""
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    return [_line(line, widths) for line in cells]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = f"{cells[0]:<{widths[0]}}"
    rest = [f"{cell:>{width}}" for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "  ".join([first, *rest])


@dataclass(frozen=True)
class Tally:
    """How many goals there were, and which were missed."""

    judged: int = 0
    missed: tuple[str, ...] = ()

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.judged + other.judged, self.missed + other.missed)

    def __str__(self) -> str:
        if not self.missed:
            return f"{self.judged} goals, all met."
        return f"{self.judged} goals, {len(self.missed)} {MISSED}: {'; '.join(self.missed)}."


def tally(rows: Sequence[Row], title: str = "") -> Tally:
    """Of a table; the title goes before what was missed."""
    judged = [row for row in rows if row.verdict]
    missed = tuple(f"{title}{row.label}" for row in judged if row.verdict == MISSED)
    return Tally(len(judged), missed)


def summary(rows: Sequence[Row]) -> str:
    """How many goals there were, and which were missed."""
    return str(tally(rows))


def spread(figure: Figure) -> str:
    """A median with the lowest and the highest round."""
    if figure.median is None:
        return str(figure)
    return f"{figure.median:,.0f} ({figure.low:,.0f}-{figure.high:,.0f})"
