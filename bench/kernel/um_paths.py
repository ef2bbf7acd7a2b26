# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures operations on User-Mode Linux beside this machine's own kernel, by wall time."""

import statistics
from collections.abc import Iterator, Mapping, Sequence

from bench.base import operations
from bench.io.io_places import Found, Machine, Place, UserMode
from bench.memory.memory_rows import Cell, Line, table
from kadence.kconfig.store.store import Kernel
from kadence.lab import Figure

# Without memory used and timer interrupts: a comparison of these with the machine's own kernel
# means nothing.
OPERATIONS = (
    *("getppid", "write_16", "tcp_send_256", "tcp_burst_256", "page", "context_switch"),
    "fork_exit",
)
PROGRAM = "lab"
TURNS = 3


def lines(generic: Kernel, tailored: Kernel) -> Iterator[str]:
    """Yields the table. The kernels are measured in turn."""
    machine = Machine()
    places: Mapping[str, Place] = {
        machine.name: machine,
        "generic": UserMode(generic),
        "tailored": UserMode(tailored),
    }
    found: dict[str, list[Found]] = {name: [] for name in places}
    for _ in range(TURNS):
        for name, place in places.items():
            found[name].append(place.measure(PROGRAM, OPERATIONS))
    yield f"nanoseconds of an operation: median of {TURNS} runs, interleaved (lowest to highest)"
    rows = [
        Line(
            operations.label(each),
            [_cell([turn[each] for turn in taken]) for taken in found.values()],
        )
        for each in OPERATIONS
    ]
    yield from table(list(places), rows)


def _cell(figures: Sequence[Figure]) -> Cell | str:
    """Returns the median of all runs' medians, or why there is none if a run has none."""
    medians = [figure.median for figure in figures if figure.median is not None]
    if len(medians) < len(figures):
        return str(next(figure for figure in figures if figure.median is None))
    lows = [figure.low for figure in figures if figure.low is not None]
    highs = [figure.high for figure in figures if figure.high is not None]
    return Cell(statistics.median(medians), min(lows), max(highs))
