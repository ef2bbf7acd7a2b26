# SPDX-License-Identifier: GPL-2.0-or-later
"""The system calls that each interval made, and the markers that fired in it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kadence.phases.describe.source import Firings
from kadence.phases.mark.candidates import candidates
from kadence.phases.view.subject import Body, Subject
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
    wanted = {_identity(entry): entry for entry in _chosen(subject)}
    if not wanted:
        return []
    found = [
        Marker(
            phase=int(wanted[identity]["phase"]),
            place=_place(wanted[identity]),
            planned=subject.plan is not None,
            fires=candidate.fires,
        )
        for candidate in candidates(subject.profile)
        if (identity := (candidate.kind, candidate.function, candidate.file, candidate.loop))
        in wanted
    ]
    return sorted(found, key=lambda marker: (marker.phase, marker.place))


def _chosen(subject: Subject) -> list[Body]:
    if subject.plan is not None:
        return list(subject.plan["markers"])
    best: dict[int, Body] = {}
    for entry in subject.raw["markers"]:
        best.setdefault(entry["phase"], entry)
    return list(best.values())


def _identity(entry: Body) -> tuple[Any, ...]:
    return (entry["kind"], entry["function"], entry["file"], entry["loop"])


def _place(entry: Body) -> str:
    what = "entry of" if entry["loop"] is None else "loop in"
    return f"{what} {entry['function']} ({entry['file']}:{entry['line']})"
