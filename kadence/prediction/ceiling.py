# SPDX-License-Identifier: GPL-2.0-or-later
"""The ceiling: the most that any adaptation could gain of a run, and in which phases.

Measured runs say how much of the time is not the program's own computing. The profile, at the
prices of this machine's own kernel, says what takes it, and in which phases. docs/ceiling.md has
the method and its limits.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kadence.base.statistics import Estimate
from kadence.boot import costs
from kadence.boot.costs import Costs
from kadence.measurement.shares import Shares
from kadence.phases.artefact.document import Document, Phase, Transfers
from kadence.prediction import demand
from kadence.prediction.demand import BY_DESCRIPTOR, READING, WRITING, Demand, Item
from kadence.prediction.prediction import INSTRUCTIONS_PER_SECOND, NANOSECONDS

# Calls that may put their caller to sleep, besides those on pipes and sockets.
WAITING = frozenset(
    [
        *("futex", "nanosleep", "clock_nanosleep", "pause", "rt_sigsuspend", "rt_sigtimedwait"),
        *("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"),
        *("wait4", "waitid", "accept", "accept4", "connect", "recvmmsg", "msgrcv", "semop"),
        *("semtimedop", "flock", "fsync", "fdatasync", "sync_file_range", "msync", "sync"),
        *("io_getevents", "io_uring_enter"),
    ]
)
OUTSIDE = "outside phases"
# Nobody profiles what the kernel does before a program's first instruction.
START = Item("start of the program", {costs.EXEC: 1, costs.FORK: -1}, 1)


@dataclass(frozen=True)
class Row:
    """Where the time of one phase goes, in seconds of one run."""

    phase: int | None  # None: what is in no phase
    kind: str
    own: float
    faults: float
    calls: float
    switches: float = 0.0
    waiting: float = 0.0

    @property
    def kernel(self) -> float:
        return self.faults + self.calls + self.switches

    @property
    def seconds(self) -> float:
        return self.own + self.kernel + self.waiting


@dataclass(frozen=True)
class Ceiling:
    """The most that can be gained of a run, and where."""

    run: Shares
    demand: Demand  # of the profiled run, adapted by the plan, with the measured switches
    prices: Costs
    priced: float  # seconds that the demand costs at these prices
    scale: float  # by which the rows' kernel time was made smaller to fit what was measured
    rows: tuple[Row, ...]

    @property
    def measured(self) -> bool:
        return self.run.runs > 0

    @property
    def unexplained(self) -> float:
        """Seconds of the kernel for which the profile and the prices have no reason."""
        return self.run.kernel - sum(row.kernel for row in self.rows)

    @property
    def is_off(self) -> bool:
        """Whether the priced time is outside the interval of the measured time."""
        found = self.run.kernel_seconds
        return self.measured and not found.low <= self.priced <= found.high

    def share(self, seconds: float) -> float:
        return seconds / self.run.capacity

    def worth(self, item: Item, *, adapted: bool = False) -> float:
        """The share of the run that an item of the demand takes."""
        spent = item.nanoseconds(self.prices, adapted=adapted)
        return self.share(max(self.scale * spent, 0.0) / NANOSECONDS)


def tasks_of(document: Document) -> int:
    """The most tasks of a profiled program that could run at once."""
    found = document.concurrency
    return max(len(document.ranks), 1) * max(found.threads + found.processes - 1, 1)


def find(document: Document, asked: Demand, own: Costs, run: Shares | None) -> Ceiling:
    """The ceiling of a profiled run, from what was measured of it; if nothing was, a guess.

    `asked` is the demand by demand.of(), and `own` this machine's prices.
    """
    run = run or _guessed(document, _in_full(asked, 0), own)
    prices = _as_served(document, own, run)
    asked = _in_full(asked, round(run.voluntary_switches + run.involuntary_switches))
    priced = _seconds(asked.items, prices)
    # Prices within the error of what was measured stay as they are.
    scale = 1.0 if priced <= run.kernel_seconds.high else run.kernel / priced
    rows = _with_waits(document, _of_phases(document, asked, prices, run), prices, run)
    return Ceiling(run, asked, prices, priced, scale, tuple(_scaled(row, scale) for row in rows))


def _in_full(asked: Demand, switches: int) -> Demand:
    found = demand.in_full(asked, switches)
    return replace(found, items=(*found.items, START))


def _guessed(document: Document, asked: Demand, own: Costs) -> Shares:
    """From instructions and prices alone. Nothing is known of switches and waiting."""
    kernel = _seconds(asked.items, own)
    computing = sum(document.intervals.instructions) / INSTRUCTIONS_PER_SECOND
    whole = kernel + computing
    share = Estimate(kernel / whole, 0.0, 1.0, 0.0, 0)
    return Shares(0, whole, 0.0, whole, computing, kernel, 0.0, 0.0, 0.0, share, share)


def _as_served(document: Document, own: Costs, run: Shares) -> Costs:
    """The prices, with the price of a fault as the kernel served this run's.

    A kernel that serves many pages by one fault, as with huge pages, has fewer faults than the
    profile has pages. The others came in bulk.
    """
    pages = document.memory.faults
    if not run.runs or run.minor_faults >= pages:
        return own
    one = own.of(costs.FAULT)
    # The price of a populated page includes its end.
    bulk = min(max(own.of(costs.POPULATE) - own.of(costs.FREE), 0.0), one)
    price = (run.minor_faults * one + (pages - run.minor_faults) * bulk) / pages
    return replace(own, nanoseconds=own.nanoseconds | {costs.FAULT: price})


def _seconds(items: Iterable[Item], prices: Costs) -> float:
    return sum(item.nanoseconds(prices, adapted=False) for item in items) / NANOSECONDS


def _of_phases(document: Document, asked: Demand, prices: Costs, run: Shares) -> list[Row]:
    """A row for each phase, without switches and waiting, and one for what is in no phase."""
    rows = [_row(document, phase, prices, run) for phase in document.phases]
    faults, calls = _by_class(asked.items, prices)
    whole = {"own": run.own, "faults": faults, "calls": calls}
    left = {
        name: max(seconds - sum(getattr(row, name) for row in rows), 0.0)
        for name, seconds in whole.items()
    }
    return [*rows, Row(None, OUTSIDE, **left)]


def _row(document: Document, phase: Phase, prices: Costs, run: Shares) -> Row:
    """Own time is divided by instructions, because the profile has no other time of a phase."""
    found = document.intervals
    share = phase.weight * found.computed / sum(found.instructions)
    asked = demand.in_full(Demand(demand.of_phase(document, phase), 0), 0)
    return Row(phase.number, phase.kind, share * run.own, *_by_class(asked.items, prices))


def _by_class(items: Sequence[Item], prices: Costs) -> tuple[float, float]:
    """Seconds for faults, and for calls."""
    faults = [item for item in items if item.is_fault]
    return _seconds(faults, prices), _seconds((item for item in items if item.is_call), prices)


def _with_waits(
    document: Document, rows: Sequence[Row], prices: Costs, run: Shares
) -> Iterator[Row]:
    """Divide waiting and the switches into it by calls that may wait, other switches by time."""
    waits = [_waits(phase.transfers) for phase in document.phases]
    waits.append(max(_waits(document.transfers) - sum(waits), 0))
    if not sum(waits):
        waits[-1] = 1
    one = demand.in_full(Demand((), 0), 1).items
    price = max(_seconds(one, prices), 0.0)
    whole = sum(row.seconds for row in rows) or 1.0
    for row, own in zip(rows, waits, strict=True):
        share = own / sum(waits)
        switches = run.voluntary_switches * share + run.involuntary_switches * row.seconds / whole
        yield replace(row, switches=price * switches, waiting=run.waited * share)


def _waits(transfers: Iterable[Transfers]) -> int:
    """How many of the calls may put their caller to sleep."""
    return sum(
        call.count
        for call in transfers
        if call.name in WAITING
        or (call.descriptor in BY_DESCRIPTOR and call.name in WRITING | READING)
    )


def _scaled(row: Row, scale: float) -> Row:
    return replace(
        row, faults=scale * row.faults, calls=scale * row.calls, switches=scale * row.switches
    )
