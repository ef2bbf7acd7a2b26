# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a plain and an adapted program on this machine: faults, peak memory, processor time.

The programs are not part of this tree, so the caller gives each pair of commands. Runs are
interleaved, and the first run of each is not counted. Time is processor time, because other work on
the machine hardly changes it. The confidence interval of a ratio is over pairs of the same round. A
difference counts only if this interval does not contain 1. A forked process begins with the peak
memory of this one, some 20 MiB, so lower peaks are not visible.
"""

import argparse
import itertools
import os
import shlex
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.base.keeping import print_and_keep
from bench.base.rows import aligned
from kadence.base.errors import KadenceError, ToolError
from kadence.prediction import memory_costs

FEWEST_ROUNDS = 15
RESIDENT_SHARE, RESIDENT_MORE = 1.05, 32 << 20
COLUMNS = ("", "plain", "adapted")


@dataclass(frozen=True)
class Run:
    """The cost of one run."""

    seconds: float
    faults: float
    peak_bytes: float


def run(command: str) -> Run:
    """Run a command and discard its output. A status other than 0 ends the measurement."""
    process = subprocess.Popen(
        shlex.split(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise ToolError(f"{command} ends with status {process.returncode}")
    return Run(used.ru_utime + used.ru_stime, used.ru_minflt, used.ru_maxrss * 1024)


def spread(values: Sequence[float], digits: int) -> str:
    """Returns median, lowest and highest as text."""
    median, low, high = statistics.median(values), min(values), max(values)
    return f"{median:,.{digits}f} ({low:,.{digits}f}-{high:,.{digits}f})"


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Returns an interval of the median, at least 95 %: the sign test's order statistics."""
    ordered, count = sorted(ratios), len(ratios)
    rank = 0
    while 2 * sum(_binomial(count, k) for k in range(rank + 2)) <= 0.05 * 2**count:
        rank += 1
    return ordered[rank], ordered[-1 - rank]


def _binomial(count: int, chosen: int) -> int:
    ways = 1
    for step in range(chosen):
        ways = ways * (count - step) // (step + 1)
    return ways


def lines(plain: str, adapted: str, rounds: int) -> Iterator[str]:
    """Yields the table of one pair."""
    runs = [(run(plain), run(adapted)) for _ in range(rounds + 1)][1:]
    before, after = ([pair[side] for pair in runs] for side in (0, 1))
    rows = [list(COLUMNS)]
    for label, name, unit, digits in (
        ("processor seconds", "seconds", 1, 3),
        ("page faults", "faults", 1, 0),
        ("peak resident, MiB", "peak_bytes", 1 << 20, 1),
    ):
        sides = ([getattr(one, name) / unit for one in side] for side in (before, after))
        rows.append([label, *(spread(values, digits) for values in sides)])
    yield f"{plain} | {adapted}"
    yield from aligned(rows)
    low, high = interval([new.seconds / old.seconds for old, new in runs])
    verdict = "no difference" if low <= 1 <= high else "slower" if low > 1 else "faster"
    yield f"processor time, adapted/plain: {low:.3f} to {high:.3f}: {verdict}"
    most = RESIDENT_SHARE * max(one.peak_bytes for one in before) + RESIDENT_MORE
    is_bound = max(one.peak_bytes for one in after) <= most
    yield f"peak within 5 % and 32 MB of the plain program's: {'yes' if is_bound else 'NO'}"
    yield ""


def told(pairs: Sequence[Sequence[str]], rounds: int) -> Iterator[str]:
    """Yields all tables."""
    yield f"{memory_costs.examine().subject}: {memory_costs.examine().why}"
    yield f"median of {rounds} interleaved rounds (lowest-highest)"
    yield ""
    yield from itertools.chain.from_iterable(lines(*pair, rounds) for pair in pairs)


def main() -> int:
    """Measure the given pairs, two commands each."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commands", nargs="+", help="PLAIN ADAPTED, and more such pairs")
    parser.add_argument("--rounds", type=int, default=FEWEST_ROUNDS)
    parser.add_argument("--folder", type=Path, default=Path(), help="where the commands run")
    options = parser.parse_args()
    if len(options.commands) % 2 or options.rounds < 1:
        parser.error("commands come in pairs, and rounds are 1 or more")
    os.chdir(options.folder)
    pairs = [options.commands[at : at + 2] for at in range(0, len(options.commands), 2)]
    print_and_keep(told(pairs, options.rounds), "memory-home.txt")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-memory-home: {error}")
