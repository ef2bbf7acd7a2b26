# SPDX-License-Identifier: GPL-2.0-or-later
"""What instruments of kernel functions cost, how exact they are, and KernInst's case.

The kernel runs in QEMU with one processor, whose clock counts instructions, one per nanosecond.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.base.keeping import print_and_keep
from bench.observe import accuracy, costs, opening, programs
from bench.observe.guests import prepare
from kadence.base.errors import KadenceError

PARTS = {
    "costs": costs.tables,
    "accuracy": accuracy.tables,
    "opening": opening.tables,
    "programs": programs.tables,
}


def main() -> int:
    """Measure, print the tables and keep them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this (repeatable)")
    options = parser.parse_args()
    try:
        print_and_keep(tables(options.part or list(PARTS)), "observe.txt")
    except KadenceError as error:
        print(f"bench-observe: {error}", file=sys.stderr)
        return 1
    return 0


def tables(parts: list[str]) -> Iterator[str]:
    """All tables."""
    with tempfile.TemporaryDirectory(prefix="kadence-bench-") as folder:
        bench = prepare(Path(folder))
        yield f"Debian {bench.release} in QEMU, one processor"
        for part in parts:
            yield ""
            yield from PARTS[part](bench)


if __name__ == "__main__":
    sys.exit(main())
