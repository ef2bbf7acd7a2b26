# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures tailoring: Debian's cloud kernel beside a tailored kernel for each example program.

Text, modules and symbols come from the packages and manifests. All other figures come from boots:
x86_64 kernels boot in the lab (docs/lab.md), User-Mode Linux kernels on this machine. The machine's
own kernel stands beside User-Mode Linux for every figure that it can give. Missed goals are marked.
--builds adds a cold and a warm build of the first program's User-Mode Linux kernel, which takes
minutes.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterator

from bench.base import operations, programs
from bench.base.keeping import print_and_keep
from bench.base.rows import MISSED, Goal, Row, summary, table
from bench.base.stock import Stock, count, facts, smallest
from bench.kernel import planned_pages, um, um_paths
from bench.kernel.planned_pages import Pages
from kadence.base.errors import KadenceError
from kadence.boot import debian
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.store.store import Kernel
from kadence.lab import Guest, Sheet, stock, take
from kadence.lab.guest import MEMORY_BYTES, STOCK_SERIES, X86_64
from kadence.lab.report import ON_MACHINE

UM = "um"
MEGABYTE, MEBIBYTE = 1e6, 1 << 20
PAGE_BYTES, PAGE_RECORD_BYTES = 4096, 64  # struct page
OPERATIONS = (
    *("getppid", "write_16", "tcp_send_256", "tcp_burst_256", "page", "page_small"),
    *("page_populated", "page_huge", "page_64k"),
    *("context_switch", "fork_exit", "timer_interrupts", "memory_used", "memory_not_free"),
)


def still(stock: Stock, kernel: Kernel) -> Iterator[Row]:
    """Yields the figures that need no boot."""
    symbols = count(kernel.config)
    text = float(kernel.manifest["text_bytes"]) / MEGABYTE
    yield Row("kernel text, MB", stock.text_bytes / MEGABYTE, text, Goal(most=5), digits=2)
    yield Row("modules", stock.modules, 0, Goal(most=0))
    yield Row("configuration symbols on", stock.symbols.on, symbols.on, Goal(most=350))
    yield Row("of them with a prompt", stock.symbols.chosen, symbols.chosen)


def booted(reference: Sheet, measured: Sheet, pages: Pages) -> Iterator[Row]:
    """Yields the figures of boots in the lab."""
    yield operations.boot_row(reference, measured)
    yield from operations.rows(reference, measured, OPERATIONS, pages.goals())


def of_x86_64(name: str, stock: Stock, reference: Sheet) -> Iterator[str]:
    """Yields one program's table for the x86_64 kernel."""
    served = programs.served(name, X86_64)
    kernel = served.kernel
    measured = take(Guest(f"{name} {kernel.id}", kernel.image), OPERATIONS)
    pages = planned_pages.of(served.plan)
    lines = [*still(stock, kernel), *booted(reference, measured, pages)]
    yield f"{name}: x86_64 kernel {kernel.id}; Debian's is {stock.release}"
    yield served.told()
    yield from table(("Debian", "tailored"), lines)
    yield f"A fresh page: {pages.why}."
    yield f"{ON_MACHINE}."
    yield summary(lines)
    yield ""


def of_um(name: str, generic: Kernel) -> Iterator[str]:
    """Yields one program's table for User-Mode Linux."""
    served = programs.served(name, UM)
    kernel = served.kernel
    lines = list(um.rows(generic, kernel))
    yield f"{name}: User-Mode Linux kernel {kernel.id}; the generic one is {generic.id}"
    yield served.told()
    yield from table(("generic", "tailored"), lines)
    yield summary(lines)
    yield ""
    yield from um_paths.lines(generic, kernel)
    yield ""


def or_why_not(lines: Iterator[str]) -> Iterator[str]:
    """Yields a table, or why there is none."""
    try:
        yield from lines
    except programs.UnservedError as error:
        yield f"{MISSED}: {error}"
        yield ""


def built(request: BuildRequest) -> Iterator[str]:
    """Yields the table of build times."""
    lines = list(um.build_rows(request))
    yield f"building a User-Mode Linux kernel again, on {len(os.sched_getaffinity(0))} processors"
    yield from table(("", "tailored"), lines)
    yield summary(lines)
    yield ""


def notes(stock: Stock, reference: Sheet) -> Iterator[str]:
    """Yields what the figures mean, and which are missing."""
    yield f"The lab: {reference.setting()}."
    yield "Operations are in instructions, median of the rounds, unless the line says otherwise."
    yield (
        f"Memory: {MEMORY_BYTES // PAGE_BYTES * PAGE_RECORD_BYTES / MEBIBYTE:.0f} MiB of the "
        f"memory that is not free hold each kernel's records of the guest's pages."
    )
    yield "n/a: the program does not need the operation, and its kernel does not have it."
    yield (
        f"Symbols: the smallest x86_64 configuration of the series that Kbuild makes has "
        f"{smallest()} on (with a prompt); Debian's has {stock.symbols}."
    )


def main() -> int:
    """Measure, print each line as soon as it is known, and keep the output."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="programs whose name this expression matches")
    parser.add_argument("--builds", action="store_true", help="also a cold and a warm build")
    options = parser.parse_args()
    chosen = [name for name in programs.NAMES if re.search(options.only, name)]
    if not chosen:
        parser.error(f"no program matches {options.only!r}; there are {', '.join(programs.NAMES)}")
    print_and_keep(everything(chosen, options.builds), "kernel.txt")
    return 0


def everything(chosen: list[str], builds: bool) -> Iterator[str]:
    """Yields all lines as soon as they are known."""
    packaged = facts(debian.newest_release(STOCK_SERIES))
    reference = take(stock(), OPERATIONS)
    generic = build(BuildRequest())
    for name in chosen:
        yield from or_why_not(of_x86_64(name, packaged, reference))
        yield from or_why_not(of_um(name, generic))
    if builds:
        yield from or_why_not(built(programs.request(chosen[0], UM)))
    yield from notes(packaged, reference)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-kernel: {error}")
