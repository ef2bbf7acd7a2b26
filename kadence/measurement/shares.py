# SPDX-License-Identifier: GPL-2.0-or-later
"""Divides the time of measured runs: the program's own computing, its kernel, and waiting.

No adaptation of a kernel makes the program's own computing go away. So all else is the most that
an adaptation can gain.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kadence.base import statistics
from kadence.base.statistics import Estimate
from kadence.boot import processors
from kadence.measurement.execution import Sample

# The spread of fewer runs gives no interval of 95 %.
FEWEST_RUNS = 6
# Tasks are taken to run at once if they used this many processors.
OVERLAP = 1.05


@dataclass(frozen=True)
class Shares:
    """Where the time of a run goes: seconds and counts of one run, on average."""

    runs: int  # 0: nothing was measured, and the figures are a guess
    seconds: float  # from the start to the end
    delayed: float  # other work had the processor; in no share
    capacity: float  # of the processors that the program could use meanwhile; shares are of it
    own: float  # the program's own computing
    kernel: float
    voluntary_switches: float
    involuntary_switches: float
    minor_faults: float
    kernel_share: Estimate
    most: Estimate  # share of all that is not the program's own computing

    @property
    def waited(self) -> float:
        """Seconds in which a processor that the program could use had nothing to do for it."""
        return max(self.capacity - self.own - self.kernel, 0.0)

    @property
    def kernel_seconds(self) -> Estimate:
        return scaled(self.kernel_share, self.capacity)


def undisturbed(run: Sample) -> float:
    """The seconds of a run, without those in which other work had its processor."""
    return max(run.program_seconds - run.delay_seconds, 1e-9)


def of(runs: Sequence[Sample], tasks: int) -> Shares:
    """The shares of all runs together; `tasks` of the program may run at once."""
    count = len(runs)
    seconds, own, kernel, delay = (
        sum(getattr(run, name) for run in runs) / count
        for name in ("program_seconds", "user_seconds", "system_seconds", "delay_seconds")
    )
    used = _processors(seconds, own + kernel, tasks)
    # Of several tasks at once, only the first one's delay is known.
    delayed = min(delay, max(seconds - own - kernel, 0.0)) if used == 1 else 0.0
    capacity = max(used * seconds - delayed, own + kernel, 1e-9)
    own_of_busy = _own_of_busy(own * count, kernel * count)
    busy = (own + kernel) / capacity
    voluntary, involuntary, faults = (
        sum(getattr(run, name) for run in runs) / count
        for name in ("voluntary_switches", "involuntary_switches", "minor_faults")
    )
    return Shares(
        runs=count,
        seconds=seconds,
        delayed=delayed,
        capacity=capacity,
        own=own,
        kernel=kernel,
        voluntary_switches=voluntary,
        involuntary_switches=involuntary,
        minor_faults=faults,
        kernel_share=scaled(_rest(own_of_busy), busy),
        most=_widened(_rest(scaled(own_of_busy, busy)), runs, tasks),
    )


def _processors(seconds: float, busy: float, tasks: int) -> int:
    """The processors that a run could have kept busy: one if its tasks took turns."""
    if busy <= OVERLAP * seconds:
        return 1
    return max(min(tasks, processors.usable()), math.ceil(busy / seconds))


def _own_of_busy(own: float, kernel: float) -> Estimate:
    """The program's share of the processor time, which is sampled.

    Most kernels tell it from their own share by what the timer's tick meets. The tick comes at
    least as often as the clock's unit says.
    """
    ticks = os.sysconf("SC_CLK_TCK")
    return statistics.share(own * ticks, (own + kernel) * ticks)


def _widened(found: Estimate, runs: Sequence[Sample], tasks: int) -> Estimate:
    """The interval of the sampled share, and of the runs' spread, if there are enough runs."""
    found = replace(found, count=len(runs))
    if len(runs) < FEWEST_RUNS:
        return found
    each = (of([run], tasks) for run in runs)
    spread = statistics.median([1 - one.own / one.capacity for one in each])
    return replace(found, low=min(found.low, spread.low), high=max(found.high, spread.high))


def scaled(found: Estimate, factor: float) -> Estimate:
    """An estimate and its interval, times a factor."""
    value, low, high = (factor * bound for bound in (found.value, found.low, found.high))
    return replace(found, value=value, low=low, high=high)


def _rest(found: Estimate) -> Estimate:
    """What a share leaves of the whole."""
    value, low, high = (max(1 - bound, 0.0) for bound in (found.value, found.high, found.low))
    return replace(found, value=value, low=low, high=high)


def percent(share: float) -> str:
    """`12.3 %`."""
    return f"{100 * share:.1f} %"


def in_words(share: Estimate) -> str:
    """`4.7 % (3.9 to 5.6 %)`."""
    return f"{percent(share.value)} ({100 * share.low:.1f} to {percent(share.high)})"
