# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials in real programs, on this machine's own kernel.

Five ways run in turn, and each round begins with a different one. The plain program runs twice; the
difference is this machine's noise. It also runs with the C library's own setting for huge pages and
kept memory. The adapted program runs without trials, so that it trusts its plan, and with them.
Outputs must be the same in all ways.
"""

import argparse
import json
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bench.base.keeping import print_and_keep, with_disturbance
from bench.base.rows import aligned
from bench.corpus import corpus_own
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.base.stages import alone_in
from kadence.base.statistics import Estimate, paired_ratio
from kadence.measurement import plain_runs
from kadence.measurement.execution import Sample
from kadence.measurement.measure import ADAPTED, PLAIN
from kadence.program import outputs, program
from kadence.program.places import Places
from kadence.program.program import Program

KEPT = 1 << 30
BLANKET = (
    "glibc.malloc.hugetlb=1",
    f"glibc.malloc.trim_threshold={KEPT}",
    f"glibc.malloc.mmap_threshold={KEPT}",
)
HEADS = ("", "wall time / plain", "processor time / plain", "page faults")


@dataclass(frozen=True)
class Way:
    """One way to run the program."""

    name: str
    build: str  # PLAIN or ADAPTED
    environment: tuple[tuple[str, str], ...] = ()


WAYS = (
    Way("plain", PLAIN),
    Way("plain again", PLAIN),
    Way("plain, malloc's own setting", PLAIN, (("GLIBC_TUNABLES", ":".join(BLANKET)),)),
    Way("adapted, no trials", ADAPTED, (("KADAPT_TRIALS", "off"),)),
    Way("adapted, trials", ADAPTED),
)


@dataclass(frozen=True)
class Subject:
    """A program of the table; `run` has many visits where the described run has few."""

    folder: str  # below the tree
    run: tuple[str, ...] = ()


SUBJECTS = {
    "heat": Subject("examples/heat", ("./heat", "-e", "15")),
    "fft": Subject("examples/fft"),
    "fft, 2^16 points": Subject("examples/fft", ("./fft", "-n", "16", "-s", "400")),
    "fields": Subject("bench/memory/fields", ("./fields", "1000", "400")),
    "minimap2": Subject("examples/minimap2"),
    "heat-openmp": Subject("examples/heat-openmp"),
    "ring (MPI)": Subject("examples/ring"),
    **{name: Subject(f"bench/corpus/{name}") for name in ("hmmer", "lua", "bzip2", "sqlite3")},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", default="", help="programs whose names match this expression")
    options = parser.parse_args()
    chosen = {name: SUBJECTS[name] for name in SUBJECTS if re.search(options.only, name)}
    print_and_keep(with_disturbance(tables(chosen, options.rounds)), "trials.txt")
    return 0


def tables(chosen: Mapping[str, Subject], rounds: int) -> Iterator[str]:
    """Yields the table of each program, or why there is none."""
    for name, subject in chosen.items():
        yield f"{name}, {rounds} rounds; medians and 95 % intervals"
        try:
            yield from table(subject, resources.home() / "build/bench/trials" / name, rounds)
        except KadenceError as error:
            yield f"  not measured: {error}"
        yield ""


def table(subject: Subject, output: Path, rounds: int) -> Iterator[str]:
    """Yields the lines of one program."""
    described = program.read(resources.home() / subject.folder)
    places = Places(output.resolve(), described.name)
    with alone_in(places.output):
        corpus_own.prepare(described, places)
        longer = replace(described, run=subject.run or described.run)
        record = places.output / "trials.jsonl"
        record.unlink(missing_ok=True)
        samples, differing = take(longer, places, record, rounds)
    yield from aligned([list(HEADS), *(row(way, samples) for way in WAYS)])
    yield from effects(record)
    if differing:
        yield f"  OUTPUTS DIFFER: {', '.join(sorted(differing))}"


def take(
    described: Program, places: Places, record: Path, rounds: int
) -> tuple[dict[str, list[Sample]], set[str]]:
    """Returns the samples of each way, and the ways whose outputs are not the first run's."""
    samples: dict[str, list[Sample]] = defaultdict(list)
    first: dict[str, str] = {}
    differing: set[str] = set()
    for number in range(rounds + 1):
        for way in (*WAYS[number % len(WAYS) :], *WAYS[: number % len(WAYS)]):
            told = (("KADAPT_TRIALS_RECORD", str(record)),) if way is WAYS[-1] else ()
            subject = replace(described, environment=described.environment + way.environment + told)
            folder, scratch = places.build(way.build), places.output / "runs"
            sample, written = plain_runs.measured(subject, folder, scratch, way.name)
            found = outputs.checksums(described, written)
            first = first or found
            differing |= {way.name} if found != first else set()
            if number:  # the first round is not counted
                samples[way.name].append(sample)
    return samples, differing


def row(way: Way, samples: Mapping[str, list[Sample]]) -> list[str]:
    """The cells of one way."""
    mine, plain = samples[way.name], samples[WAYS[0].name]
    faults = statistics.median(sample.minor_faults for sample in mine)
    if way is WAYS[0]:
        wall, task = (statistics.median(map(each, mine)) for each in (wall_of, task_of))
        return [way.name, f"{wall:.3f} s", f"{task:.3f} s", f"{faults:,.0f}"]
    ratios = (
        paired_ratio(list(map(each, mine)), list(map(each, plain))) for each in (wall_of, task_of)
    )
    return [way.name, *map(in_words, ratios), f"{faults:,.0f}"]


def wall_of(sample: Sample) -> float:
    return sample.program_seconds


def task_of(sample: Sample) -> float:
    return sample.user_seconds + sample.system_seconds


def in_words(ratio: Estimate) -> str:
    return f"{ratio.value:.3f} ({ratio.low:.3f} to {ratio.high:.3f})"


def effects(record: Path) -> Iterator[str]:
    """What the runs' trials found, arm by arm."""
    if not record.exists():
        return
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    runs = {line["process"] for line in lines if "schema" in line}
    blocks: dict[tuple[int, str, int], list[float]] = defaultdict(list)
    states: dict[tuple[int, str, int], list[str]] = defaultdict(list)
    for line in lines:
        if "block" in line:
            blocks[arm_of(line["block"])].append(line["block"]["difference"])
        if "decision" in line:
            states[arm_of(line["decision"])].append(line["decision"]["state"])
    for key, found in sorted(blocks.items()):
        phase, policy, level = key
        decided = ", ".join(f"{states[key].count(s)} {s}" for s in sorted(set(states[key])))
        yield (
            f"  phase {phase}, {policy}, level {level}: median effect "
            f"{statistics.median(found):+.1%} in {len(found)} blocks of {len(runs)} processes; "
            f"decided: {decided or 'nothing'}"
        )
    skipped = [line["phase"] for line in lines if "phase" in line]
    for phase in sorted({each["phase"] for each in skipped}):
        why = {each["state"] for each in skipped if each["phase"] == phase} - {"going"}
        if why:
            yield f"  phase {phase} was not tried in some runs: {', '.join(sorted(why))}"


def arm_of(line: Mapping[str, object]) -> tuple[int, str, int]:
    phase, policy, level = line["phase"], line["policy"], line["level"]
    assert isinstance(phase, int)
    assert isinstance(level, int)
    return phase, str(policy), level


if __name__ == "__main__":
    sys.exit(main())
