# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials in real programs: on this machine's own kernel, on User-Mode Linux, and in the lab.

All ways run in turn, and each round begins with a different one. The plain program runs twice; the
difference is the place's noise. On the own kernel it also runs with the C library's own setting for
huge pages and kept memory. The adapted program runs without trials, so that it trusts its plan, and
with them. Outputs must be the same in all ways. An adapted program's code lies elsewhere, which can
cost time by itself. So if it seems slower, plain builds whose code was moved are measured, too.

In the lab, times are instructions on the guest's own clock, which the trials read, too. That clock
jumps while a program is loaded from the host's files, so the lab's verdict is by processor time.
"""

import argparse
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bench.base.keeping import print_and_keep, with_disturbance
from bench.base.rows import aligned
from bench.corpus import corpus_own
from bench.trials import found, runs
from bench.trials.guests import LAB, UM
from bench.trials.programs import (
    AGAIN,
    IN_LAB,
    ON_UM,
    OWN,
    REFERENCE,
    SETTING,
    TRYING,
    Subject,
    Way,
)
from bench.trials.runs import Place
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.base.stages import alone_in
from kadence.base.statistics import Estimate, paired_ratio, rotated
from kadence.measurement.execution import Sample
from kadence.program import program
from kadence.program.places import Places

HEADS = ("", "wall time / plain", "processor time / plain", "page faults")
OWN_KERNEL = "own"
SUBJECTS = {OWN_KERNEL: OWN, UM: ON_UM, LAB: IN_LAB}
WHERE = {
    OWN_KERNEL: "this machine's own kernel",
    UM: "User-Mode Linux",
    LAB: "the lab, in instructions",
}
ROUNDS = {OWN_KERNEL: 11, UM: 11, LAB: 6}

Samples = Mapping[str, Sequence[Sample]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--place", default="own|um|lab", help="places that this expression matches")
    parser.add_argument("--rounds", type=int, help="(default: 11, and 6 in the lab)")
    parser.add_argument("--only", default="", help="programs whose names match this expression")
    options = parser.parse_args()
    for name in (each for each in SUBJECTS if re.fullmatch(options.place, each)):
        told = tables(name, options.only, options.rounds or ROUNDS[name])
        print_and_keep(with_disturbance(told), f"trials-{name}.txt")
    return 0


def tables(where: str, only: str, rounds: int) -> Iterator[str]:
    """Yields the table of each program, or why there is none, and then the verdicts."""
    place = runs.OwnKernel() if where == OWN_KERNEL else runs.InGuest(where)
    verdicts = []
    for name, subject in SUBJECTS[where].items():
        if not re.search(only, name):
            continue
        yield f"{name}, {WHERE[where]}, {rounds} rounds; medians and 95 % intervals"
        try:
            judged, lines = table(subject, name, place, rounds)
            yield from lines
            verdicts.append(f"{name}: {judged}")
        except KadenceError as error:
            yield f"  not measured: {error}"
        yield ""
    yield from verdicts


def table(subject: Subject, name: str, place: Place, rounds: int) -> tuple[str, list[str]]:
    """Returns the verdict and the lines of one program."""
    described = program.read(resources.home() / subject.folder)
    folder = re.sub(r"[^\w-]+", "-", name)  # makefiles take no path with a blank
    output = resources.home() / "build/bench/trials" / folder
    places = Places(output.resolve(), described.name)
    with alone_in(places.output):
        corpus_own.prepare(described, places)
        longer = replace(
            described,
            run=subject.run or described.run,
            standard_input=subject.standard_input or described.standard_input,
        )
        record = places.output / "trials.jsonl"
        record.unlink(missing_ok=True)
        samples, differing = take(place, runs.Running(longer, subject, places, record), rounds)
        is_slow = place.has_own_builds and found.seems_slow(*ratios_of_verdict(samples))
        moved = corpus_own.moved(longer, places, rounds) if is_slow else {}
    rows = [row(way, samples) for way in place.ways]
    lines = [*aligned([list(HEADS), *rows]), *found.placement(moved), *found.effects(record)]
    if differing:
        lines.append(f"  OUTPUTS DIFFER: {', '.join(sorted(differing))}")
    return verdict(samples, moved, task=place.is_task), lines


def take(place: Place, running: runs.Running, rounds: int) -> tuple[Samples, set[str]]:
    """Returns the samples of each way, and the ways whose outputs are not the first run's."""
    samples: dict[str, list[Sample]] = defaultdict(list)
    first: dict[str, str] = {}
    differing: set[str] = set()
    for number in range(place.uncounted + rounds):
        for way, sample, sums in place.round(running, rotated(place.ways, number)):
            first = first or sums
            differing |= {way.name} if sums != first else set()
            if number >= place.uncounted:
                samples[way.name].append(sample)
    return samples, differing


def row(way: Way, samples: Samples) -> list[str]:
    """The cells of one way."""
    mine = samples[way.name]
    faults = statistics.median(sample.minor_faults for sample in mine)
    if way is REFERENCE:
        wall, task = (statistics.median(map(each, mine)) for each in (wall_of, task_of))
        return [way.name, f"{wall:.3f} s", f"{task:.3f} s", f"{faults:,.0f}"]
    ratios = (ratio(way, samples, task) for task in (False, True))
    return [way.name, *map(str, ratios), f"{faults:,.0f}"]


def ratio(way: Way, samples: Samples, task: bool = False) -> Estimate:
    """The ratio of the way's times to plain, round by round: wall or processor times."""
    each = task_of if task else wall_of
    return paired_ratio(*(list(map(each, samples[one.name])) for one in (way, REFERENCE)))


def ratios_of_verdict(samples: Samples, task: bool = False) -> tuple[Estimate, Estimate]:
    """Those of the program that tries, and of plain again."""
    return ratio(TRYING, samples, task), ratio(AGAIN, samples, task)


def verdict(samples: Samples, moved: found.Moved, *, task: bool) -> str:
    """What trials did to the time, beside plain and beside the library's own setting."""
    tried, again = ratios_of_verdict(samples, task)
    said = found.cost(tried, again, moved)
    if SETTING.name in samples:
        said += f"; {found.beside_setting(tried, ratio(SETTING, samples, task))}"
    return said


def wall_of(sample: Sample) -> float:
    return sample.program_seconds


def task_of(sample: Sample) -> float:
    return sample.user_seconds + sample.system_seconds


if __name__ == "__main__":
    sys.exit(main())
