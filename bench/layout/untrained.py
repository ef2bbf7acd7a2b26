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
from kadence.kernel import untrained


def main(name: str) -> None:
    """Print the operations, those that became slower first."""
    [program] = [each for each in PROGRAMS if each.name == name]
    before, after = (untrained.sheet(kernel(layout)) for layout in (None, place_of(program)))
    found = sorted(untrained.pairs(before, after), key=lambda each: each[1] / each[2])
    changes = [100 * (now / then - 1) for _, then, now in found]
    for (operation, then, now), change in zip(found, changes, strict=True):
        print(f"{operations.label(operation):44} {then:12,.0f} {now:12,.0f} {change:+7.1f} %")
    slower = len(untrained.slower(before, after))
    print(
        f"{slower} of {len(found)} above +{100 * (untrained.MOST - 1):.0f} %; "
        f"median {statistics.median(changes):+.1f} %"
    )


if __name__ == "__main__":
    main(sys.argv[1])
