# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the ranks of a parallel program as one profile, so that they share phases.

Every rank is a process with a profile of its own. The combined profile holds the rows of one rank
after the other, over a common table of blocks; no two ranks share a thread number. Sampling, which
finds phases in a long profile without comparing all pairs (sampling.py), then finds them in all
ranks together. A phase has the same number in each rank.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.profiler import kprof
from kadence.profiler.combine.ranks import Identity, merged, of_one_interval, require_alike
from kadence.profiler.format.profile import Profile


@dataclass(frozen=True)
class Rank:
    """Where a rank is in the combined profile."""

    path: Path
    program: tuple[str, ...]
    threads: tuple[int, ...]
    first_row: int
    intervals: int

    def described(self) -> dict[str, Any]:
        """The entry in the phases artefact."""
        return {
            "profile": str(self.path),
            "program": list(self.program),
            "threads": list(self.threads),
            "first_row": self.first_row,
            "intervals": self.intervals,
        }


def read(paths: Sequence[Path]) -> tuple[Profile, list[Rank]]:
    """Read a program's profile: one file, or one for each rank."""
    profiles = [kprof.read(path) for path in paths]
    require_alike([Identity.of(str(path), one) for path, one in zip(paths, profiles, strict=True)])
    profiles = of_one_interval(profiles)
    whole = profiles[0] if len(profiles) == 1 else merged(profiles)
    ranks, first_row = [], 0
    for path, profile in zip(paths, profiles, strict=True):
        intervals = len(profile.instructions)
        threads = dict.fromkeys(whole.thread[first_row : first_row + intervals].tolist())
        ranks.append(Rank(path, profile.argv, tuple(threads), first_row, intervals))
        first_row += intervals
    return whole, ranks
