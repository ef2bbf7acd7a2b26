# SPDX-License-Identifier: GPL-2.0-or-later
"""How markers that were chosen on one input do on another."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from kadence.phases import markers, marking
from kadence.phases.alignment import Families
from kadence.phases.candidates import Candidate, candidates
from kadence.phases.markers import PhaseJudge
from kadence.phases.segmentation import Segmentation
from kadence.profiler.profile import Profile

Body = dict[str, Any]
PLACE = ("kind", "function", "file", "line", "loop")


def partners(of: Families, on: Families) -> dict[int, int]:
    """Of the phases of one input those of another in the same family."""
    where = {int(family): phase for phase, family in enumerate(on)}
    return {phase: where[int(family)] for phase, family in enumerate(of) if int(family) in where}


def boundaries_into(segmentation: Segmentation, phase: int) -> npt.NDArray[np.int64]:
    """Rows of the boundaries that ask for a marker of the phase."""
    return markers.boundaries_into(segmentation.boundaries, phase)


class Field:
    """The input on which markers are judged."""

    def __init__(self, profile: Profile, segmentation: Segmentation) -> None:
        self.profile, self.segmentation = profile, segmentation
        self.instructions = int(profile.instructions.sum())
        self.fired = {_place(candidate): candidate for candidate in candidates(profile)}
        self.judges: dict[int, PhaseJudge] = {}

    def judge(self, marker: Mapping[str, Any], partner: Mapping[int, int]) -> Body:
        """The marker's figures here; its phase is called `partner[phase]` here, if it occurs."""
        place = tuple(marker[key] for key in PLACE)
        phase = partner.get(marker["phase"])
        return {
            "phase": marker["phase"],
            "partner": phase,
            **dict(zip(PLACE, place, strict=True)),
            **self._figures(self.fired.get(place), phase),
        }

    def _figures(self, candidate: Candidate | None, phase: int | None) -> Body:
        fires = 0 if candidate is None else int(candidate.fires.sum())
        rate = round(marking.firings_per_second(fires, self.instructions), 3)
        known = {"fires": fires, "firings_per_second": rate}
        if phase is None:
            # Whatever it announces here, it is not the phase it was chosen for.
            return known | {"boundaries": 0, "announced": 0.0, "false": float(fires > 0)}
        if candidate is None:
            count = len(boundaries_into(self.segmentation, phase))
            return known | {"boundaries": count, "announced": 0.0, "false": 0.0}
        judged = self._judge_of(phase).judge(candidate)
        return known | {
            "boundaries": judged.boundaries,
            "announced": judged.announced,
            "false": judged.false,
        }

    def _judge_of(self, phase: int) -> PhaseJudge:
        if phase not in self.judges:
            self.judges[phase] = PhaseJudge(self.profile, self.segmentation, phase)
        return self.judges[phase]


def _place(candidate: Candidate) -> tuple[object, ...]:
    return tuple(getattr(candidate, key) for key in PLACE)
