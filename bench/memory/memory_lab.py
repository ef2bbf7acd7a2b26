# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the cost of a page's first touch, in instructions of an x86_64 kernel."""

from collections.abc import Generator, Iterator

from bench.base import operations, rows
from bench.base.rows import NO_GOAL, Row, Tally
from bench.memory import memory_kernel
from kadence.lab import Guest, Sheet, stock, take
from kadence.lab.guest import X86_64
from kadence.lab.report import ON_MACHINE

OPERATIONS = ("page", "page_small", "page_populated", "page_64k", "page_huge", "page_clear")
TITLE = "instructions of a 4 KiB page's first touch"
# The pages that a program with planned memory gets.
ASKED_FOR = ("page_64k", "page_huge")


def lines() -> Generator[str, None, Tally]:
    """Yields the table, Debian's kernel beside the tailored one."""
    kernel = memory_kernel.made_for_it(X86_64)
    reference, measured = (
        take(guest, OPERATIONS) for guest in (stock(), Guest(f"tailored {kernel.id}", kernel.image))
    )
    found = list(_rows(reference, measured))
    yield TITLE
    yield from rows.table(("Debian", "tailored"), found)
    yield ""
    yield "Debian's kernel clears pages when it allocates them (init_on_alloc), and huge pages once"
    yield "more when they are touched. No kernel uses huge pages below 2 MiB unless it is told to."
    yield f"Debian: {reference.guest.name}, {reference.setting()}."
    yield f"tailored: {measured.guest.name}, {measured.setting()}."
    yield f"{ON_MACHINE}."
    yield rows.summary(found)
    return rows.tally(found, f"{TITLE}: ")


def _rows(reference: Sheet, measured: Sheet) -> Iterator[Row]:
    for name in OPERATIONS:
        yield Row(
            operations.label(name),
            reference.value(name),
            measured.value(name),
            operations.GOALS.get(name, NO_GOAL) if name in ASKED_FOR else NO_GOAL,
            why_none=str(measured.figures[name]),
        )
