# SPDX-License-Identifier: GPL-2.0-or-later
"""What a comparison of inputs tells a plan that is made from one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence import artefact
from kadence.errors import ArtefactError, PlanError
from kadence.phases.document import Marker
from kadence.phases.stability import DEPENDENT


@dataclass(frozen=True)
class Judged:
    """A marker on another input than it was chosen on."""

    fires: int
    firings_per_second: float
    boundaries: int
    announced: float
    false: float


@dataclass(frozen=True)
class OtherInput:
    """An input that the plan is not made from."""

    program: tuple[str, ...]
    boundaries: int  # into any phase, as the input that the plan is made from knows them
    judged: Mapping[tuple[object, ...], Judged]  # by phase and place

    def of(self, marker: Marker) -> Judged:
        return self.judged[marker.phase, *marker.place]


@dataclass(frozen=True)
class Inputs:
    """All inputs that the program was compared on."""

    verdict: str
    unknown: float
    allowed: float
    others: tuple[OtherInput, ...]


def read(path: Path, phases: Mapping[str, Any], phases_path: Path) -> Inputs:
    """Read a comparison of which the input with these phases is one."""
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


def require_stable(inputs: Inputs, path: Path) -> None:
    """Refuse to plan for a program that does something else on another input."""
    if inputs.verdict == DEPENDENT:
        raise PlanError(
            f"{path} calls the program {DEPENDENT}: {inputs.unknown:.1%} of an input's "
            f"instructions are in phases that another does not know, {inputs.allowed:.0%} are "
            "allowed, so a plan made from one input would be tuned to an accident; profile what "
            "the job will run, or plan with --force"
        )


def _position(document: Mapping[str, Any], phases: Mapping[str, Any]) -> int | None:
    """Which of the compared inputs these are the phases of."""
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
    return OtherInput(
        program=tuple(described["program"]),
        boundaries=int(pairs[number, own]["boundaries"]),
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
