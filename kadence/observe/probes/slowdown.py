# SPDX-License-Identifier: GPL-2.0-or-later
"""Predicts what instruments will cost a run, from a run in which calls were only counted."""

from collections.abc import Sequence

from kadence.base.errors import UsageError
from kadence.observe.probes.instruments import Instrument, Kind
from kadence.observe.probes.results import Results

MOST_PERCENT = 10.0


def predicted_percent(counted: Results, instruments: Sequence[Instrument]) -> float:
    """How much longer the tasks' time on processors will be with these instruments."""
    costs = counted.costs
    has_timers = any(each.kind not in (Kind.COUNT, Kind.POINT) for each in instruments)
    ran, more, counted_ticks = 0, 0, 0
    for block in counted.blocks:
        ran += block.elapsed - block.away
        for record in block.records:
            kind = instruments[record.function].kind
            counting = costs.calls[kind] if kind == Kind.POINT else costs.counted
            more += record.calls * (costs.calls[kind] if has_timers else counting)
            counted_ticks += record.calls * counting
    without = ran - counted_ticks
    return 100 * more / without if without > 0 else 0.0


def require(percent: float, most: float) -> None:
    """Raise UsageError if the run would be slowed down by more than the user permits."""
    if percent > most:
        raise UsageError(
            f"the instruments would make the run {percent:.1f} % longer, more than {most:g} %; "
            f"observe fewer functions, or permit it with --most-slowdown {percent + 1:.0f}"
        )
