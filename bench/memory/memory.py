# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the effect of planned memory on programs: page faults, peak memory, time.

First the cost of a page's first touch on User-Mode Linux, then whole programs there, then an x86_64
kernel in the lab, in instructions. This machine's own kernel stands beside all figures of time,
because a gain of User-Mode Linux over itself is not a gain over the machine.
"""

import argparse
import re
import sys
from collections.abc import Generator, Iterator

from bench.base.keeping import print_and_keep, with_disturbance
from bench.base.rows import Tally
from bench.memory import memory_lab, memory_lab_programs, memory_programs, memory_touch
from bench.memory.memory_rows import table, tally
from kadence.base.errors import KadenceError

Told = Generator[str, None, Tally]

LAB = "lab"


def programs(pattern: str) -> Told:
    """Yields a table for each program whose name the expression matches."""
    found = []
    for subject in memory_programs.SUBJECTS:
        if re.search(pattern, subject.name):
            lines = list(memory_programs.lines(subject))
            found += lines
            yield from table(list(memory_programs.COLUMNS), lines)
            yield ""
    if found:
        yield f"median of {memory_programs.ROUNDS} rounds, interleaved (lowest to highest)"
        yield ""
    return tally(found)


def lab(pattern: str) -> Told:
    """Yields the lab's tables that the expression matches: the cost of a page, and programs."""
    found = Tally()
    if re.search(pattern, LAB):
        found += yield from memory_lab.lines()
        yield ""
    for subject in memory_programs.SUBJECTS:
        if subject.in_lab and re.search(pattern, f"{LAB} {subject.name}"):
            found += yield from memory_lab_programs.lines(subject)
            yield ""
    return found


def told(pattern: str) -> Iterator[str]:
    """Yields all lines. The last line sums up all tables."""
    found = Tally()
    if re.search(pattern, "touch"):
        found += yield from memory_touch.lines()
        yield ""
    found += yield from programs(pattern)
    found += yield from lab(pattern)
    yield f"In total {found}"


def main() -> int:
    """Measure, print each line as soon as it is known, and keep the output."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", default="", help="parts that this matches: touch, heat, …, lab, lab heat, …"
    )
    options = parser.parse_args()
    print_and_keep(with_disturbance(told(options.only)), "memory.txt")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-memory: {error}")
