# SPDX-License-Identifier: GPL-2.0-or-later
"""The ranks of a parallel program as one profile, so that phases are those of all of them.

Every rank is a process with a profile of its own. Their rows stand one rank after the other, over
a common table of blocks, with threads that no two ranks share. What finds phases in one long
profile without comparing all pairs (sampling.py) then finds them in all ranks together, and a
phase has the same number in each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.errors import ArtefactError
from kadence.profiler import kprof
from kadence.profiler.merging import coarsened
from kadence.profiler.profile import Profile
from kadence.profiler.ranks import merged


@dataclass(frozen=True)
class Rank:
    """Where a rank is in the profile of all."""

    path: Path
    program: tuple[str, ...]
    threads: tuple[int, ...]
    first_row: int
    intervals: int

    def described(self) -> dict[str, Any]:
        """As the phases artefact has it."""
        return {
            "profile": str(self.path),
            "program": list(self.program),
            "threads": list(self.threads),
            "first_row": self.first_row,
            "intervals": self.intervals,
        }


def read(paths: Sequence[Path]) -> tuple[Profile, list[Rank]]:
    """The profile of one program, of one rank or of many."""
    profiles = [kprof.read(path) for path in paths]
    for path, profile in zip(paths, profiles, strict=True):
        _require_same_build(paths[0], profiles[0], path, profile)
    profiles = _of_one_interval(paths, profiles)
    whole = profiles[0] if len(profiles) == 1 else merged(profiles)
    ranks, first_row = [], 0
    for path, profile in zip(paths, profiles, strict=True):
        intervals = len(profile.instructions)
        threads = dict.fromkeys(whole.thread[first_row : first_row + intervals].tolist())
        ranks.append(Rank(path, profile.argv, tuple(threads), first_row, intervals))
        first_row += intervals
    return whole, ranks


def _require_same_build(first_path: Path, first: Profile, path: Path, profile: Profile) -> None:
    if profile.build_id != first.build_id:
        raise ArtefactError(
            f"{first_path} and {path} are of different programs (build-ids {first.build_id} and "
            f"{profile.build_id}); ranks are profiles of one and the same build"
        )


def _of_one_interval(paths: Sequence[Path], profiles: Sequence[Profile]) -> list[Profile]:
    """The profiles with the longest of their intervals: a rank that runs longer has longer ones."""
    longest = max(range(len(profiles)), key=lambda number: profiles[number].interval)
    return [
        _with_interval_of((paths[longest], profiles[longest]), path, profile)
        for path, profile in zip(paths, profiles, strict=True)
    ]


def _with_interval_of(longest: tuple[Path, Profile], path: Path, profile: Profile) -> Profile:
    interval, unit = longest[1].interval, longest[1].unit
    if (profile.interval, profile.unit) == (interval, unit):
        return profile
    units = {unit, profile.unit}
    if units != {"instructions"} or profile.interval == 0 or interval % profile.interval:
        raise ArtefactError(
            f"{longest[0]} has intervals of {interval} {unit} and {path} of {profile.interval} "
            f"{profile.unit}; profile all ranks alike, with the same --interval"
        )
    return coarsened(profile, interval)
