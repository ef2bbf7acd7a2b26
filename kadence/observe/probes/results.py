# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel recorded: probe.c prints it, this reads it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kadence.base.errors import KadenceError
from kadence.observe.probes.instruments import Kind

NO_PHASE = -1
WAITS = ("preempted", "slept", "disk", "blocked")  # enum kadapt_probe_wait
KILO = 1000.0


@dataclass(frozen=True)
class Costs:
    """What the instruments cost on the kernel that they ran on, in ticks a call."""

    ticks_khz: int
    inner: int  # of a timed call, to itself
    tasks_lost: int
    stays_lost: int
    start_ns: int  # until the functions were instrumented
    counted: int  # of a counted call, if no function is timed
    calls: Sequence[int]  # of a call to its caller, by Kind, if any function is timed

    def ns(self, ticks: float) -> float:
        """Nanoseconds."""
        return ticks * KILO * KILO / self.ticks_khz


@dataclass(frozen=True)
class Record:
    """A function in a phase of a task. Times are in ticks, with all costs subtracted."""

    function: int
    calls: int
    inclusive: int  # with callees, without waiting
    children: int  # of timed functions that it called
    bytes: int
    unended: int  # calls in which the task ended
    waited: tuple[int, ...]  # by WAITS, with callees
    histogram: Mapping[int, int]  # calls that took 2^N to 2^(N+1) - 1 ticks


@dataclass(frozen=True)
class Block:
    """A phase of a task."""

    process: int  # 0: of all tasks that had no block of their own
    task: int
    phase: int
    elapsed: int  # ticks
    away: int  # ticks of them in which the task did not run
    name: str
    records: Sequence[Record]


@dataclass(frozen=True)
class Clock:
    """What the node's clock said at a value of the processor's counter: clock.h."""

    ticks: int
    ns: int  # since 1970
    around_ticks: int
    most_us: int | None  # how wrong the clock is at most; None: nobody knows


@dataclass(frozen=True)
class Results:
    """All that was recorded."""

    costs: Costs
    blocks: Sequence[Block]
    clocks: Sequence[Clock] = ()  # at the begin and at the end


def read(lines: Iterable[str]) -> Results:
    """Read what probe.c wrote. Raises KadenceError if this is something else."""
    rows = [line.rstrip("\n") for line in lines]
    try:
        costs = _costs(rows[0].split())
        clocks = [_clock(row.split()[1:]) for row in rows if row.startswith("clock ")]
        return Results(costs, list(_blocks(rows[1:])), clocks)
    except (IndexError, ValueError) as error:
        raise KadenceError("the observation ended without its results; run it again") from error


def _costs(words: Sequence[str]) -> Costs:
    name, khz, inner, _shared, tasks, stays, start, counted, *calls = words
    if name != "arm" or len(calls) != len(Kind):
        raise ValueError(name)
    by_kind = [int(cost) for cost in calls]
    return Costs(int(khz), int(inner), int(tasks), int(stays), int(start), int(counted), by_kind)


def _clock(words: Sequence[str]) -> Clock:
    ticks, ns, around, most = map(int, words)
    return Clock(ticks, ns, around, None if most < 0 else most)


def _blocks(rows: Sequence[str]) -> Iterable[Block]:
    starts = [at for at, row in enumerate(rows) if row.startswith("block ")]
    for at, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        _, process, task, phase, elapsed, away, name = rows[at].split(" ", 6)
        records = [_record(row.split()) for row in rows[at + 1 : end]]
        yield Block(int(process), int(task), int(phase), int(elapsed), int(away), name, records)


def _record(words: Sequence[str]) -> Record:
    function, calls, inclusive, children, count, unended = map(int, words[1:7])
    waited, buckets = words[7 : 7 + len(WAITS)], words[7 + len(WAITS) :]
    histogram = {
        int(bucket): int(number) for bucket, number in (each.split(":") for each in buckets)
    }
    return Record(
        function, calls, inclusive, children, count, unended, tuple(map(int, waited)), histogram
    )
