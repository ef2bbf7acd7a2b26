# SPDX-License-Identifier: GPL-2.0-or-later
"""The trials part of a plan: what an adapted program tries on its own phases, and what was learned.

A process tries a policy in some visits of a phase and behaves plainly in others. So it can try only
what it can tell apart and change at a visit: a policy of a phase that a marker announces.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from kadence.base.codec import FLAT
from kadence.base.errors import UsageError
from kadence.phases.artefact.document import Document, Marker, Phase
from kadence.phases.plan import io_records
from kadence.phases.plan.io_planning import Paths
from kadence.phases.plan.io_records import BATCHES
from kadence.phases.plan.memory_judgement import FEWEST_FAULTS
from kadence.phases.plan.memory_planning import Memory

ON, OFF = MODES = ("on", "off")
POLICIES = ("quantum", "rings", "batches", "memory")
QUANTUM, RINGS, BATCHED, MEMORY = POLICIES

# Figures and reasons. The adapted program does the same whatever they are.
TOLD = frozenset(["boundaries", "evidence", "expected_fires", "id", "name", "reason"])
# The digits of a plan's id for the program, its build and its phase model.
PROGRAM, BUILD, MODEL = slice(0, 4), slice(4, 10), slice(10, 16)

# Of effects and errors. The compiler plugin refuses more, and counts in millionths.
LEAST, MOST = 1e-6, 20.0
MOST_BLOCKS = 1 << 40

Body = dict[str, Any]


@dataclass(frozen=True, order=True)
class MachineKind:
    """Machines on which a policy is expected to have the same effect."""

    processor: str  # its model
    kernel: str  # the series
    memory_gib: int


@dataclass(frozen=True, order=True)
class Arm:
    """A level of a policy in a phase."""

    phase: int
    policy: str
    level: int  # 1 is what the plan says

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise ValueError(f"the policy {self.policy!r} is unknown")
        if self.phase < 0 or self.level < 1:
            raise ValueError(f"phase {self.phase}, level {self.level} cannot be tried")


@dataclass(frozen=True)
class Effect:
    """What blocks of a trial say about an arm, as the logarithm of a ratio of times."""

    effect: float  # negative: the policy helps
    error: float  # standard error
    blocks: int

    def __post_init__(self) -> None:
        if not (abs(self.effect) <= MOST and LEAST <= self.error <= MOST):
            raise ValueError("an effect or its error is impossible")
        if not 1 <= self.blocks <= MOST_BLOCKS:
            raise ValueError("an effect has an impossible number of blocks")


def effect(value: float, error: float, blocks: int) -> Effect:
    """An effect whose error is neither 0, from blocks equal to the nanosecond, nor too large."""
    return Effect(value, min(max(error, LEAST), MOST), blocks)


@dataclass(frozen=True)
class ArmEffect:
    """An arm with its effect in one run."""

    arm: Annotated[Arm, FLAT]
    found: Annotated[Effect, FLAT]


@dataclass(frozen=True)
class LearnedRun:
    """What the processes of one run told, on machines of one kind."""

    seed: str  # of the run's coin
    machine: MachineKind
    records: tuple[str, ...]  # ids of the processes' records
    arms: tuple[ArmEffect, ...]


@dataclass(frozen=True)
class Learned:
    """The effect of an arm on one kind of machine, from all runs there."""

    arm: Annotated[Arm, FLAT]
    machine: MachineKind
    found: Annotated[Effect, FLAT]
    records: int


@dataclass(frozen=True)
class TriedPhase:
    """The policies that can be tried in a phase, and how often a run will visit it."""

    phase: int
    policies: tuple[str, ...]
    visits: int


@dataclass(frozen=True)
class Trials:
    """The entry in the plan."""

    mode: str
    id: str
    phases: tuple[TriedPhase, ...]
    learned: tuple[Learned, ...] = ()
    runs: tuple[LearnedRun, ...] = ()  # from which `learned` follows

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"trials are {self.mode!r}, neither on nor off")


def plan_trials(
    document: Document,
    level: Document,
    markers: Mapping[int, Marker],
    policies: Sequence[Body],
    paths: Paths,
    memory: Memory,
) -> tuple[TriedPhase, ...]:
    """Decide for every announced phase of the level; leaves out phases with nothing to try.

    I/O is planned for the phases of the document, quanta and markers for those of the level.
    """
    ways = _ways(document, paths)
    found = []
    for phase in level.phases:
        marker = markers.get(phase.number)
        if marker is None:
            continue
        able = {
            QUANTUM: policies[phase.number]["quantum_ns"] > 0,
            RINGS: any(RINGS in ways.get(member, ()) for member in phase.members),
            BATCHED: any(BATCHED in ways.get(member, ()) for member in phase.members),
            MEMORY: _is_treated(document, phase, memory),
        }
        tried = tuple(policy for policy in POLICIES if able[policy])
        if tried:
            found.append(TriedPhase(phase.number, tried, _visits(marker)))
    return tuple(found)


def _ways(document: Document, paths: Paths) -> dict[int, set[str]]:
    """For each phase with I/O sites, whether its calls go through rings, batches or both."""
    planned = {site["phase"] for site in paths.sites}
    return {
        phase.number: {
            BATCHED if records.way is BATCHES else RINGS
            for records in io_records.of_phase(document, phase)
            if records.objection() is None
        }
        for phase in document.phases
        if phase.number in planned
    }


def _is_treated(document: Document, phase: Phase, memory: Memory) -> bool:
    """Whether sites of the phase are treated, or enough of its memory is populated ahead."""
    if memory.plain.intersection(phase.members):
        return False
    faults = sum(document.phases[member].memory.faults for member in phase.members)
    planned = {site["phase"] for site in memory.sites}
    return bool(planned.intersection(phase.members)) or (
        bool(memory.ahead) and faults >= FEWEST_FAULTS
    )


def _visits(marker: Marker) -> int:
    """The stays in the phase that the marker announces."""
    return round(marker.announced * marker.boundaries)


def described(mode: str, phases: Sequence[TriedPhase], plan: Body, build_id: str | None) -> Trials:
    """The plan's entry, before anything is learned."""
    if mode not in MODES:
        raise UsageError(f"--trials takes {', '.join(MODES)}, not {mode!r}")
    return Trials(mode, identity(plan, build_id), tuple(phases) if mode == ON else ())


def identity(plan: Body, build_id: str | None) -> str:
    """What a record of a trial must agree on to say anything about this plan: 16 digits.

    The program, its build and its phase model have digits of their own, so that a refusal can name
    the one that differs.
    """
    program = plan["program"][0].rpartition("/")[2] if plan["program"] else ""
    model = {key: list(_done(plan[key])) for key in ("policies", "markers")} | {
        key: {**plan[key], "reason": None, "sites": list(_done(plan[key]["sites"]))}
        for key in ("io", "memory")
    }
    digits = map(_digits, (program, build_id or "", model))
    widths = (PROGRAM, BUILD, MODEL)
    return "".join(
        digest[: width.stop - width.start] for digest, width in zip(digits, widths, strict=True)
    )


def _done(entries: Sequence[Body]) -> Iterator[Body]:
    """The entries without what only people read."""
    for entry in entries:
        yield {key: value for key, value in entry.items() if key not in TOLD}


def _digits(value: object) -> str:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def difference(own: str, other: str) -> str | None:
    """Names what differs between the plan's id and a record's; None if they agree."""
    if own[PROGRAM] != other[PROGRAM]:
        return "another program"
    if own[BUILD] != other[BUILD]:
        return "another build of the program"
    if own[MODEL] != other[MODEL]:
        return "another phase model: its policies, markers or sites differ"
    return None
