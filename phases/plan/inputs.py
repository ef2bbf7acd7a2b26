# SPDX-License-Identifier: GPL-2.0-or-later
"""What a comparison of inputs says to a plan that is made from one of them."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Annotated

from kadence.base import artefact
from kadence.base.codec import FLAT
from kadence.base.errors import ArtefactError
from kadence.phases.artefact.document import Document, Marker
from kadence.phases.compare.stability import DEPENDENT
from kadence.phases.describe import kinds
from kadence.phases.plan.common_sites import Sites


@dataclass(frozen=True)
class Judged:
    """A marker's figures on an input other than the one it was chosen on."""

    fires: int
    firings_per_second: float
    boundaries: int
    announced: float
    false: float


@dataclass(frozen=True)
class OtherInput:
    """An input that the plan is not made from."""

    program: tuple[str, ...]
    boundaries: int  # into any phase of the plan
    joined_boundaries: tuple[int, ...]  # after each joining
    judged: Mapping[tuple[object, ...], Judged]  # by hierarchy number and place
    unknown: frozenset[int]  # phases of the plan that it lacks
    stranger: float  # share of instructions in phases that the plan lacks
    stranger_kinds: tuple[str, ...]  # of those phases
    sites: Sites

    def of(self, marker: Marker) -> Judged:
        return self.judged[marker.judged_as, *marker.place]

    def after(self, joinings: int) -> "OtherInput":
        """Return this input, with the boundaries left after that many joinings of the plan's."""
        if joinings == 0:
            return self
        if joinings > len(self.joined_boundaries):
            raise ArtefactError(
                "the comparison does not know the joined phases that the plan takes; make it anew "
                "with `kadence compare`"
            )
        return replace(self, boundaries=self.joined_boundaries[joinings - 1])

    @property
    def name(self) -> str:
        """For a sentence. The same command may still have read another standard input."""
        named = f" (`{' '.join(self.program)}`)" if self.program else ""
        return f"another input{named}"

    @property
    def brings_io(self) -> bool:
        """Whether it does I/O in phases that nothing in the plan announces."""
        return any(kind == kinds.UNSEEN or kinds.does_io(kind) for kind in self.stranger_kinds)


@dataclass(frozen=True)
class Inputs:
    """All inputs that the program was compared on."""

    verdict: str
    unknown: float
    allowed: float
    others: tuple[OtherInput, ...]
    forced: bool = False  # plan as if they were alike

    @property
    def reduce(self) -> bool:
        """Whether the plan is to hold only what the inputs have in common."""
        return self.verdict == DEPENDENT and not self.forced

    def at_level(self, joinings: int) -> "Inputs":
        """The inputs in the phases that are left after that many joinings."""
        return replace(self, others=tuple(other.after(joinings) for other in self.others))


# ---- the artefact --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Phase:
    weight: float
    representative: int
    kind: str


@dataclass(frozen=True)
class _Input:
    program: tuple[str, ...]
    interval: int
    intervals: int
    phases: tuple[_Phase, ...]
    sites: Sites

    def is_of(self, document: Document) -> bool:
        """Whether the phases are those of this input."""
        own = [(phase.weight, phase.representative) for phase in self.phases]
        return (self.program, self.interval, self.intervals, own) == (
            document.program,
            document.interval,
            len(document.intervals.assignment),
            [(phase.weight, phase.representative) for phase in document.phases],
        )


@dataclass(frozen=True)
class _Pair:
    """One input, seen in the phases of another."""

    of: int
    against: int
    unknown: float
    unknown_phases: tuple[int, ...]
    boundaries: int
    joined_boundaries: tuple[int, ...]


@dataclass(frozen=True)
class _Place:
    """A marker's key: the number of its hierarchy's phase, and its place in the program."""

    phase: int
    kind: str
    function: str
    file: str
    loop: int | None


@dataclass(frozen=True)
class _Judgement:
    chosen_on: int
    judged_on: int
    place: Annotated[_Place, FLAT]
    judged: Annotated[Judged, FLAT]


@dataclass(frozen=True)
class _Comparison:
    build_id: str | None
    verdict: str
    unknown: float
    allowed: float
    inputs: tuple[_Input, ...]
    pairs: tuple[_Pair, ...]
    markers: tuple[_Judgement, ...]

    def pair(self, of: int, against: int) -> _Pair:
        return next(each for each in self.pairs if (each.of, each.against) == (of, against))


def read(path: Path, document: Document, build_id: str | None, phases_path: Path) -> Inputs:
    """Read a comparison; the input with these phases must be among those compared."""
    remedy = "make it anew with `kadence compare`"
    found = artefact.load(_Comparison, path, artefact.COMPARE, remedy)
    _check(found, path, remedy)
    own = next((n for n, each in enumerate(found.inputs) if each.is_of(document)), None)
    if own is None or found.build_id != build_id:
        raise ArtefactError(
            f"{path} does not compare the profile of {phases_path}; {remedy}, with that profile "
            "among the others"
        )
    numbers = (number for number in range(len(found.inputs)) if number != own)
    others = tuple(_other(found, own, number) for number in numbers)
    return Inputs(found.verdict, found.unknown, found.allowed, others)


def _check(found: _Comparison, path: Path, remedy: str) -> None:
    """Require each pair of inputs once, and only phases that the inputs have."""
    expected = sorted(permutations(range(len(found.inputs)), 2))
    fits = sorted((pair.of, pair.against) for pair in found.pairs) == expected and all(
        0 <= phase < len(found.inputs[pair.of].phases)
        for pair in found.pairs
        for phase in pair.unknown_phases
    )
    if not fits:
        raise ArtefactError(f"{path} is damaged: its pairs do not fit its inputs; {remedy}")


def _other(found: _Comparison, own: int, number: int) -> OtherInput:
    described, seen = found.inputs[number], found.pair(number, own)
    return OtherInput(
        program=described.program,
        boundaries=seen.boundaries,
        joined_boundaries=seen.joined_boundaries,
        unknown=frozenset(found.pair(own, number).unknown_phases),
        stranger=seen.unknown,
        stranger_kinds=tuple(described.phases[phase].kind for phase in seen.unknown_phases),
        sites=described.sites,
        judged={
            astuple(each.place): each.judged
            for each in found.markers
            if (each.chosen_on, each.judged_on) == (own, number)
        },
    )
