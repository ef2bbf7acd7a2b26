# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of a tailored kernel beside Debian's, with the goal and the verdict of each line."""

from collections.abc import Sequence
from dataclasses import dataclass

from kadence.lab import Figure

MISSED = "MISSED"


@dataclass(frozen=True)
class Goal:
    """The most that a figure should be: a number, a share of Debian's figure, or no goal."""

    most: float | None = None
    share: float | None = None

    def limit(self, reference: float | None) -> float | None:
        """Returns the goal as a number, or None without a goal."""
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
    why_none: str = "n/a"  # the text for a missing value
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
        """Returns label, both figures, their ratio, the goal and the verdict."""
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
    """Returns lines of text with aligned columns."""
    cells = [["", *names, "ratio", "goal", ""], *(row.cells() for row in rows)]
    lines = aligned([line[:-1] for line in cells])
    return [f"{line}  {verdict}".rstrip() for line, (*_, verdict) in zip(lines, cells, strict=True)]


def aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    """Returns lines of text, the first column aligned to the left and the others to the right."""
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    return [_line(line, widths) for line in cells]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = f"{cells[0]:<{widths[0]}}"
    rest = [f"{cell:>{width}}" for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "  ".join([first, *rest])


@dataclass(frozen=True)
class Tally:
    """The number of goals, and the lines that missed theirs."""

    judged: int = 0
    missed: tuple[str, ...] = ()

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.judged + other.judged, self.missed + other.missed)

    def __str__(self) -> str:
        if not self.missed:
            return f"{self.judged} goals, all met."
        return f"{self.judged} goals, {len(self.missed)} {MISSED}: {'; '.join(self.missed)}."


def tally(rows: Sequence[Row], title: str = "") -> Tally:
    """Returns the tally of a table. The title is put before each missed line."""
    judged = [row for row in rows if row.verdict]
    missed = tuple(f"{title}{row.label}" for row in judged if row.verdict == MISSED)
    return Tally(len(judged), missed)


def summary(rows: Sequence[Row]) -> str:
    """Returns how many goals there were, and which were missed, as text."""
    return str(tally(rows))


def spread(figure: Figure) -> str:
    """Returns a median with the lowest and the highest round, as text."""
    if figure.median is None:
        return str(figure)
    return f"{figure.median:,.0f} ({figure.low:,.0f}-{figure.high:,.0f})"
