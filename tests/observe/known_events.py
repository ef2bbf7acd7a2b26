# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of a run that is known: what the driver would have written."""

from collections.abc import Sequence

import numpy as np

from kadence.observe.probes import results
from kadence.observe.probes.instruments import Instrument, Kind
from kadence.observe.probes.results import Results
from kadence.observe.timeline.events import PHASE, RECORD_BYTES, ROW, WAIT, Events

READ, FAULT = 0, 1
INSTRUMENTS = [
    Instrument("__x64_sys_read", 16, Kind.TIME),
    Instrument("handle_mm_fault", 32, Kind.TIME),
]
SLEPT = WAIT + results.WAITS.index("slept")
# Ticks of half a nanosecond.
RECORDS = """\
arm 2000000 10 0 0 0 5000 3 8 56 59 59 40
block 7 7 3 8000 2000 writer
block 8 8 -1 4000 0 a reader
"""


def event(begin: int, end: int, what: int, task: int, processor: int = 0) -> tuple[int, ...]:
    """A row; a `what` below 2 is a function."""
    return begin, end, what * RECORD_BYTES if what < len(INSTRUMENTS) else what, task, processor, 0


# In the order in which they end. Task 7 reads, and within that it sleeps and has a fault; task 8
# runs meanwhile on the same processor, and then on another one.
EVENTS = [
    event(10_000, 20_000, PHASE + 3, 7),
    event(22_400, 26_400, SLEPT, 7),
    event(27_000, 27_400, FAULT, 7),
    event(22_000, 28_000, READ, 7),
    event(23_000, 26_000, READ, 8),
    event(26_200, 30_000, SLEPT, 8, 1),
    event(31_000, 32_000, FAULT, 8, 1),
]


def known_results() -> Results:
    """The records of the same run."""
    return results.read(RECORDS.splitlines())


def known(rows: Sequence[tuple[int, ...]] = tuple(EVENTS), lost: int = 0) -> Events:
    """The events, read."""
    return Events(np.array(list(rows), dtype=ROW), lost)


def many(count: int) -> Events:
    """So many events of two tasks: calls that take by chance, most with a fault, and sleeps."""
    chance = np.random.default_rng(7).integers(0, 1000, size=(count // 21 + 1, 10)).tolist()
    rows = []
    for number, takes in enumerate(chance):
        for task in (7, 8):
            start = number * 40_000 + (task - 7) * 20_000
            for call in range(5):
                begin, more = start + call * 3_000, takes[(task - 7) * 5 + call]
                rows.append(event(begin + 100, begin + 200 + more, FAULT, task, task - 7))
                rows.append(event(begin, begin + 1_300 + more, READ, task, task - 7))
        rows.append(event(start + 15_000, start + 35_000 + takes[0], SLEPT, 8, 1))
    return known(rows[:count])
