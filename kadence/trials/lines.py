# SPDX-License-Identifier: GPL-2.0-or-later
"""The kinds of lines in a record of trials, as kadapt/lib/trials/record.c writes them."""

import re
from dataclasses import dataclass

from kadence.phases.plan.trials import Arm, MachineKind

TRIAL_STATES = ("warm-up", "going", "ended", "unlike", "short", "follows")
GOING, ENDED, UNLIKE, SHORT, FOLLOWS = TRIAL_STATES[1:]
ARM_STATES = ("open", "helps", "hurts", "dropped", "enough", "idle")
OPEN, HELPS, HURTS, DROPPED, ENOUGH, IDLE = ARM_STATES
CLOCKS = ("wall", "task")
MEASURES = ("visits", "firings", "allocated")

MOST_PHASES = 256  # as the driver's
# Times are below 2^64 ns, so their logarithms differ by less.
MOST_DIFFERENCE = 50.0
GIB = 1 << 30
DIGITS = re.compile("[0-9a-f]{16}")
SERIES = re.compile(r"[0-9]+\.[0-9]+")

Pair = tuple[float, float]  # plain, and at the level


def _require(fits: bool, what: str) -> None:
    if not fits:
        raise ValueError(what)


def _require_one_of(value: str, known: tuple[str, ...], what: str) -> None:
    _require(value in known, f"the {what} {value!r} is unknown")


@dataclass(frozen=True)
class Machine:
    """Where a process ran."""

    processor: str
    kernel: str  # the release
    memory_bytes: int
    processors: int

    def __post_init__(self) -> None:
        _require(SERIES.match(self.kernel) is not None, f"{self.kernel!r} is no kernel's release")
        _require(self.memory_bytes >= 0 and self.processors >= 0, "a machine has less than nothing")

    @property
    def kind(self) -> MachineKind:
        """As kadapt_kind_hash() of kadapt/lib/trials/kind.c rounds it."""
        series = SERIES.match(self.kernel)
        assert series is not None
        return MachineKind(self.processor, series[0], (self.memory_bytes + GIB // 2) // GIB)


@dataclass(frozen=True)
class Header:
    """The first line of a process."""

    process: int
    version: int
    program: str  # build-id of the adapted program, or empty
    plan: str  # the id of its plan's trials
    machine: Machine
    seed: str  # of its coin; the processes of a job have the same
    budget: float
    started: int  # seconds since 1970

    def __post_init__(self) -> None:
        for digits in (self.plan, self.seed):
            _require(DIGITS.fullmatch(digits) is not None, f"{digits!r} is not 16 hex digits")


@dataclass(frozen=True)
class PhaseLine:
    """A phase whose warm-up ended."""

    phase: int
    state: str
    spread: float  # median absolute difference of successive plain visits
    mean_ns: float
    clock: str
    measure: str  # what a visit's work is counted in
    washout: int  # visits of a slot that are not measured
    measured: int

    def __post_init__(self) -> None:
        _require(0 <= self.phase < MOST_PHASES, f"there is no phase {self.phase}")
        _require_one_of(self.state, TRIAL_STATES, "state")
        _require_one_of(self.clock, CLOCKS, "clock")
        _require_one_of(self.measure, MEASURES, "measure")
        _require(self.washout >= 0 and self.measured >= 0, "a slot has less than no visits")

    @property
    def visits_of_block(self) -> int:
        return 2 * (self.washout + self.measured)


def _require_arm(phase: int, policy: str, level: int) -> None:
    _require(phase < MOST_PHASES, f"there is no phase {phase}")
    Arm(phase, policy, level)


@dataclass(frozen=True)
class BlockLine:
    """A policy at a level, and plain, in an order that a coin decided."""

    phase: int
    policy: str
    level: int
    level_first: bool
    difference: float  # logarithm of the level's time for its work over the plain one's
    bound: float  # of the difference, known before the block
    time_ns: Pair
    work: Pair
    task_ns: Pair
    system_ns: Pair
    faults: Pair
    involuntary_switches: Pair

    def __post_init__(self) -> None:
        _require_arm(self.phase, self.policy, self.level)
        _require(0 < self.bound <= MOST_DIFFERENCE, f"a block's bound is {self.bound}")
        _require(abs(self.difference) <= MOST_DIFFERENCE, "a block's difference is impossible")

    @property
    def arm(self) -> Arm:
        return Arm(self.phase, self.policy, self.level)


@dataclass(frozen=True)
class DecisionLine:
    """An arm's new state, and its figures at that time."""

    phase: int
    policy: str
    level: int
    state: str
    blocks: int
    visits: int
    effect: float
    low: float | None  # None: unbounded
    high: float | None

    def __post_init__(self) -> None:
        _require_arm(self.phase, self.policy, self.level)
        _require_one_of(self.state, ARM_STATES, "state")

    @property
    def arm(self) -> Arm:
        return Arm(self.phase, self.policy, self.level)


@dataclass(frozen=True)
class EndLine:
    """The process's end."""

    elapsed_ns: float
    spent_ns: float
    boundaries: int


KINDS = {"phase": PhaseLine, "block": BlockLine, "decision": DecisionLine, "end": EndLine}
