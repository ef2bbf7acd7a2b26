# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's operations on a kernel that was laid out for a program, beside the same one as it was.

    python -m bench.layout.untrained [--copies] PROGRAM

PROGRAM is one of bench/layout/positioned.py, which has counted it. It trained few of these
operations; the others must not pay for it. With --copies, the kernel is Debian's, and
bench/layout/copies.py has made copies of its code.
"""

import argparse
import statistics

from bench.base import operations
from bench.layout.copies import module_of
from bench.layout.positioned import PROGRAMS, Measured, kernel, place_of
from kadence.kernel import untrained
from kadence.lab import figures
from kadence.lab.figures import Sheet
from kadence.lab.guest import stock


def main() -> None:
    """Print the operations, those that became slower first."""
    parser = argparse.ArgumentParser(description="see the head of this file")
    parser.add_argument("--copies", action="store_true", help="of the code of Debian's kernel")
    parser.add_argument("program", metavar="PROGRAM")
    options = parser.parse_args()
    [program] = [each for each in PROGRAMS if each.name == options.program]
    before, after = _with_copies(program) if options.copies else _tailored(program)
    found = sorted(untrained.pairs(before, after), key=lambda each: each[1] / each[2])
    changes = [100 * (now / then - 1) for _, then, now in found]
    for (operation, then, now), change in zip(found, changes, strict=True):
        print(f"{operations.label(operation):44} {then:12,.0f} {now:12,.0f} {change:+7.1f} %")
    slower = len(untrained.slower(before, after))
    print(
        f"{slower} of {len(found)} above +{100 * (untrained.MOST - 1):.0f} %; "
        f"median {statistics.median(changes):+.1f} %"
    )


def _tailored(program: Measured) -> tuple[Sheet, Sheet]:
    return untrained.sheet(kernel(None)), untrained.sheet(kernel(place_of(program)))


def _with_copies(program: Measured) -> tuple[Sheet, Sheet]:
    guest, rounds = stock(), untrained.ROUNDS
    copies = figures.take(guest, rounds=rounds, modules=[module_of(program)])
    return figures.take(guest, rounds=rounds), copies


if __name__ == "__main__":
    main()
