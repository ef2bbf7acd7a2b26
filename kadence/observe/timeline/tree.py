# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of functions, from events: which call contained which, and who waited there.

A call that takes longer than another one and contains it is its caller, or a caller's caller: only
instrumented functions have events.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kadence.observe.paths import COMMAND, PHASE, Path
from kadence.observe.probes.instruments import Instrument
from kadence.observe.probes.results import Costs
from kadence.observe.timeline import events
from kadence.observe.timeline.events import Events, Rows

# Python's integers take ten times the memory of the events.
AT_ONCE = 1 << 16


@dataclass
class _Open:
    """A call in progress."""

    end: int
    path: Path
    own: float  # ticks
    waited: float = 0.0


class _Tree:
    """The paths, and how to find the one below another."""

    def __init__(self) -> None:
        self.root = Path(COMMAND, 0, 0, 0, None)
        self._below: dict[tuple[int, str], Path] = {}

    def below(self, parent: Path, function: str) -> Path:
        key = id(parent), function
        if key not in self._below:
            self._below[key] = Path(function, 0, 0, 0, parent)
            parent.below.append(self._below[key])
        return self._below[key]


def paths(found: Events, costs: Costs, instruments: Sequence[Instrument]) -> Path:
    """All calls of all tasks, below the root; own times and waiting in ns."""
    tree = _Tree()
    rows = found.rows
    for task in np.unique(rows["task"]):
        _add_task(tree, rows[rows["task"] == task], costs, instruments)
    return tree.root


def _add_task(tree: _Tree, rows: Rows, costs: Costs, instruments: Sequence[Instrument]) -> None:
    phases = rows[events.is_phase(rows)]
    phases = phases[np.argsort(phases["begin"])]
    stack: list[_Open] = []
    for begin, end, what in _in_order(rows[~events.is_phase(rows)]):
        while stack and stack[-1].end <= begin:
            _close(stack, costs)
        if what >= events.WAIT:
            if stack:
                stack[-1].own -= end - begin
                stack[-1].waited += end - begin
            continue
        above = stack[-1].path if stack else _phase_of(tree, phases, begin)
        function = instruments[what // events.RECORD_BYTES]
        path = tree.below(above, function.function)
        path.calls += 1
        took = end - begin - costs.inner
        if stack:
            stack[-1].own -= took + costs.calls[function.kind]
        stack.append(_Open(end, path, took))
    while stack:
        _close(stack, costs)


def _in_order(rows: Rows) -> Iterator[tuple[int, int, int]]:
    """Begin, end and what of each event, by begin, the longest first."""
    order = np.lexsort((-rows["end"].astype(np.int64), rows["begin"]))
    for at in range(0, len(order), AT_ONCE):
        part = rows[order[at : at + AT_ONCE]]
        columns = [part[name].tolist() for name in ("begin", "end", "what")]
        yield from zip(*columns, strict=True)


def _close(stack: list[_Open], costs: Costs) -> None:
    call = stack.pop()
    call.path.own += round(costs.ns(max(call.own, 0.0)))
    call.path.own_waited += round(costs.ns(call.waited))


def _phase_of(tree: _Tree, phases: Rows, begin: int) -> Path:
    """The phase in which a call began, or the root."""
    at = int(np.searchsorted(phases["begin"], begin, side="right")) - 1
    if at < 0 or int(phases["end"][at]) <= begin:
        return tree.root
    path = tree.below(tree.root, f"{PHASE}{int(phases['what'][at]) - events.PHASE}")
    path.calls = len(phases[phases["what"] == phases["what"][at]])
    return path
