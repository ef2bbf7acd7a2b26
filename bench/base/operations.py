# SPDX-License-Identifier: GPL-2.0-or-later
"""The operations of bench/lab, their labels in tables, and their goals."""

import subprocess
from collections.abc import Iterable, Iterator, Mapping

from bench.base.rows import NO_GOAL, Goal, Row
from kadence.base import resources
from kadence.lab.figures import Sheet

# The goal for a send over TCP was 2,500 instructions instead of 4,507. These figures came from a
# run that mixed records sent by themselves and gathered records. Here each case has its own line.
TCP_SHARE = 2500 / 4507
MEBIBYTE = 1 << 20

GOALS = {
    "getppid": Goal(most=150),
    "write_16": Goal(most=1000),
    "tcp_send_256": Goal(share=TCP_SHARE),
    "tcp_burst_256": Goal(most=2500),
    "page": Goal(most=1000),
    "page_huge": Goal(most=1000),
    "page_64k": Goal(most=1000),
    "context_switch": Goal(share=2 / 3),
    "fork_exit": Goal(share=2 / 3),
    "timer_interrupts": Goal(share=2 / 3),
    "memory_used": Goal(share=1 / 2),
    "memory_not_free": Goal(share=1 / 2),
}

LABELS = {
    "million": "a million instructions",
    "getppid": "getppid",
    "sched_setattr": "sched_setattr",
    "phase": "phase call",
    "page": "touch of a fresh page",
    "page_small": "the same, huge pages refused",
    "page_populated": "the same, populated before by one call",
    "page_huge": "the same, in huge pages of 2 MiB",
    "page_64k": "the same, in huge pages of 64 KiB",
    "page_clear": "of each, clearing the page",
    "fork_exit": "fork + exit + wait",
    "context_switch": "context switch (pipe, 2 calls)",
    "timer_interrupts": "timer interrupts a virtual second",
    "memory_used": "memory not available, MiB",
    "memory_not_free": "memory not free, MiB",
}

FAMILIES = {
    "write": "write of {} B",
    "writev": "writev x64 of {} B",
    "read": "read of {} B",
    "io_uring": "io_uring x64, write of {} B",
    "tcp_send": "TCP send of {} B, one by one",
    "tcp_burst": "TCP send of {} B, gathering",
}


def names() -> list[str]:
    """Returns all operations, as the program lists them."""
    command = [str(resources.built("bench/lab/lab")), "-l"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def label(operation: str) -> str:
    """Returns the operation's label in tables."""
    family, _, size = operation.rpartition("_")
    if family in FAMILIES and size.isdigit():
        return FAMILIES[family].format(f"{int(size):,}")
    return LABELS.get(operation, operation)


def boot_row(reference: Sheet, measured: Sheet) -> Row:
    """Returns the row of the time from the kernel's start to the first program."""
    before, after = (sheet.settled.boot_ns / 1e9 for sheet in (reference, measured))
    goal = Goal(most=0.35)
    return Row("boot to the first program, virtual s", before, after, goal, digits=3)


def rows(
    reference: Sheet,
    measured: Sheet,
    operations: Iterable[str],
    goals: Mapping[str, Goal] = GOALS,
) -> Iterator[Row]:
    """Yields a row for each operation."""
    for operation in operations:
        figure = measured.figures[operation]
        scale = MEBIBYTE if figure.unit == "bytes" else 1
        yield Row(
            label(operation),
            _scaled(reference.value(operation), scale),
            _scaled(figure.median, scale),
            goals.get(operation, NO_GOAL),
            why_none=str(figure),
            digits=1 if scale > 1 else 0,
        )


def _scaled(value: float | None, scale: int) -> float | None:
    return None if value is None else value / scale
