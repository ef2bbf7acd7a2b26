# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the distance between the intervals of fast mode and those of exact mode.

In every round each loop program runs twice in each mode, in turn. The profiles' rows are shorter
than the intervals that are compared. Each interval lies between the same multiples of the
instructions that a thread has executed. The counts at a multiple are interpolated between the ends
of the rows around it.

The distance of two runs in the same mode is the method's own error, so smaller distances cannot be
measured. The distance of whole runs comes from blocks that fast mode lost. Any distance above that
comes from rounds of loops that were counted in another interval. Rows end equally late for every
interval length, so the bench also compares intervals ten times as long, where lateness has a tenth
of the effect. On a busy machine rows end so late that the method's own error hides everything.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.base import suite
from bench.base.rows import MISSED, aligned
from bench.base.suite import Subject, Suite
from bench.profiler.profiler_ways import EXACT, FAST, settings
from kadence.base import resources
from kadence.base.errors import KadenceError, ToolError
from kadence.profiler import kprof
from kadence.profiler.format.profile import Profile

ROW = 200_000
INTERVALS = (10_000_000, 100_000_000)  # instructions: 2 to 5 ms, 20 to 50 ms
TARGET = 0.01
NAMES = ("heat", "lu", "fft", "cg", "water")

Name = tuple[str, str, int | None]
Columns = Mapping[Name, int]
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Distances:
    """The Manhattan distances of normalised vectors in two runs."""

    mean: float  # over the intervals
    whole: float  # of the whole runs
    intervals: int


def profiled(programs: Suite, subject: Subject, variant: str, output: Path) -> Profile:
    command = programs.command(subject, variant)
    environment = {
        **os.environ,
        **subject.environment,
        "KADENCE_PROFILE_OUTPUT": str(output),
        "KADENCE_PROFILE_INTERVAL": f"{ROW}i",
    }
    done = subprocess.run(
        command, cwd=output.parent, env=environment, stdout=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        raise ToolError(f"{' '.join(command)} ended with status {done.returncode}")
    return kprof.read(output)


def columns_of(profiles: Sequence[Profile]) -> Columns:
    found: dict[Name, int] = {}
    for profile in profiles:
        for block in profile.blocks:
            found.setdefault((block.function, block.checksum, block.index), len(found))
    return found


def intervals(profile: Profile, thread: int, columns: Columns, length: int) -> Matrix:
    """Returns the thread's normalised vectors between multiples of `length` instructions."""
    rows = profile.vectors.tocsr()[np.flatnonzero(profile.thread == thread)].toarray()
    ran = np.zeros((len(rows) + 1, len(columns)))
    place = [columns[block.function, block.checksum, block.index] for block in profile.blocks]
    ran[1:, place] = np.cumsum(rows, axis=0)
    ends = ran.sum(axis=1)
    multiples = np.arange(0, ends[-1], length)
    until = np.column_stack([np.interp(multiples, ends, column) for column in ran.T])
    vectors = np.diff(until, axis=0)
    return np.asarray(vectors / vectors.sum(axis=1, keepdims=True))


def distances(one: Profile, other: Profile, length: int) -> Distances:
    columns = columns_of((one, other))
    found = []
    for thread in sorted({*one.thread.tolist()} & {*other.thread.tolist()}):
        first, second = (intervals(profile, thread, columns, length) for profile in (one, other))
        common = min(len(first), len(second))
        found.append(np.abs(first[:common] - second[:common]).sum(axis=1))
    every = np.concatenate(found)
    whole = np.abs(np.subtract(*(normalised_total(run, columns) for run in (one, other)))).sum()
    return Distances(float(every.mean()), float(whole), len(every))


def normalised_total(profile: Profile, columns: Columns) -> Matrix:
    total = np.zeros(len(columns))
    for block, ran in zip(profile.blocks, profile.vectors.tocsr().sum(axis=0), strict=True):
        total[columns[block.function, block.checksum, block.index]] += ran
    return np.asarray(total / total.sum())


@dataclass(frozen=True)
class Compared:
    """The distances in one program's rounds, for intervals of one length."""

    found: list[Distances]  # of a fast run from an exact one
    fast: list[Distances]  # of two fast runs
    exact: list[Distances]  # of two exact runs

    def cells(self) -> list[str]:
        means = [one.mean for one in self.found]
        verdict = "met" if np.median(means) <= TARGET else MISSED
        return [
            _spread(means),
            f"{np.median([one.whole for one in self.found]):.4f}",
            _spread([one.mean for one in self.fast]),
            _spread([one.mean for one in self.exact]),
            str(self.found[0].intervals),
            verdict,
        ]


def _spread(values: Sequence[float]) -> str:
    return f"{np.median(values):.4f} ({min(values):.4f} to {max(values):.4f})"


def compared(
    programs: Suite, subject: Subject, folder: Path, rounds: int
) -> Mapping[int, Compared]:
    """Returns a program's distances by the intervals' length."""
    for variant in (FAST, EXACT):
        programs.build(subject, variant, settings(variant))
    every = {length: Compared([], [], []) for length in INTERVALS}
    for _ in range(rounds):
        runs = [
            profiled(programs, subject, variant, folder / f"{number}.kprof")
            for number, variant in enumerate((FAST, EXACT, FAST, EXACT))
        ]
        for length, one in every.items():
            one.found.append(distances(runs[0], runs[1], length))
            one.fast.append(distances(runs[0], runs[2], length))
            one.exact.append(distances(runs[1], runs[3], length))
    return every


def told(programs: Suite, folder: Path, rounds: int) -> Iterator[str]:
    subjects = [one for one in suite.SUBJECTS if one.name in NAMES]
    found = {one.name: compared(programs, one, folder, rounds) for one in subjects}
    for length in INTERVALS:
        yield (
            f"Mean distance of intervals of {length:,} instructions, at most {TARGET}: median "
            "(lowest to highest)"
        )
        cells = [
            ["", "fast to exact", "whole runs", "fast to fast", "exact to exact", "intervals", ""]
        ]
        cells += [[name, *each[length].cells()] for name, each in found.items()]
        yield from aligned(cells)
        yield ""


def main() -> int:
    """Build, run and print. A missed target is not a failure of the bench."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="default 5")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("at least one round is needed")
    output = resources.home() / "build" / "bench" / "profiler"
    folder = output / "distance"
    folder.mkdir(parents=True, exist_ok=True)
    for line in told(Suite(output), folder, options.rounds):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-profiler-distance: {error}")
