# SPDX-License-Identifier: GPL-2.0-or-later
"""How well markers that were chosen on one input announce phases on another.

The plan's phases are those of the input it is made from. So the rows of the other input are
assigned to these phases, as an interval of the plan's own input would be. The markers must announce
the boundaries between them. The other input's own phases may be finer or coarser, depending on its
intervals and its weights; the plan does not use them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from kadence.phases.describe import marking
from kadence.phases.find import hierarchy, refinement, segmentation, vectors
from kadence.phases.find.hierarchy import Groups, Joining
from kadence.phases.find.segmentation import Segmentation
from kadence.phases.find.vectors import NormalisedRows
from kadence.phases.mark import markers
from kadence.phases.mark.candidate import Candidate
from kadence.phases.mark.candidates import candidates
from kadence.phases.mark.markers import PhaseJudge
from kadence.profiler.format.profile import Profile

Body = dict[str, Any]
PLACE = ("kind", "function", "file", "line", "loop")


@dataclass(frozen=True)
class Field:
    """The input on which markers are judged; `rows` are its rows over the common table."""

    profile: Profile
    own: Segmentation
    rows: NormalisedRows

    @cached_property
    def fired(self) -> dict[tuple[object, ...], Candidate]:
        """This input's firings at every place."""
        return {_place(candidate): candidate for candidate in candidates(self.profile)}

    def seen_from(
        self, representatives: sparse.csr_matrix, joinings: Sequence[Joining] = ()
    ) -> "View":
        """The input in the phases with these representatives, and in their joined phases.

        Rows that resemble none of them stay in this input's own phases, numbered after those.
        """
        everything = np.arange(self.rows.shape[0])
        nearest, distance = vectors.nearest(self.rows, everything, representatives)
        strange = distance >= refinement.STRANGER
        known = np.where(strange, representatives.shape[0] + self.own.assignment, nearest)
        known[strange & self.own.transition] = segmentation.UNKNOWN
        assignment = segmentation.continued(known, self.profile.thread)
        return View(
            self,
            replace(
                self.own,
                assignment=assignment,
                boundaries=segmentation.boundaries(self.profile.thread, assignment),
            ),
            representatives.shape[0],
            joinings,
        )


class View:
    """An input in the phases of another, `phases` in number, with their joinings."""

    def __init__(
        self, field: Field, seen: Segmentation, phases: int, joinings: Sequence[Joining]
    ) -> None:
        self.field, self.seen = field, seen
        self.phases, self.joinings = phases, joinings
        self.instructions = int(field.profile.instructions.sum())
        self.judges: dict[int, PhaseJudge] = {}

    def boundaries(self, joinings: int = 0) -> int:
        """Boundaries that need a marker, into any phase, after that many joinings."""
        seen = hierarchy.relabelled(self.seen, self._groups(joinings))
        return sum(
            len(markers.boundaries_into(seen.boundaries, int(phase)))
            for phase in np.unique(seen.assignment)
        )

    def _groups(self, joinings: int) -> Groups:
        most = int(self.seen.assignment.max()) + 1
        return hierarchy.groups_of(self.phases, self.joinings[:joinings], most)

    def judge(self, marker: Mapping[str, Any]) -> Body:
        """The marker's figures on this input."""
        place = tuple(marker[key] for key in PLACE)
        return {
            "phase": marker["phase"],
            **dict(zip(PLACE, place, strict=True)),
            **self._figures(self.field.fired.get(place), marker["phase"]),
        }

    def _figures(self, candidate: Candidate | None, phase: int) -> Body:
        fires = 0 if candidate is None else int(candidate.fires.sum())
        rate = round(marking.firings_per_second(fires, self.instructions), 3)
        known = {"fires": fires, "firings_per_second": rate}
        if not np.isin(self.seen.assignment, self._members(phase)).any():
            # The phase does not occur here, so every firing is false.
            return known | {"boundaries": 0, "announced": 0.0, "false": float(fires > 0)}
        if candidate is None:
            count = len(self._judge_of(phase).boundaries)
            return known | {"boundaries": count, "announced": 0.0, "false": 0.0}
        judged = self._judge_of(phase).judge(candidate)
        return known | {
            "boundaries": judged.boundaries,
            "announced": judged.announced,
            "false": judged.false,
        }

    def _judge_of(self, phase: int) -> PhaseJudge:
        if phase not in self.judges:
            groups = self._groups(max(phase + 1 - self.phases, 0))
            seen = hierarchy.relabelled(self.seen, groups)
            self.judges[phase] = PhaseJudge(self.field.profile, seen, phase)
        return self.judges[phase]

    def _members(self, phase: int) -> Sequence[int]:
        if phase < self.phases:
            return [phase]
        return self.joinings[phase - self.phases].members


def _place(candidate: Candidate) -> tuple[object, ...]:
    return tuple(getattr(candidate, key) for key in PLACE)
