# SPDX-License-Identifier: GPL-2.0-or-later
"""Lanes of spans: for each task its phases, calls and waits, and for each processor its tasks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kadence.observe.probes.instruments import Instrument
from kadence.observe.probes.results import WAITS, Block, Costs, Results
from kadence.observe.timeline import clocks, events
from kadence.observe.timeline.clocks import Begin
from kadence.observe.timeline.events import Events, Rows

Numbers = np.ndarray[Any, np.dtype[Any]]
PHASES, CALLS, WAITING, RUNNING = "phases", "calls", "waiting", "runs"


@dataclass(frozen=True)
class Lane:
    """Spans that do not overlap, by rising time. Times are ns since the first event."""

    owner: str  # a task or a processor
    kind: str
    depth: int  # of calls
    begins: Numbers
    ends: Numbers
    labels: Numbers  # positions in Timeline.labels


@dataclass
class Labels:
    """Names of spans, each with a number."""

    numbers: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> int:
        """The name's number."""
        return self.numbers.setdefault(name, len(self.numbers))


@dataclass(frozen=True)
class Timeline:
    """All lanes of an observation."""

    labels: Sequence[str]
    lanes: Sequence[Lane]
    length_ns: int
    lost: int
    begin: Begin | None = None  # None: no clock was read


def make(
    found: Events,
    results: Results,
    instruments: Sequence[Instrument],
    ranks: Mapping[int, int] | None = None,
) -> Timeline:
    """The lanes of what was observed, tasks in the order in which they began.

    `ranks` are those of processes.
    """
    rows = found.rows
    if not len(rows):
        return Timeline([], [], 0, found.lost)
    start, labels = int(rows["begin"].min()), Labels()
    owners = {block.task: _owner(block, ranks or {}) for block in results.blocks}
    numbers = _labels_of(instruments, labels)
    lanes: list[Lane] = []
    for task in _by_begin(rows):
        own = _scaled(rows[rows["task"] == task], start, results.costs)
        lanes += _task(owners.get(task, f"task {task}"), own, numbers, labels)
    lanes += _processors(_scaled(rows, start, results.costs), owners, labels)
    length = max(int(lane.ends.max()) for lane in lanes)
    begin = clocks.begin(results.clocks, results.costs, start)
    return Timeline(list(labels.numbers), lanes, length, found.lost, begin)


def _owner(block: Block, ranks: Mapping[int, int]) -> str:
    rank = f"rank {ranks[block.process]}, " if block.process in ranks else ""
    return f"{rank}{block.name} ({block.task})"


def _labels_of(instruments: Sequence[Instrument], labels: Labels) -> Numbers:
    """The label of each function, by its place among the instruments."""
    return np.array([labels.of(each.function) for each in instruments], dtype=np.int64)


def _by_begin(rows: Rows) -> list[int]:
    tasks = np.unique(rows["task"])
    return sorted(map(int, tasks), key=lambda task: int(rows["begin"][rows["task"] == task].min()))


def _scaled(rows: Rows, start: int, costs: Costs) -> Rows:
    """A copy with nanoseconds from the start."""
    copy = rows.copy()
    for name in ("begin", "end"):
        copy[name] = np.rint((rows[name] - start) * (costs.ns(1_000_000) / 1_000_000))
    return copy


def _task(owner: str, rows: Rows, numbers: Numbers, labels: Labels) -> Iterator[Lane]:
    phases = rows[events.is_phase(rows)]
    if len(phases):
        names = [labels.of(f"phase {what - events.PHASE}") for what in phases["what"]]
        yield _lane(owner, PHASES, 0, phases, np.array(names))
    calls = rows[events.is_call(rows)]
    calls = calls[np.lexsort((-calls["end"].astype(np.int64), calls["begin"]))]
    depths = depths_of(calls["begin"], calls["end"])
    for depth in range(int(depths.max()) + 1 if len(calls) else 0):
        level = calls[depths == depth]
        yield _lane(owner, CALLS, depth, level, numbers[level["what"] // events.RECORD_BYTES])
    waits = rows[events.is_wait(rows)]
    if len(waits):
        names = [labels.of(WAITS[what - events.WAIT]) for what in waits["what"]]
        yield _lane(owner, WAITING, 0, waits, np.array(names))


def _lane(owner: str, kind: str, depth: int, rows: Rows, labels: Numbers) -> Lane:
    order = np.argsort(rows["begin"], kind="stable")
    begins, ends = rows["begin"][order].astype(np.int64), rows["end"][order].astype(np.int64)
    return Lane(owner, kind, depth, begins, ends, labels[order].astype(np.int64))


def depths_of(begins: Numbers, ends: Numbers) -> Numbers:
    """How many calls contain each one; the calls are sorted by their begin, the longest first."""
    depths = np.zeros(len(begins), dtype=np.int64)
    open_ends: list[int] = []
    for at, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        depths[at] = len(open_ends)
        open_ends.append(end)
    return depths


# ---- processors ---------------------------------------------------------------------------------


def _processors(rows: Rows, owners: dict[int, str], labels: Labels) -> Iterator[Lane]:
    """Which task ran where: from the end of one wait to the begin of the next."""
    runs = [run for task in np.unique(rows["task"]) for run in _runs(rows[rows["task"] == task])]
    for processor in sorted({run[0] for run in runs}):
        own = sorted(run[1:] for run in runs if run[0] == processor)
        begins, ends, tasks = (
            np.array(column, dtype=np.int64) for column in zip(*own, strict=True)
        )
        names = np.array([labels.of(owners.get(int(task), f"task {task}")) for task in tasks])
        yield Lane(f"processor {processor}", RUNNING, 0, begins, ends, names)


def _runs(rows: Rows) -> Iterator[tuple[int, int, int, int]]:
    """Processor, begin, end and task. The processor that ends a wait is the one that goes on."""
    task = int(rows["task"][0])
    waits = rows[events.is_wait(rows)]
    waits = waits[np.argsort(waits["begin"], kind="stable")]
    begin, processor = int(rows["begin"].min()), int(rows["processor"][0])
    for wait in waits:
        if int(wait["begin"]) > begin:
            yield processor, begin, int(wait["begin"]), task
        begin, processor = int(wait["end"]), int(wait["processor"])
    last = int(rows["end"].max())
    if last > begin:
        yield processor, begin, last, task
