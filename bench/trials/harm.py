# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies that harm on purpose: after how many visits a run turns them off.

`starve` has a quantum of 5 s on User-Mode Linux, with one processor: the producer polls for a
helper that cannot run. `sparse` has huge pages in the lab, where it touches one small page of each.
The lab's clock counts instructions, so runs differ only by their coins.
"""

import argparse
import re
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.base.keeping import print_and_keep, with_disturbance
from bench.base.rows import MISSED
from bench.trials import found, guests
from bench.trials.guests import LAB, RECORD, STDERR, STDOUT, UM, Command, Ran, Runner
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.base.statistics import paired_ratio, rotated

VISITS = 400
MOST_VISITS = 10  # at the level
GOAL = 0.95  # of the runs
PLAIN, TRUSTING, TRYING = "plain", "no trials", "trials"


@dataclass(frozen=True)
class Harm:
    """A program with a harmful policy."""

    program: str
    place: str
    policy: str


HARMS = (
    Harm("starve", UM, "a quantum of 5 s"),
    Harm("sparse", LAB, "huge pages"),
)


def round_of(run: Runner, harm: Harm, number: int, scratch: Path) -> dict[str, Ran]:
    """Run the three ways in one guest; the first is another one each time."""
    program = resources.built(f"bench/trials/planted/{harm.program}")
    words = [str(program), str(VISITS)]
    seed = {"KADAPT_TRIALS_SEED": str(number)}
    ways = [
        Command(PLAIN, [f"{program}-plain", str(VISITS)]),
        Command(TRUSTING, words, {"KADAPT_TRIALS": "off"}),
        Command(TRYING, words, seed),
    ]
    ways = rotated(ways, number)
    ran = guests.run_all(run, ways, scratch / str(number))
    return {way.name: one for way, one in zip(ways, ran, strict=True)}


def lines(harm: Harm, rounds: int) -> Iterator[str]:
    """Yields a program's lines."""
    scratch = resources.home() / "build/bench/trials/harm" / harm.program
    run = guests.runner(harm.place)
    ran = [round_of(run, harm, number, scratch) for number in range(rounds)]
    where = {UM: "User-Mode Linux", LAB: "the lab"}[harm.place]
    yield f"{harm.program}: {harm.policy}, {where}, {rounds} runs of {VISITS} visits"
    yield from turned_off([each[TRYING].folder / RECORD for each in ran])
    yield f"  {at_level(ran)}"
    for way in (TRUSTING, TRYING):
        yield f"  whole run, {way}: {ratio(ran, way)} of plain"
    outputs = {one.folder.joinpath(STDOUT).read_bytes() for each in ran for one in each.values()}
    yield f"  outputs: {'the same' if len(outputs) == 1 else 'DIFFER'}"


def turned_off(paths: Sequence[Path]) -> Iterator[str]:
    """After how many visits at the level; a run without a record did not turn it off."""
    visits = [found.visits_until_off(one) for one in found.records(paths)]
    off = sorted(each for each in visits if each is not None)
    yield f"  turned off in {len(off)} of {len(paths)} runs"
    if off:
        middle = statistics.median(off)
        yield f"  visits at the level until then: median {middle:g}, worst {off[-1]}"
    soon = sum(each <= MOST_VISITS for each in off)
    verdict = "met" if soon >= GOAL * len(paths) else MISSED
    yield f"  within {MOST_VISITS} visits in {soon / len(paths):.0%} (goal: {GOAL:.0%}): {verdict}"


def at_level(ran: Sequence[Mapping[str, Ran]]) -> str:
    """The visits at the level in whole runs, as the program itself counted them."""
    counted = [int((each[TRYING].folder / STDERR).read_text(encoding="ascii")) for each in ran]
    return f"visits at the level in whole runs: at most {max(counted)} of {VISITS}"


def ratio(ran: Sequence[Mapping[str, Ran]], way: str) -> str:
    """The ratio of the way's times to plain, with its interval."""
    times = [[each[name].sample.program_seconds for each in ran] for name in (way, PLAIN)]
    return str(paired_ratio(*times))


def tables(chosen: Sequence[Harm], rounds: int) -> Iterator[str]:
    for harm in chosen:
        yield from lines(harm, rounds)
        yield ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="", help="programs whose names match this expression")
    options = parser.parse_args()
    chosen = [harm for harm in HARMS if re.search(options.only, harm.program)]
    print_and_keep(with_disturbance(tables(chosen, options.rounds)), "trials-harm.txt")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-trials-harm: {error}")
