# SPDX-License-Identifier: GPL-2.0-or-later
"""Which places of the program announce which phase, and how well.

A good marker of a phase fires at every boundary into it and nowhere else. Firing again inside
the phase is harmless: announcing the phase that a task is already in costs next to nothing.
Firing inside another phase does harm, because that phase would then run under the wrong policy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadence.phases.describe.marking import acceptable, affordable
from kadence.phases.describe.source import Firings
from kadence.phases.find.hierarchy import Joining, groups_of, relabelled
from kadence.phases.find.segmentation import Boundary, Mask, Segmentation, same_thread_as_before
from kadence.phases.mark.candidate import Candidate
from kadence.phases.mark.candidates import candidates
from kadence.profiler.format.profile import Profile

# Firings in other phases at less than this part of the rate in the marker's own phase are ignored.
# They show there only because an interval holds the end of one phase and the start of another.
TAIL_RATE = 0.5
KEPT_PER_PHASE = 8


@dataclass(frozen=True)
class Marker:
    """A candidate judged as the marker of one phase."""

    phase: int
    place: Candidate
    fires: int
    boundaries: int  # into the phase
    announced: float  # share of boundaries with a firing within one interval
    false: float  # share of firings neither inside the phase nor just before
    intrudes: float  # share of visits to other phases with such firings
    affordable: bool  # within the budget


def find_markers(
    profile: Profile, segmentation: Segmentation, joinings: Sequence[Joining] = ()
) -> list[Marker]:
    """The best candidates for every phase and joined phase, best first within a phase."""
    phases = range(len(segmentation.representatives))
    judges = [PhaseJudge(profile, segmentation, phase) for phase in phases]
    judges += [
        _judge_of_joined(profile, segmentation, len(phases), joinings[:last])
        for last in range(1, len(joinings) + 1)
    ]
    best: list[list[Marker]] = [[] for _ in judges]
    for candidate in candidates(profile):
        for judge, ranking in zip(judges, best, strict=True):
            marker = judge.judge(candidate)
            if marker.announced > 0:
                ranking.append(marker)
        # Firings are as long as the profile, so hopeless candidates are dropped early.
        if max(map(len, best)) > 8 * KEPT_PER_PHASE:
            best = [_best(ranking) for ranking in best]
    return [marker for ranking in best for marker in _best(ranking)]


def _judge_of_joined(
    profile: Profile, segmentation: Segmentation, phases: int, joinings: Sequence[Joining]
) -> "PhaseJudge":
    """Return the judge of the phase that the last of these joinings made.

    Later joinings change neither a phase's boundaries nor the rows outside it. So one judgement of
    each phase serves all levels. Only `intrudes` could differ, because later joinings merge
    visits to other phases.
    """
    joined = relabelled(segmentation, groups_of(phases, joinings))
    return PhaseJudge(profile, joined, joinings[-1].number)


def _best(ranking: Sequence[Marker]) -> list[Marker]:
    return sorted(ranking, key=_rank)[:KEPT_PER_PHASE]


def _rank(marker: Marker) -> tuple[object, ...]:
    """Usable markers come first, then better quality in steps of a twentieth, then fewer firings.

    Among equals, counted places precede estimated ones. Then the place that the run reached first
    wins: of a function and its callee, the function.
    """
    quality = marker.announced * (1 - marker.false) * (1 - marker.intrudes)
    place = marker.place
    return (
        not (marker.affordable and acceptable(marker.announced, marker.false, marker.intrudes)),
        -round(20 * quality),
        marker.fires,
        not place.exact,
        place.order,
        place.kind,
        place.file,
        place.line,
        place.function,
    )


class PhaseJudge:
    """Judges candidates as markers of one phase."""

    def __init__(self, profile: Profile, segmentation: Segmentation, phase: int) -> None:
        self.phase = phase
        self.same = same_thread_as_before(profile.thread)
        self.inside: Mask = segmentation.assignment == phase
        self.boundaries = boundaries_into(segmentation.boundaries, phase)
        self.instructions = profile.instructions
        before_phase = np.zeros_like(self.inside)
        before_phase[:-1] = self.inside[1:] & self.same[1:]
        self.wrong: Mask = ~self.inside & ~before_phase
        self.visit_of_row, self.other_visits = self._visits_elsewhere(segmentation)

    def judge(self, candidate: Candidate) -> Marker:
        total = candidate.fires.sum()
        false = candidate.fires[self.wrong].sum() / total if total else 0.0
        return Marker(
            self.phase,
            candidate,
            int(total),
            len(self.boundaries),
            round(self._announced(candidate.fires > 0), 4),
            round(float(false), 4),
            round(self._intrudes(candidate.fires), 4),
            affordable(int(total), int(self.instructions.sum())),
        )

    def _visits_elsewhere(self, segmentation: Segmentation) -> tuple[npt.NDArray[np.int32], int]:
        """Number the visits and count those to other phases; numbers in this phase are unused."""
        first = np.zeros(len(self.inside), dtype=np.bool_)
        first[[boundary.row for boundary in segmentation.boundaries]] = True
        return np.cumsum(first, dtype=np.int32) - 1, int((first & ~self.inside).sum())

    def _announced(self, fired: Mask) -> float:
        if len(self.boundaries) == 0:
            return 0.0
        near = fired.copy()
        near[1:] |= fired[:-1] & self.same[1:]
        near[:-1] |= fired[1:] & self.same[1:]
        return float(near[self.boundaries].mean())

    def _intrudes(self, fires: Firings) -> float:
        if self.other_visits == 0 or not self.wrong.any():
            return 0.0
        rate_inside = fires[self.inside].sum() / self.instructions[self.inside].sum()
        rate_wrong = fires[self.wrong].sum() / max(self.instructions[self.wrong].sum(), 1.0)
        if rate_wrong <= TAIL_RATE * rate_inside:
            return 0.0
        disturbed = np.unique(self.visit_of_row[self.wrong & (fires > 0)])
        return len(disturbed) / self.other_visits


def boundaries_into(boundaries: Sequence[Boundary], phase: int) -> npt.NDArray[np.int64]:
    """Rows of the boundaries into the phase.

    The beginning of the run counts only if no other boundary leads into the phase. Until the
    first marker fires, the kernel's defaults hold, and these are never wrong.
    """
    into = [boundary.row for boundary in boundaries if boundary.after == phase]
    return np.array([row for row in into if row > 0] or into, dtype=np.int64)
