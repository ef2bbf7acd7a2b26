# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the level of the phase hierarchy that markers can announce best.

The finest level has every phase, the next has two of them joined, and so on (hierarchy.py). At each
level the phases choose their markers anew (choice.py). The plan takes a level by these rules:

1. Policies come first. They depend on the kind of a phase. So a level is excluded if it has
   markers for fewer than 95 % as many changes of kind as the best level.
2. Of the remaining levels, the plan takes the one with the highest worth = announced x kept.
   `announced` is the share of the level's boundaries that markers announce. `kept` is the share
   of the distances between phases that the level keeps. Their product says how much of what a
   program's boundaries could tell the kernel reaches it. So having few boundaries is no
   advantage: where all phases are joined, nothing is kept, and the worth is 0.
3. Among equals, the plan takes the finest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kadence.phases.artefact.document import Boundary, Document, Marker, Phase
from kadence.phases.describe.marking import ANNOUNCED_AT_LEAST
from kadence.phases.find.hierarchy import Joining, groups_of
from kadence.phases.mark import choice

DIGITS = 6

Body = dict[str, Any]


@dataclass(frozen=True)
class Level:
    """The run in the phases that remain after the first joinings, and their markers."""

    joinings: tuple[Joining, ...]
    document: Document
    chosen: dict[int, Marker]

    @property
    def boundaries(self) -> int:
        """Boundaries that need a marker."""
        return self.document.boundaries_to_announce

    @property
    def announced(self) -> int:
        return sum(round(marker.announced * marker.boundaries) for marker in self.chosen.values())

    @property
    def kind_changes(self) -> int:
        return len(self._into_another_kind())

    @property
    def kind_changes_marked(self) -> int:
        """Changes of kind into a phase with a marker."""
        return sum(after in self.chosen for after in self._into_another_kind())

    @property
    def distance(self) -> float:
        return self.joinings[-1].distance if self.joinings else 0.0

    @property
    def kept(self) -> float:
        return self.joinings[-1].kept if self.joinings else 1.0

    @property
    def worth(self) -> float:
        return round(self.announced / self.boundaries * self.kept, DIGITS)

    def described(self) -> Body:
        """The entry in artefacts."""
        return {
            "phases": len(self.document.phases),
            "distance": round(self.distance, DIGITS),
            "boundaries": self.boundaries,
            "announced": self.announced,
            "kind_changes": self.kind_changes,
            "kind_changes_marked": self.kind_changes_marked,
            "kept": round(self.kept, DIGITS),
            "worth": self.worth,
        }

    def _into_another_kind(self) -> list[int]:
        kind = {phase.number: phase.kind for phase in self.document.phases}
        return [
            boundary.after
            for boundary in self.document.boundaries
            if boundary.before is not None and kind[boundary.before] != kind[boundary.after]
        ]


def of(document: Document) -> list[Level]:
    """All levels, the finest first."""
    found = []
    for count in range(len(document.hierarchy.joinings) + 1):
        joinings = document.hierarchy.joinings[:count]
        at_level = joined(document, joinings)
        found.append(Level(joinings, at_level, choice.choose(at_level)))
    return found


def taken(levels: Sequence[Level]) -> int:
    """The number of the level that a plan takes."""
    most = max(level.kind_changes_marked for level in levels)
    able = (
        number
        for number, level in enumerate(levels)
        if level.kind_changes_marked >= ANNOUNCED_AT_LEAST * most
    )
    return max(able, key=lambda number: (levels[number].worth, -number))


def why(level: Level, finest: Level) -> str:
    """Why this level is taken, with the figures."""
    if not level.document.hierarchy.joinings:
        return "no two phases may be joined"
    if not level.joinings:
        return f"the phases as they are, {_figures(level)}; joining them would gain nothing"
    if level.kind_changes_marked > finest.kind_changes_marked:
        changes = (
            f"; {level.kind_changes_marked} instead of {finest.kind_changes_marked} of "
            f"{level.kind_changes} changes of kind have a marker"
        )
    else:
        changes = ""
    return (
        f"the {len(finest.document.phases)} phases joined into {len(level.document.phases)}, up to "
        f"a distance of {level.distance:.2f}, {_figures(level)}; as they are, "
        f"{_figures(finest)}{changes}"
    )


def _figures(level: Level) -> str:
    return (
        f"{level.announced} of {level.boundaries} boundaries announced and {level.kept:.0%} of the "
        f"distances between phases kept (worth {level.worth:.2f})"
    )


def named(phases: Sequence[int]) -> str:
    """As in `phases 1, 4 and 5`."""
    *others, last = map(str, phases)
    return f"phases {', '.join(others)} and {last}" if others else f"phase {last}"


def joined(document: Document, joinings: Sequence[Joining]) -> Document:
    """Return the run after these joinings, as far as planning markers and quanta needs it.

    I/O and memory are planned by place, whatever the phase.
    """
    groups = groups_of(len(document.phases), joinings).tolist()
    # A joined phase has its first member's number, so that a plan uses only the phases' numbers.
    first = {group: phase for phase, group in reversed(list(enumerate(groups)))}
    name = [first[group] for group in groups]
    return replace(
        document,
        phases=tuple(
            _one([phase for phase in document.phases if name[phase.number] == number])
            for number in sorted(first.values())
        ),
        boundaries=tuple(
            Boundary(before, name[boundary.after])
            for boundary in document.boundaries
            if (before := None if boundary.before is None else name[boundary.before])
            != name[boundary.after]
        ),
        markers=tuple(
            replace(marker, phase=first[marker.judged_as])
            for marker in (*document.markers, *document.hierarchy.markers)
            if marker.judged_as in first
        ),
    )


def _one(phases: Sequence[Phase]) -> Phase:
    """Combine phases of one kind into one phase."""
    if len(phases) == 1:
        return phases[0]
    weight = sum(phase.weight for phase in phases)

    def mean(figure: str) -> float:
        total = sum(phase.weight * getattr(phase, figure) for phase in phases)
        return round(total / weight, 3) if weight else 0.0

    return replace(
        phases[0],
        members=tuple(phase.number for phase in phases),
        weight=weight,
        io_calls_per_million=mean("io_calls_per_million"),
        io_bytes_per_million=mean("io_bytes_per_million"),
    )
