# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the quality of phases in your own profiles, beside as many clusters of SimPoint.

Two figures are judged: the share of intervals that are in a phase, and the mean distance of all
intervals from the medoid of their phase. `simpoint` on PATH is SimPoint 3.2. Without it, the bench
uses SimPoint's published method (simpoint.py).
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bench.phases import simpoint
from kadence.phases.find import outside, refinement, vectors
from kadence.phases.find.segmentation import Segmentation, segment
from kadence.phases.find.vectors import Normalised, Rows
from kadence.profiler import frequencies, kprof
from kadence.profiler.format.profile import Profile

LEAST_INSIDE = 0.95
DEAREST = 1.05  # the largest ratio of the mean distance to SimPoint's
ROUNDING = 1e-6  # two sums of the same distances may differ by this much


def mean_distance(normalised: Normalised, rows: Rows, labels: simpoint.Labels) -> float:
    """Returns the mean distance of these rows to the medoids of their clusters."""
    present, owner = np.unique(labels, return_inverse=True)
    medoids = [
        refinement.medoid(normalised, rows[owner == number]) for number in range(len(present))
    ]
    own = np.zeros(normalised.shape[0], dtype=np.int64)
    own[rows] = owner
    return float(vectors.to_own(normalised, medoids, own)[rows].mean())


def clusters(profile: Profile, found: Segmentation, count: int) -> simpoint.Labels:
    """Returns SimPoint's clusters of the rows with instructions; may be fewer than `count`."""
    program = simpoint.installed()
    if program is None:
        filled = np.flatnonzero(profile.instructions > 0)
        return simpoint.clustered(simpoint.projected(found.normalised)[filled], count)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "vectors.bb"
        frequencies.export_text(profile, text)
        return simpoint.raced(program, text, count).labels


def lines(paths: Sequence[Path]) -> Iterator[str]:
    theirs = "SimPoint" if simpoint.installed() else "SimPoint's published method"
    yield "Intervals in a phase, and mean Manhattan distance (0 to 2) of all intervals from the"
    yield f"medoid of their phase, or of their cluster by {theirs}, asked for as many clusters"
    yield (
        f"{'profile':24}{'interval':>12}{'intervals':>10}{'phases':>7}{'in one':>8}"
        f"{'Kadence':>9}{'SimPoint':>9}{'clusters':>9}{'ratio':>7}{'seconds':>8}"
    )
    for path in paths:
        yield from of_profile(path.name.removesuffix(".kprof"), kprof.read(path))


def of_profile(name: str, profile: Profile) -> Iterator[str]:
    begin = time.perf_counter()
    found = segment(profile)
    seconds = time.perf_counter() - begin
    filled = np.flatnonzero(profile.instructions > 0)
    count = len(found.representatives)
    labels = clusters(profile, found, count)
    ours = mean_distance(found.normalised, filled, found.assignment[filled])
    theirs = mean_distance(found.normalised, filled, labels)
    told = outside.described(profile, found)
    inside = 1 - told["share"]
    met = ours <= DEAREST * theirs + ROUNDING and (inside >= LEAST_INSIDE or told["why"])
    yield (
        f"{name:24}{profile.interval:>12,}{len(filled):>10,}{count:>7}{inside:>8.1%}"
        f"{ours:>9.4f}{theirs:>9.4f}{len(np.unique(labels)):>9}"
        f"{ours / theirs if theirs else 1.0:>7.3f}{seconds:>8.1f}  {'met' if met else 'MISSED'}"
    )
    if told["why"]:
        yield f"    said: {told['why']}"


def main() -> int:
    """Measure, and print each line as soon as it is known."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("profiles", type=Path, nargs="+", metavar="PROFILE.kprof")
    for line in lines(parser.parse_args().profiles):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
