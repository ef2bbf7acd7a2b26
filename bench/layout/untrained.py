# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's operations on a kernel that was laid out for a program, beside the tailored one.

    python -m bench.layout.untrained PROGRAM

PROGRAM is one of bench/layout/positioned.py, which has counted it. It trained few of these
operations; the others must not pay for it.
"""

import statistics
import sys

from bench.base import operations
from bench.layout.positioned import PROGRAMS, kernel, place_of
from kadence.lab import Guest, take

MOST = 1.0  # % that an operation may take longer


def main(name: str) -> None:
    """Print the operations, those that became slower first."""
    [program] = [each for each in PROGRAMS if each.name == name]
    kernels = [kernel(layout) for layout in (None, place_of(program))]
    sheets = [take(Guest(each.id, each.image)) for each in kernels]
    changes = {}
    for operation in operations.names():
        before, after = (sheet.value(operation) for sheet in sheets)
        if before and after and operation not in ("million", "timer_interrupts"):
            changes[operation] = 100 * (after / before - 1), before, after
    slower = sorted(changes, key=lambda operation: -changes[operation][0])
    for operation in slower:
        change, before, after = changes[operation]
        print(f"{operations.label(operation):44} {before:12,.0f} {after:12,.0f} {change:+7.1f} %")
    above = sum(change > MOST for change, _, _ in changes.values())
    median = statistics.median(change for change, _, _ in changes.values())
    print(f"{above} of {len(changes)} above +{MOST:.0f} %; median {median:+.1f} %")


if __name__ == "__main__":
    main(sys.argv[1])
