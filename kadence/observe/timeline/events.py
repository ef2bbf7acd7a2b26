# SPDX-License-Identifier: GPL-2.0-or-later
"""The events that probes/events.c took out of the kernel's rings."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kadence.base.errors import KadenceError

# enum and constants of kadapt_probe.h
PHASE, WAIT = 0x40000000, 0x80000000
RECORD_BYTES = 576
ROW = np.dtype(
    [
        ("begin", "<u8"),
        ("end", "<u8"),
        ("what", "<u4"),
        ("task", "<i4"),
        ("processor", "<u4"),
        ("zero", "<u4"),
    ]
)

Rows = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Events:
    """Calls, waits and phases that ended, in the order of each processor."""

    rows: Rows  # of ROW; times are ticks
    lost: int  # events that were overwritten before they were taken, or had no room


def read(path: Path) -> Events:
    """Map the file, which may be removed then. Raises KadenceError if it is something else."""
    length = path.stat().st_size
    if not length or length % ROW.itemsize:
        raise KadenceError("the observation ended without its events; run it again")
    rows = np.memmap(path, ROW, mode="r")
    return Events(rows[1:], int(rows[0]["begin"]))


def is_call(rows: Rows) -> Rows:
    """Which rows are calls of functions."""
    return rows["what"] < PHASE


def is_phase(rows: Rows) -> Rows:
    """Which rows are stays in a phase."""
    return (rows["what"] >= PHASE) & (rows["what"] < WAIT)


def is_wait(rows: Rows) -> Rows:
    """Which rows are times in which a task did not run."""
    return rows["what"] >= WAIT
