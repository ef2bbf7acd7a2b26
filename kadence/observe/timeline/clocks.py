# SPDX-License-Identifier: GPL-2.0-or-later
"""When a timeline began by its node's clock, and how wrong that may be.

A node's clock is what NTP or PTP keeps right. The processors' counters of a node agree, so only
nodes have to be aligned.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kadence.observe.probes.results import Clock, Costs

NS_PER_US = 1000


@dataclass(frozen=True)
class Begin:
    """The clock's time at the first event."""

    ns: int  # since 1970
    error_ns: int | None  # how far the clocks of other nodes may be away; None: nobody knows


def begin(readings: Sequence[Clock], costs: Costs, ticks: int) -> Begin | None:
    """The time of a value of the counter, by the first reading and the rate of the counter.

    The error contains how long the reading took, how far the counter and the clock drifted apart
    until the last reading, and how wrong the clock itself may be.
    """
    if not readings:
        return None
    first, last = readings[0], readings[-1]
    drift = abs(last.ns - first.ns - costs.ns(last.ticks - first.ticks))
    own = costs.ns(first.around_ticks) + drift
    known = [each.most_us for each in readings if each.most_us is not None]
    error = round(own + NS_PER_US * max(known)) if len(known) == len(readings) else None
    return Begin(first.ns + round(costs.ns(ticks - first.ticks)), error)
