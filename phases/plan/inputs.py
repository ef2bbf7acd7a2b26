# SPDX-License-Identifier: GPL-2.0-or-later
"""What a comparison of inputs says to a plan that is made from one of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kadence.base import artefact
from kadence.base.errors import ArtefactError
from kadence.phases.artefact.document import Marker
from kadence.phases.compare.stability import DEPENDENT
from kadence.phases.describe import kinds
from kadence.phases.plan import common_sites
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


def read(path: Path, phases: Mapping[str, Any], phases_path: Path) -> Inputs:
    """Read a comparison; the input with these phases must be among those compared."""
    document = artefact.read(path, artefact.COMPARE)
    try:
        own = _position(document, phases)
        if own is not None and document["build_id"] == phases["build_id"]:
            return _inputs(document, own)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ArtefactError(
            f"{path} is damaged: {error!r}; make it anew with `kadence compare`"
        ) from error
    raise ArtefactError(
        f"{path} does not compare the profile of {phases_path}; make it anew with "
        "`kadence compare`, with that profile among the others"
    )


def _position(document: Mapping[str, Any], phases: Mapping[str, Any]) -> int | None:
    """The number of the compared input that has these phases."""
    looks = _looks(phases)
    found = (number for number, own in enumerate(document["inputs"]) if _looks(own) == looks)
    return next(found, None)


def _looks(described: Mapping[str, Any]) -> tuple[object, ...]:
    phases = tuple((phase["weight"], phase["representative"]) for phase in described["phases"])
    return (described["program"], described["interval"], described["intervals"], phases)


def _inputs(document: Mapping[str, Any], own: int) -> Inputs:
    return Inputs(
        verdict=str(document["verdict"]),
        unknown=float(document["unknown"]),
        allowed=float(document["allowed"]),
        others=tuple(
            _other(document, own, number)
            for number in range(len(document["inputs"]))
            if number != own
        ),
    )


def _other(document: Mapping[str, Any], own: int, number: int) -> OtherInput:
    described = document["inputs"][number]
    pairs = {(pair["of"], pair["against"]): pair for pair in document["pairs"]}
    strangers = pairs[number, own]["unknown_phases"]
    return OtherInput(
        program=tuple(described["program"]),
        boundaries=int(pairs[number, own]["boundaries"]),
        joined_boundaries=tuple(map(int, pairs[number, own].get("joined_boundaries", ()))),
        unknown=frozenset(int(phase) for phase in pairs[own, number]["unknown_phases"]),
        stranger=float(pairs[number, own]["unknown"]),
        stranger_kinds=tuple(str(described["phases"][phase]["kind"]) for phase in strangers),
        sites=common_sites.parse(described["sites"]),
        judged={
            tuple(entry[key] for key in ("phase", "kind", "function", "file", "loop")): Judged(
                int(entry["fires"]),
                float(entry["firings_per_second"]),
                int(entry["boundaries"]),
                float(entry["announced"]),
                float(entry["false"]),
            )
            for entry in document["markers"]
            if (entry["chosen_on"], entry["judged_on"]) == (own, number)
        },
    )
