# SPDX-License-Identifier: GPL-2.0-or-later
"""The system calls that each interval made, and the markers that fired in it."""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from kadence.base import codec
from kadence.phases.artefact import document
from kadence.phases.describe.source import Firings
from kadence.phases.mark.candidates import candidates
from kadence.phases.view.subject import Subject
from kadence.profiler.format.profile import Profile


@dataclass(frozen=True)
class Marker:
    """A marker of a phase.

    `fires` counts how often the marker fired in each interval. `planned` is true if the marker
    comes from the plan.
    """

    phase: int
    place: str
    planned: bool
    fires: Firings


@dataclass(frozen=True)
class _Announcement:
    """A marker of the phases artefact or the plan: its phase and its place in the program."""

    phase: int
    kind: str
    function: str
    file: str
    loop: int | None
    line: int

    @classmethod
    def of(cls, marker: document.Marker) -> "_Announcement":
        return cls(*(getattr(marker, one.name) for one in fields(cls)))

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.kind, self.function, self.file, self.loop)

    @property
    def in_words(self) -> str:
        what = "entry of" if self.loop is None else "loop in"
        return f"{what} {self.function} ({self.file}:{self.line})"


def system_calls(profile: Profile) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The number of calls, and the bytes that they moved, per interval."""
    rows = len(profile.instructions)
    calls, moved = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    for entry in profile.system_calls:
        calls[entry.interval] += entry.count
        moved[entry.interval] += entry.bytes
    return calls, moved


def markers(subject: Subject) -> list[Marker]:
    """Returns the plan's markers or, without a plan, the best candidate of every phase."""
    wanted = {marker.identity: marker for marker in _chosen(subject)}
    if not wanted:
        return []
    found = [
        Marker(
            phase=wanted[identity].phase,
            place=wanted[identity].in_words,
            planned=subject.plan is not None,
            fires=candidate.fires,
        )
        for candidate in candidates(subject.profile)
        if (identity := (candidate.kind, candidate.function, candidate.file, candidate.loop))
        in wanted
    ]
    return sorted(found, key=lambda marker: (marker.phase, marker.place))


def _chosen(subject: Subject) -> list[_Announcement]:
    if subject.plan is not None:
        return codec.decode(list[_Announcement], subject.plan["markers"], "the plan's markers")
    best: dict[int, _Announcement] = {}
    for marker in subject.document.markers:
        best.setdefault(marker.phase, _Announcement.of(marker))
    return list(best.values())
