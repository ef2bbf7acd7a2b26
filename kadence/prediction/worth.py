# SPDX-License-Identifier: GPL-2.0-or-later
"""What would take the time below the ceiling, the most first: planned, or why it is not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kadence.measurement.shares import percent
from kadence.phases.describe import writes
from kadence.prediction import demand, unadapted
from kadence.prediction.ceiling import START, Ceiling
from kadence.prediction.demand import Item

LEAST_SHARE = 0.001  # of the run; less has no line
LONG_QUANTUM = "long quantum"
WAITING, OTHER_KERNEL = "waiting", "other work of the kernel"
NO_START = "no adaptation replaces the start of a program"
NO_WAIT = "no kernel ends what a program waits for; it may only be told of it sooner"
NO_PRICE = "neither the profile nor the prices say what for"
DEVICE = "where the device answers"

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Taker:
    """Some of a run's time, and what takes it away."""

    what: str
    count: int | None
    share: float  # of the run
    planned: float  # share of the run that the plan is predicted to take away
    how: str  # a sentence: what the plan does, or why it does nothing

    def __str__(self) -> str:
        counted = "" if self.count is None else f"{self.count:,} "
        return f"{percent(self.share)} of the run, {counted}{self.what}: {self.how}"


def takers(found: Ceiling, plan: Body) -> list[Taker]:
    """All that takes a noticeable share of the run, the most first."""
    listed = [each for each in _listed(found, plan) if each.share >= LEAST_SHARE]
    return sorted(listed, key=lambda each: -each.share)


def _listed(found: Ceiling, plan: Body) -> Iterator[Taker]:
    for item in found.demand.items:
        yield _of_item(found, item, plan)
    yield Taker(WAITING, None, found.share(found.run.waited), 0.0, NO_WAIT)
    yield Taker(OTHER_KERNEL, None, found.share(found.unexplained), 0.0, NO_PRICE)


def _of_item(found: Ceiling, item: Item, plan: Body) -> Taker:
    share = found.worth(item)
    if item.what == demand.SWITCHES:
        return Taker(item.what, item.count, share, 0.0, _of_switches(plan))
    if item == START:
        return Taker(item.what, None, share, 0.0, NO_START)
    if not item.adapted:
        return Taker(item.what, item.count, share, 0.0, f"not adapted because {_why(item, plan)}")
    planned = share - found.worth(item, adapted=True)
    how = f"the plan adapts {item.adapted:,}, and takes {percent(planned)}{_where(item)}"
    if item.left:
        how += f"; the other {item.left:,} are not adapted because {_why(item, plan)}"
    return Taker(item.what, item.count, share, planned, how)


def _why(item: Item, plan: Body) -> str:
    return unadapted.reason(item, plan)


def _where(item: Item) -> str:
    """Rings need the device; populated memory does without, within limits."""
    rings = item.what == f"writes to {writes.ENDS['file']}"
    return f" {DEVICE}" if rings else ""


def _of_switches(plan: Body) -> str:
    phases = [str(policy["phase"]) for policy in plan["policies"] if policy["quantum_ns"]]
    if phases:
        which = f"phase {phases[0]}" if len(phases) == 1 else f"phases {', '.join(phases)}"
        long = f"the plan gives {which} a long quantum, which spares involuntary ones"
        return f"{long} {DEVICE}; Linux 6.12 and later grants 100 ms of it without the device"
    told = [entry["reason"] for entry in plan["refused"] if entry["what"] == LONG_QUANTUM]
    return f"not adapted because {told[0]}" if told else "no phase has a long quantum"
