# SPDX-License-Identifier: GPL-2.0-or-later
"""What planning a program's memory makes of it: page faults, peak memory, time.

First what a page costs that is touched for the first time, on User-Mode Linux; then whole programs
there; then an x86_64 kernel in the lab, in instructions. This machine's own kernel stands beside
all that is measured in time: what User-Mode Linux gains over itself is no gain over the machine.
"""

import argparse
import re
import sys
from collections.abc import Generator, Iterator

import memory_lab
import memory_lab_programs
import memory_programs
import memory_touch
from keeping import print_and_keep, with_disturbance
from memory_rows import table, tally
from rows import Tally

from kadence.errors import KadenceError

Told = Generator[str, None, Tally]

LAB = "lab"


def programs(pattern: str) -> Told:
    """The programs whose name the expression matches, in a table each."""
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
    """What the expression matches of the lab: what a page costs, and programs there."""
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
    """All lines; the last one is of all tables."""
    found = Tally()
    if re.search(pattern, "touch"):
        found += yield from memory_touch.lines()
        yield ""
    found += yield from programs(pattern)
    found += yield from lab(pattern)
    yield f"In all {found}"


def main() -> int:
    """Measure, print as it comes, and keep what was printed."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", default="", help="what this matches of touch, heat, …, lab, lab heat, …"
    )
    options = parser.parse_args()
    print_and_keep(with_disturbance(told(options.only)), "memory.txt")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-memory: {error}")
