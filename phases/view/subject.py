# SPDX-License-Identifier: GPL-2.0-or-later
"""What is shown: the phases artefact, the profile it was made from and the plan, if any.

The artefact says which phase every interval is in; distances, blocks and system calls per
interval are in the profile, so both are needed and must belong together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kadence import artefact
from kadence.errors import ArtefactError
from kadence.phases import document, kinds, ranks
from kadence.phases.document import Document
from kadence.phases.matrix import TRANSITION
from kadence.phases.vectors import Normalised
from kadence.profiler.profile import Profile

PHASES_SUFFIX = ".phases.json"

KIND_NAMES = {
    kinds.COMPUTE: "compute",
    kinds.FILE_IO: "file I/O",
    kinds.SOCKET_IO: "socket I/O",
    kinds.UNSEEN: kinds.in_words(kinds.UNSEEN),
}
KIND_LABELS = KIND_NAMES | {kinds.UNSEEN: "unseen"}  # where there is little room

Body = dict[str, Any]


def kind_name(kind: str) -> str:
    """What a kind of phase is called; one that has no other name, as it is."""
    return KIND_NAMES.get(kind, kind)


@dataclass(frozen=True)
class Part:
    """A phase, or the transitions, or where threads waited, as it is shown."""

    number: int
    weight: float
    kind: str  # as the artefact has it, or "transition", or "waiting"
    colour: int  # whose of the palette

    @property
    def is_transition(self) -> bool:
        return self.colour == TRANSITION

    @property
    def name(self) -> str:
        """As in `interval 7 (phase 1, file I/O)`."""
        return self.kind if self.is_transition else f"phase {self.number}, {kind_name(self.kind)}"

    @property
    def label(self) -> str:
        """As beside the diagonal."""
        if self.is_transition:
            return self.kind
        return f"{KIND_LABELS.get(self.kind, self.kind)} ({self.number})"


@dataclass(frozen=True)
class Subject:
    """A run with its phases. `raw` is the artefact as read, `document` what of it was checked."""

    name: str
    raw: Body
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
        """Whether somebody looked at its system calls and its memory."""
        return self.document.backend.kernel_seen

    @property
    def transitions(self) -> list[int]:
        """Intervals that are in no phase."""
        return [int(row) for row in self.raw["transitions"]]

    @property
    def waiting(self) -> list[int]:
        """Intervals in which a thread waited for another, which are in none either."""
        return [int(row) for row in self.raw.get("waiting", ())]

    @property
    def shown(self) -> npt.NDArray[np.int64]:
        """The part of every interval: its phase or, after all phases, transitions and waiting."""
        shown = self.assignment.copy()
        phases = len(self.raw["phases"])
        shown[self.transitions] = phases
        shown[self.waiting] = phases + bool(self.transitions)
        return shown

    @property
    def parts(self) -> list[Part]:
        """The phases and, if there are any, transitions and waiting."""
        found = [
            Part(phase["id"], phase["weight"], phase["kind"], phase["id"])
            for phase in self.raw["phases"]
        ]
        if self.transitions:
            weight = self.raw["transition_weight"]
            found.append(Part(len(found), weight, "transition", TRANSITION))
        if self.waiting:
            found.append(Part(len(found), self.raw["waiting_weight"], "waiting", TRANSITION))
        return found

    @property
    def representatives(self) -> list[int]:
        return [int(phase["representative"]) for phase in self.raw["phases"]]


def load(
    phases_path: Path, profile_path: Path | None = None, plan_path: Path | None = None
) -> Subject:
    """Read what `phases_path` names, with the profile and the plan that lie beside it."""
    raw = artefact.read(phases_path, artefact.PHASES)
    checked = document.parse(raw, phases_path)
    paths = [profile_path] if profile_path else _profiles_of(phases_path, raw)
    profile, _ = ranks.read(paths)
    _require_same_run(raw, profile, phases_path, paths[0])
    return Subject(
        name=stem(phases_path),
        raw=raw,
        document=checked,
        profile=profile,
        plan=_plan(phases_path, plan_path, raw),
        normalised=Normalised.of(profile),
        assignment=np.array(raw["assignment"], dtype=np.int64),
    )


def stem(phases_path: Path) -> str:
    """`heat` of `heat.phases.json`."""
    return phases_path.name.removesuffix(PHASES_SUFFIX).removesuffix(".json")


def _profiles_of(phases_path: Path, raw: Body) -> list[Path]:
    """The profiles of all ranks or, of a run that has none, its one."""
    try:
        named = [Path(str(rank["profile"])) for rank in raw.get("ranks", [])]
    except (KeyError, TypeError) as error:
        raise ArtefactError(
            f"{phases_path} is damaged ({error}); make it anew with `kadence phases`"
        ) from error
    if named:
        return [_found(phases_path, [phases_path.parent / path.name, path]) for path in named]
    command = raw["command"] if isinstance(raw.get("command"), list) else []
    others = [Path(str(word)) for word in command[2:3]]
    beside = [phases_path.parent / path.name for path in others]
    return [
        _found(phases_path, [phases_path.parent / f"{stem(phases_path)}.kprof"] + beside + others)
    ]


def _found(phases_path: Path, candidates: Sequence[Path]) -> Path:
    """The first that is there."""
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise ArtefactError(
        f"{phases_path} has no profile {candidates[0].name} beside it; name it with --profile"
    )


def _require_same_run(raw: Body, profile: Profile, phases_path: Path, profile_path: Path) -> None:
    try:
        rows = len(raw["assignment"])
        same = (
            raw["instructions"] == profile.instructions.tolist()
            and rows == len(profile.instructions)
            and raw["build_id"] == profile.build_id
            and all(0 <= number < len(raw["phases"]) for number in raw["assignment"])
            and all(0 <= phase["representative"] < rows for phase in raw["phases"])
            and all(0 <= row < rows for row in (*raw["transitions"], *raw.get("waiting", ())))
        )
    except (KeyError, TypeError) as error:
        raise ArtefactError(
            f"{phases_path} is damaged ({error}); make it anew with `kadence phases`"
        ) from error
    if not same:
        raise ArtefactError(
            f"{phases_path} was not made from {profile_path}; name the right one with --profile"
        )


def _plan(phases_path: Path, plan_path: Path | None, raw: Body) -> Body | None:
    """The plan that was named or lies beside; one of another program is not this one's."""
    beside = phases_path.parent / f"{stem(phases_path)}.plan.json"
    if plan_path is None and not beside.is_file():
        return None
    plan = artefact.read(plan_path or beside, artefact.PLAN)
    policies = plan.get("policies")
    fits = isinstance(policies, list) and len(policies) == len(raw["phases"])
    if not fits or plan["build_id"] != raw["build_id"]:
        raise ArtefactError(
            f"{plan_path or beside} was not made from {phases_path}; "
            "make it anew with `kadence plan`, or name another with --plan"
        )
    return plan
