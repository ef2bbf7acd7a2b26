# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares Debian's cloud kernel with a tailored one, in instructions of single operations.

Both boot in the lab (docs/lab.md) with the same flags and memory. By default the second kernel is
tailored to the lab's program itself, so that no operation is missing. --kernel names another.
"""

import argparse
import json
import re
import sys
from dataclasses import asdict

from bench.base import operations, rows, tailored
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.lab import Guest, Sheet, stock, take
from kadence.lab.guest import X86_64, find
from kadence.lab.report import ON_MACHINE

# The needs of bench/lab's program. A profile would not find them, because the program makes each
# call only to measure its cost.
NEEDS = {
    "system_calls": [
        *("clock_gettime", "getppid", "personality", "execve", "sched_setattr", "ioctl", "openat"),
        *("read", "write", "writev", "lseek", "ftruncate", "statfs", "pipe", "fork", "clone"),
        *("wait4", "kill", "mmap", "munmap", "madvise", "rt_sigaction", "nanosleep"),
        *("socket", "bind", "listen", "getsockname", "accept4", "connect", "setsockopt"),
        *("sendto", "recvfrom", "io_uring_setup", "io_uring_enter", "exit_group"),
    ],
    "socket_families": [2],
}


def made_for_it() -> Guest:
    """Returns a guest with the kernel tailored to bench/lab's own program."""
    kernel = tailored.kernel("lab", NEEDS, X86_64)
    return Guest(f"tailored {kernel.id}", kernel.image)


def main() -> int:
    """Measure on both kernels, print the table, and keep the output."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", help="as for `kadence lab` (default: tailored to the program)")
    parser.add_argument("--only", default="", help="operations whose name this expression matches")
    options = parser.parse_args()
    chosen = [name for name in operations.names() if re.search(options.only, name)]
    if not chosen:
        parser.error(f"no operation matches {options.only!r}")
    guest = find(options.kernel) if options.kernel else made_for_it()
    reference, measured = take(stock(), chosen), take(guest, chosen)
    lines = report(reference, measured, chosen)
    print("\n".join(lines))
    keep(lines, [reference, measured])
    return 0


def report(reference: Sheet, measured: Sheet, chosen: list[str]) -> list[str]:
    """Returns the table, and the setting of its figures."""
    found = [
        operations.boot_row(reference, measured),
        *operations.rows(reference, measured, chosen),
    ]
    return [
        *rows.table(("Debian", "measured"), found),
        "",
        "Instructions of one operation, median of the rounds, unless the line says otherwise.",
        f"Debian: {reference.guest.name}, {reference.setting()}.",
        f"measured: {measured.guest.name}, {measured.setting()}.",
        f"{ON_MACHINE}.",
        rows.summary(found),
    ]


def keep(lines: list[str], sheets: list[Sheet]) -> None:
    """Write table and figures to build/bench/."""
    folder = resources.home() / "build" / "bench"
    (folder / "lab.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    figures = {
        sheet.guest.name: [asdict(figure) for figure in sheet.figures.values()] for sheet in sheets
    }
    (folder / "lab.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-lab: {error}")
