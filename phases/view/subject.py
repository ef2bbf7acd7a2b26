# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads the run to show: the phases artefact, the profile it was made from, and the plan, if any.

The artefact says which phase every interval is in. The profile has the distances, blocks and system
calls of every interval. Both are needed and must belong together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kadence.base import artefact
from kadence.base.errors import ArtefactError
from kadence.phases.artefact import document
from kadence.phases.artefact.document import Document
from kadence.phases.describe import kinds
from kadence.phases.find import ranks
from kadence.phases.find.matrix import TRANSITION
from kadence.phases.find.vectors import Normalised
from kadence.profiler.format.profile import Profile

PHASES_SUFFIX = ".phases.json"

KIND_NAMES = {
    kinds.COMPUTE: "compute",
    kinds.FILE_IO: "file I/O",
    kinds.SOCKET_IO: "socket I/O",
    kinds.UNSEEN: kinds.in_words(kinds.UNSEEN),
}
KIND_LABELS = KIND_NAMES | {kinds.UNSEEN: "unseen"}  # for places with little room

Body = dict[str, Any]


def kind_name(kind: str) -> str:
    """Returns the displayed name of a kind of phase; an unknown kind is returned unchanged."""
    return KIND_NAMES.get(kind, kind)


@dataclass(frozen=True)
class Part:
    """A part of the run as the page shows it: a phase, all transitions, or all waiting."""

    number: int
    weight: float
    kind: str  # the phase's kind as in the artefact, or "transition", or "waiting"
    colour: int  # the phase whose colour in the palette it has, or TRANSITION

    @property
    def is_transition(self) -> bool:
        return self.colour == TRANSITION

    @property
    def name(self) -> str:
        """The name in texts such as `interval 7 (phase 1, file I/O)`."""
        return self.kind if self.is_transition else f"phase {self.number}, {kind_name(self.kind)}"

    @property
    def label(self) -> str:
        """The short name that stands beside the diagonal."""
        if self.is_transition:
            return self.kind
        return f"{KIND_LABELS.get(self.kind, self.kind)} ({self.number})"


@dataclass(frozen=True)
class Subject:
    """A run with its phases."""

    name: str
    document: Document
    profile: Profile
    plan: Body | None
    normalised: Normalised
    assignment: npt.NDArray[np.int64]

    @property
    def intervals(self) -> int:
        return len(self.assignment)

    @property
    def kernel_seen(self) -> bool:
        """Whether the profiler recorded the run's system calls and memory."""
        return self.document.backend.kernel_seen

    @property
    def transitions(self) -> list[int]:
        """Intervals that belong to no phase."""
        return list(self.document.intervals.transitions)

    @property
    def waiting(self) -> list[int]:
        """Intervals in which a thread waited for another. They belong to no phase either."""
        return list(self.document.intervals.waiting)

    @property
    def shown(self) -> npt.NDArray[np.int64]:
        """The number of every interval's part: its phase, or the number of transitions or waiting.

        Transitions and waiting have the numbers after the last phase, as in `parts`.
        """
        shown = self.assignment.copy()
        phases = len(self.document.phases)
        shown[self.transitions] = phases
        shown[self.waiting] = phases + bool(self.transitions)
        return shown

    @property
    def parts(self) -> list[Part]:
        """The phases and, if there are any, transitions and waiting."""
        found = [
            Part(phase.number, phase.weight, phase.kind, phase.number)
            for phase in self.document.phases
        ]
        intervals = self.document.intervals
        if self.transitions:
            weight = intervals.transition_weight
            found.append(Part(len(found), weight, "transition", TRANSITION))
        if self.waiting:
            found.append(Part(len(found), intervals.waiting_weight, "waiting", TRANSITION))
        return found

    @property
    def representatives(self) -> list[int]:
        return [phase.representative for phase in self.document.phases]


def load(
    phases_path: Path, profile_path: Path | None = None, plan_path: Path | None = None
) -> Subject:
    """Read the phases artefact, and the profile and the plan: those named, or those beside it."""
    raw = artefact.read(phases_path, artefact.PHASES)
    checked = document.parse(raw, phases_path)
    build_id = document.build_id_of(raw, phases_path)
    paths = [profile_path] if profile_path else _profiles_of(phases_path, checked, raw)
    profile, _ = ranks.read(paths)
    _require_same_run(checked, build_id, profile, phases_path, paths[0])
    return Subject(
        name=stem(phases_path),
        document=checked,
        profile=profile,
        plan=_plan(phases_path, plan_path, len(checked.phases), build_id),
        normalised=Normalised.of(profile),
        assignment=np.array(checked.intervals.assignment, dtype=np.int64),
    )


def stem(phases_path: Path) -> str:
    """Returns `heat` for `heat.phases.json`."""
    return phases_path.name.removesuffix(PHASES_SUFFIX).removesuffix(".json")


def _profiles_of(phases_path: Path, checked: Document, raw: Body) -> list[Path]:
    """Returns the profiles of all ranks or, for a run without ranks, its one profile."""
    named = [Path(rank.profile) for rank in checked.ranks]
    if named:
        return [_found(phases_path, [phases_path.parent / path.name, path]) for path in named]
    command = raw["command"] if isinstance(raw.get("command"), list) else []
    others = [Path(str(word)) for word in command[2:3]]
    beside = [phases_path.parent / path.name for path in others]
    return [
        _found(phases_path, [phases_path.parent / f"{stem(phases_path)}.kprof"] + beside + others)
    ]


def _found(phases_path: Path, candidates: Sequence[Path]) -> Path:
    """Returns the first path that is a file."""
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise ArtefactError(
        f"{phases_path} has no profile {candidates[0].name} beside it; name it with --profile"
    )


def _require_same_run(
    checked: Document,
    build_id: str | None,
    profile: Profile,
    phases_path: Path,
    profile_path: Path,
) -> None:
    same_rows = list(checked.intervals.instructions) == profile.instructions.tolist()
    if not same_rows or build_id != profile.build_id:
        raise ArtefactError(
            f"{phases_path} was not made from {profile_path}; name the right one with --profile"
        )


@dataclass(frozen=True)
class _Plan:
    """The keys that a plan must have to be shown."""

    build_id: str | None
    policies: tuple[Body, ...]
    markers: tuple[Body, ...]


def _plan(
    phases_path: Path, plan_path: Path | None, phases: int, build_id: str | None
) -> Body | None:
    """Returns the plan that the user named, or the plan beside the artefact, or None.

    Raises ArtefactError if the plan was not made from these phases.
    """
    beside = phases_path.parent / f"{stem(phases_path)}.plan.json"
    if plan_path is None and not beside.is_file():
        return None
    path = plan_path or beside
    plan = artefact.read(path, artefact.PLAN)
    found = artefact.decode(_Plan, plan, str(path), "make it anew with `kadence plan`")
    if len(found.policies) != phases or found.build_id != build_id:
        raise ArtefactError(
            f"{path} was not made from {phases_path}; "
            "make it anew with `kadence plan`, or name another with --plan"
        )
    return plan
