# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the quality of phases and the cost of finding them, beside SimPoint and its method.

Quality on the example programs is the mean Manhattan distance of an interval from its phase's
medoid, with Kadence's phases and with the same number of SimPoint's clusters. Cost and the adjusted
Rand index are measured on synthetic runs, whose phases are known (synthetic.py). There `kadence
phases` runs as a user would run it, and draws the picture too.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bench.base import programs
from bench.base.commands import KADENCE
from bench.phases import simpoint, synthetic
from kadence.base import resources
from kadence.phases.find import refinement, vectors
from kadence.phases.find.segmentation import segment
from kadence.phases.find.vectors import Normalised
from kadence.profiler import frequencies, kprof
from kadence.profiler.format.profile import Profile

SIZES = (1_000, 10_000, 100_000, 1_000_000)
ROUNDS = 3
LONG = 1_000_000  # intervals from which on there is one round, and no text: it would be 2.9 GB
SLOW = 100_000  # intervals above which k-means does not run
GIBIBYTE = 1 << 30
LEAST_RAND_INDEX = 0.99
# For 100,000 intervals of 300 blocks each: 40 MB, 2 s.
MOST_BYTES_PER_ENTRY = 40e6 / 30e6
MOST_SECONDS_PER_ENTRY = 2 / 30e6
ROUNDING = 1e-6  # two sums of the same distances may differ by this much

# The kernel counts a parent's peak memory as its child's, so the parent must be small.
RUN_AND_TELL = """
import resource, subprocess, sys, time
begin = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
seconds = time.perf_counter() - begin
print(seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""

Labels = simpoint.Labels


@dataclass(frozen=True)
class Limit:
    seconds: float
    gibibytes: float


LIMITS = {100_000: Limit(12, 1), 1_000_000: Limit(150, 3)}


@dataclass(frozen=True)
class Cost:
    """The time and the peak memory of a process."""

    seconds: float
    gibibytes: float


def verdict(met: bool) -> str:
    return "met" if met else "MISSED"


# ---- quality on real programs ----------------------------------------------------------------


def profile_of(name: str, folder: Path) -> Path:
    """Returns the profile of an example, made as by `kadence specialize`."""
    with programs.line(name, folder / name) as line:
        line.profiled(programs.plain(line))
        return line.places.artefact("kprof")


def from_medoids(normalised: Normalised, labels: Labels) -> vectors.Distances:
    """Returns the Manhattan distance of each interval from the medoid of its cluster."""
    present, owner = np.unique(labels, return_inverse=True)
    medoids = [
        refinement.medoid(normalised, np.flatnonzero(owner == number))
        for number in range(len(present))
    ]
    return vectors.to_own(normalised, medoids, owner)


def quality(names: Sequence[str], folder: Path) -> Iterator[str]:
    yield "Mean Manhattan distance (0 to 2) of an interval from the medoid of its phase, or of its"
    yield "cluster by SimPoint's method with as many clusters. Transitions are in no phase."
    yield f"{'':10}{'':>26}{'within phases':>22}{'all intervals':>22}"
    figures = f"{'Kadence':>12}{'SimPoint':>10}"
    yield f"{'':10}{'phases':>8}{'intervals':>10}{'of them':>8}{figures}{figures}"
    for name in names:
        yield of_program(name, kprof.read(profile_of(name, folder)))


def of_program(name: str, profile: Profile) -> str:
    found = segment(profile)
    count = len(found.representatives)
    points = simpoint.projected(found.normalised)
    ours = from_medoids(found.normalised, found.assignment)
    theirs = from_medoids(found.normalised, simpoint.clustered(points, count))
    inside = ~found.transition
    figures = [distances.mean() for distances in (ours[inside], theirs[inside], ours, theirs)]
    met = figures[0] <= figures[1] + ROUNDING
    return (
        f"{name:10}{count:>8}{len(inside):>10,}{int(inside.sum()):>8,}"
        f"{figures[0]:>12.4f}{figures[1]:>10.4f}{figures[2]:>12.4f}{figures[3]:>10.4f}  "
        f"{verdict(met)}; SimPoint's own criterion finds {simpoint.number_of_clusters(points)}"
    )


# ---- cost and quality on known phases --------------------------------------------------------


def measured(command: Sequence[object]) -> Cost:
    """Run a command. Returns its wall time and its peak memory."""
    words = [sys.executable, "-S", "-c", RUN_AND_TELL, *map(str, command)]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    seconds, kibibytes = done.stdout.split()
    return Cost(float(seconds), float(kibibytes) * 1024 / GIBIBYTE)


def made(intervals: int, folder: Path) -> tuple[Path, Path]:
    """Returns the paths of a synthetic profile and of its known phases; makes them if missing."""
    path, labels = folder / f"{intervals}.kprof", folder / f"{intervals}.npy"
    if not labels.exists():
        profile, known = synthetic.make(synthetic.Shape(intervals=intervals))
        kprof.write(path, profile)
        np.save(labels, known)
    return path, labels


def text_of(path: Path) -> Path:
    """Returns the path of the profile in the text format that SimPoint reads."""
    text = path.with_suffix(".bb")
    if not text.exists():
        frequencies.export_text(kprof.read(path), text)
    return text


def growth(sizes: Sequence[int], folder: Path) -> Iterator[str]:
    yield "Known phases: 8, one of them 0.5 % of the intervals; 10 % noise, drift"
    for intervals in sizes:
        path, labels = made(intervals, folder)
        known = np.load(labels)
        yield ""
        yield f"{intervals:,} intervals of 300 blocks out of 20,000, {path.stat().st_size:,} bytes"
        yield loaded(path)
        yield from ours(path, known)
        if intervals <= SLOW:
            yield from theirs(path, known)


def loaded(path: Path) -> str:
    """Returns a line on the time to read a profile, with the goals for this time and its size."""
    seconds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        entries = kprof.read(path).counts.nnz
        seconds.append(time.perf_counter() - begin)
    size = path.stat().st_size
    met = (
        size <= MOST_BYTES_PER_ENTRY * entries and max(seconds) <= MOST_SECONDS_PER_ENTRY * entries
    )
    return (
        f"  read by kprof.read        {statistics.median(seconds):6.2f} s ({min(seconds):.2f} to "
        f"{max(seconds):.2f}); goal <= {MOST_SECONDS_PER_ENTRY * entries:.2f} s, "
        f"<= {MOST_BYTES_PER_ENTRY * entries:,.0f} bytes: {verdict(met)}"
    )


def ours(path: Path, known: Labels) -> Iterator[str]:
    """Run `kadence phases`: load, cluster, draw, write."""
    output = path.with_suffix(".phases.json")
    command = [KADENCE, "phases", path, "-o", output, "--matrix", path.with_suffix(".png")]
    rounds = 1 if len(known) >= LONG else ROUNDS
    costs = [measured(command) for _ in range(rounds)]
    seconds = [cost.seconds for cost in costs]
    cost = Cost(statistics.median(seconds), max(cost.gibibytes for cost in costs))
    found = json.loads(output.read_text(encoding="utf-8"))["assignment"]
    agreement = adjusted_rand_score(known, found)
    spread = f" ({min(seconds):.1f} to {max(seconds):.1f})" if rounds > 1 else ""
    yield (
        f"  kadence phases --matrix   {cost.seconds:6.1f} s{spread}, {cost.gibibytes:.2f} GiB"
        f"{judged(cost, LIMITS.get(len(known)))}"
    )
    yield (
        f"  adjusted Rand index {agreement:.4f} in {len(set(found))} phases, "
        f"goal >= {LEAST_RAND_INDEX}: {verdict(agreement >= LEAST_RAND_INDEX)}"
    )


def judged(cost: Cost, limit: Limit | None) -> str:
    if limit is None:
        return ""
    met = cost.seconds <= limit.seconds and cost.gibibytes <= limit.gibibytes
    return f"; goal <= {limit.seconds:g} s, <= {limit.gibibytes:g} GiB: {verdict(met)}"


def theirs(path: Path, known: Labels) -> Iterator[str]:
    """Run SimPoint's method with the same number of clusters, SimPoint, and an import of text."""
    begin = time.perf_counter()
    points = simpoint.projected(Normalised(kprof.read(path).vectors))
    labels = simpoint.clustered(points, len(set(known.tolist())))
    seconds = time.perf_counter() - begin
    yield (
        f"  SimPoint's method, 8 clusters {seconds:.1f} s, "
        f"adjusted Rand index {adjusted_rand_score(known, labels):.4f}"
    )
    text = text_of(path)
    command = [KADENCE, "profile", "import", text, "-o", path.with_suffix(".imported.kprof")]
    cost = measured(command)
    yield (
        f"  kadence profile import    {cost.seconds:6.1f} s, {cost.gibibytes:.2f} GiB, "
        f"from {text.stat().st_size:,} bytes of text"
    )
    found = simpoint.installed()
    if found is None:
        yield "  simpoint is not on PATH: not measured"
        return
    for count, how in ((8, "-k 8"), (None, f"-maxK {simpoint.MOST_CLUSTERS}")):
        race = simpoint.raced(found, text, count)
        yield (
            f"  simpoint {how:9} from text {race.seconds:6.1f} s, adjusted Rand index "
            f"{adjusted_rand_score(known, race.labels):.4f} in {len(set(race.labels.tolist()))}"
        )


def main() -> int:
    """Measure, and print each line as soon as it is known."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="intervals")
    parser.add_argument("--only", default="", help="programs whose name this expression matches")
    options = parser.parse_args()
    folder = resources.home() / "build" / "bench" / "phases"
    folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in programs.NAMES if re.search(options.only, name)]
    for line in (*quality(names, folder), ""):
        print(line, flush=True)
    for line in growth(options.sizes, folder):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
