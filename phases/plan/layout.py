# SPDX-License-Identifier: GPL-2.0-or-later
"""How often the program's blocks ran, from which the compiler lays out its code.

The compiler plugin gives the counts to GCC, as if GCC had counted for -fprofile-use. Only a profile
that the program recorded itself has them: its blocks are those that the plugin names.
"""

import functools
import statistics
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kadence.base.errors import UsageError
from kadence.profiler import kprof
from kadence.profiler.format.profile import COMPILED, Profile, backend_of

COUNTS, OFF = "counts", "off"
MODES = (COUNTS, OFF)

# Of the profile's instructions that counted functions must have.
LEAST_SHARE = 0.5

GAINS = Path(__file__).with_name("layout_gains.toml")

# function, file, checksum
Name = tuple[str, str, str]
Body = dict[str, Any]


@dataclass(frozen=True)
class Layout:
    """The counts of functions, by the index of a block in its function's graph."""

    functions: dict[Name, dict[int, int]]
    share: float  # of the profile's instructions

    def predicted(self) -> Body:
        """The time that this saves, in percent: what the measured programs saved.

        Neither how often the code branches nor its size tells them apart: zstd has as
        short blocks as sqlite3 and mawk. So every program has the same prediction, by its share.
        """
        gains = sorted(_gains().values())
        range_of = {"median": statistics.median(gains), "least": gains[0], "most": gains[-1]}
        shares = {name: round(self.share * gain, 1) for name, gain in range_of.items()}
        return {"programs": len(gains), **shares}

    def described(self) -> Body:
        """The member of the plan. A function's counts are one text, which a line can hold."""
        return {
            "share": round(self.share, 4),
            "predicted": self.predicted(),
            "functions": [
                {
                    "function": function,
                    "file": file,
                    "cfg_checksum": checksum,
                    "counts": " ".join(f"{at}:{count}" for at, count in sorted(counts.items())),
                }
                for (function, file, checksum), counts in sorted(self.functions.items())
            ],
        }


def read(path: Path) -> Layout:
    """Read the counts of a profile; raises UsageError if they say nothing of the code's layout."""
    profile = kprof.read(path)
    if profile.backend != COMPILED:
        raise UsageError(
            f"{path} was recorded {backend_of(profile.backend).recorded}, which knows no blocks of "
            "the compiler; build the program with KADENCE_MODE=profile, and profile that"
        )
    found = of_profile(profile)
    if found.share < LEAST_SHARE:
        raise UsageError(
            f"only {found.share:.1%} of the instructions in {path} are in code that a wrapper "
            "compiled, and the rest cannot be laid out; build more of the program with the wrappers"
        )
    return found


def told(described: Body) -> str:
    """A line about the plan's member."""
    functions = described["functions"]
    blocks = sum(len(function["counts"].split()) for function in functions)
    predicted = described["predicted"]
    return (
        f"layout: by the counts of {len(functions):,} functions and {blocks:,} blocks, with "
        f"{described['share']:.1%} of the instructions; saves some {predicted['median']} % of the "
        f"time ({predicted['least']} to {predicted['most']} in {predicted['programs']} programs)"
    )


def of_profile(profile: Profile) -> Layout:
    """Gather the counts by function."""
    functions: dict[Name, dict[int, int]] = defaultdict(dict)
    for one in profile.layout_counts:
        functions[one.function, one.file, one.checksum][one.index] = one.count
    return Layout(dict(functions), _share_of_compiled(profile))


@functools.cache
def _gains() -> dict[str, float]:
    """Time that programs saved, in percent."""
    found: dict[str, float] = tomllib.loads(GAINS.read_text(encoding="utf-8"))["percent"]
    return found


def _share_of_compiled(profile: Profile) -> float:
    """The share of the instructions in blocks that a wrapper compiled."""
    ran = np.asarray(profile.vectors.tocsr().sum(axis=0), dtype=np.float64).ravel()
    compiled = np.array([bool(block.checksum) for block in profile.blocks], dtype=bool)
    return float(ran[compiled].sum()) / (float(ran.sum()) or 1.0)
