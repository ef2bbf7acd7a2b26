# SPDX-License-Identifier: GPL-2.0-or-later
"""Describes the work that a plan leaves unadapted: its amount, its cost, and the reason.

A plan is the same on every machine, but costs are not. So these sentences are not part of the plan:
`kadence plan`, the page and the report make them when they show it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kadence.boot.costs import Costs
from kadence.phases.describe import writes
from kadence.phases.plan import io_planning, memory_planning
from kadence.phases.plan.memory_judgement import FEWEST_FAULTS
from kadence.prediction import prediction
from kadence.prediction.demand import FAULTS, FILE_PAGES, Demand, Item
from kadence.prediction.prediction import TITLES, Prediction

# Share of the run below which an item gets no line. If no costs are known, the count decides.
LEAST_SHARE = 0.01
LEAST_COUNT = 1000
MOST_REASONS = 2  # for one item

NO_WAY = {
    "files opened": "no adaptation replaces the opening of a file",
    "paths looked up": "no adaptation replaces the look-up of a path",
    "calls that map or unmap memory": "only memory from malloc is kept from one use to the next",
    "reads of the clock": "only the kernel knows the time",
    "signals": "no adaptation replaces a signal",
    "threads and processes started": "no adaptation replaces the start of a thread or process",
    "programs started": "no adaptation replaces the start of a program",
    **{f"reads from {end}": "no adaptation replaces a read" for end in writes.ENDS.values()},
    "calls with which threads wait for one another": "waiting is not adapted",
}
NOTHING_ELSE = "of all system calls only small writes are adapted"

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Market:
    """The prices here and there, and the prediction at these prices."""

    own: Costs
    there: Costs
    predicted: Prediction


def sentences(demand: Demand, plan: Body, market: Market | None) -> list[str]:
    """A line for each kind of work that the plan leaves, the costliest first."""
    weighed = sorted(_weighed(demand, market), key=lambda pair: (-pair[1], -pair[0].left))
    lines = [_line(item, share, plan, market) for item, share in weighed]
    if changes_nothing(plan):
        return [_nothing_done(demand, market), *lines]
    return lines


def changes_nothing(plan: Body) -> bool:
    """Whether the plan changes nothing, so that the adapted program equals the plain one."""
    quanta = any(policy["quantum_ns"] for policy in plan["policies"])
    memory = plan["memory"]
    return not (quanta or plan["io"]["sites"] or memory["sites"] or memory["ahead"])


def _weighed(demand: Demand, market: Market | None) -> Iterator[tuple[Item, float]]:
    for item in demand.items:
        if market is None:
            if item.left >= LEAST_COUNT:
                yield item, 0.0
            continue
        share = prediction.share(item, market.own, market.there, market.predicted)
        if share >= LEAST_SHARE and item.left >= FEWEST_FAULTS:
            yield item, share


def _line(item: Item, share: float, plan: Body, market: Market | None) -> str:
    """`58,500 page faults, 31 % of the run on User-Mode Linux, not adapted because …`."""
    of = f" of {item.count:,}" if item.adapted else ""
    part = (
        f", {share:.0%}".replace("%", " %") + f" of the run on {_there(market)}" if market else ""
    )
    return f"{item.left:,}{of} {item.what}{part}, not adapted because {reason(item, plan)}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _there(market: Market | None) -> str:
    return TITLES[market.predicted.target] if market else ""


def _nothing_done(demand: Demand, market: Market | None) -> str:
    asked = f"{demand.calls:,} system calls and {demand.faults:,} page faults"
    if market is None:
        return f"the plan changes nothing; the run has {asked}"
    spent = sum(
        prediction.share(item, market.own, market.there, market.predicted) for item in demand.items
    )
    return f"the plan changes nothing; {asked} are {_percent(spent)} of the run on {_there(market)}"


# ---- reasons -------------------------------------------------------------------------------------


def reason(item: Item, plan: Body) -> str:
    """Why the plan leaves this work as it is, as far as it does."""
    if item.what in (FAULTS, FILE_PAGES):
        return _memory_reason(item, plan)
    for end in writes.ENDS.values():
        if item.what == f"writes to {end}":
            return _io_reason(end, plan)
    return NO_WAY.get(item.what, NOTHING_ELSE)


def _memory_reason(item: Item, plan: Body) -> str:
    told = [
        entry
        for entry in plan["refused"]
        # A refused site with more faults than are left has them made present ahead.
        if entry["what"] == memory_planning.REFUSED and (entry["count"] or 0) <= item.left
    ]
    if told:
        return _some(told)
    if plan["memory"]["reason"]:
        return str(plan["memory"]["reason"])
    if item.what == FILE_PAGES:
        return "only files that the program maps itself, and reads nearly whole, are mapped ahead"
    return f"they are at sites with fewer than {FEWEST_FAULTS} faults each, or have no order"


def _io_reason(end: str, plan: Body) -> str:
    others = [f" to {other}" for other in writes.ENDS.values() if other != end]
    told = [
        entry
        for entry in plan["refused"]
        if entry["what"] == io_planning.REFUSED
        and " writes of " in entry["reason"]
        and not any(other in entry["reason"] for other in others)
    ]
    if told:
        return _some(told)
    if plan["io"]["reason"]:
        return str(plan["io"]["reason"])
    if end != writes.ENDS["file"]:
        return "only a loop of such calls can become one call"
    return "they are too few or too large in their phases, or lie between phases"


def _some(refused: Sequence[Body]) -> str:
    """The reasons with the highest counts, each once; the plan has all reasons."""
    most_first = sorted(refused, key=lambda entry: -(entry.get("count") or 0))
    distinct = list(dict.fromkeys(entry["reason"] for entry in most_first))
    more = len(distinct) - MOST_REASONS
    rest = f"; and {more} more of the plan's refusals" if more > 0 else ""
    return "; ".join(distinct[:MOST_REASONS]) + rest
