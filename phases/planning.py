# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence plan`: which adaptation belongs to which phase, where it is announced, and why.

A compute phase gets a long quantum on three conditions. The program's tasks cannot wait for one
another on too few processors. A good marker announces the beginning of the phase. And a marker
announces every way out of it into a phase with I/O. Everything else keeps the kernel's default.

If the profile's backend saw no system calls and no memory, there is nothing else to decide. All
phases are then unseen, and may get a long quantum as compute phases may. Tasks count as waiting
for one another if they outnumber the processors, or if the backend saw no tasks either.

io_planning.py decides which writes go through rings and batches; memory_planning.py decides which
memory is populated or kept.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kadence.base import artefact, codec
from kadence.base.errors import UsageError
from kadence.phases.artefact.document import Boundary, Document, Marker, Phase, build_id_of, parse
from kadence.phases.describe import kinds, needs
from kadence.phases.describe.marking import FIRINGS_PER_SECOND
from kadence.phases.mark import choice, levels
from kadence.phases.mark.levels import Level
from kadence.phases.plan import (
    announcement,
    contention,
    inputs,
    io_planning,
    layout,
    memory_planning,
    reduction,
    trials,
)
from kadence.phases.plan.contention import counted
from kadence.phases.plan.inputs import Inputs, OtherInput
from kadence.phases.plan.io_planning import Paths
from kadence.phases.plan.memory_planning import Memory

DEFAULT_PROCESSORS = 1  # User-Mode Linux in 6.12 has one
DEFAULT_QUANTUM = 5.0  # seconds
LONGEST_QUANTUM = 10.0  # the driver's hard cap
SHORTEST_QUANTUM = 0.0001  # the scheduler's own lower limit
NANOSECONDS = 1_000_000_000

Body = dict[str, Any]


@dataclass
class Decisions:
    """A plan in the making."""

    quantum_ns: int
    chosen: dict[int, Marker] = field(default_factory=dict)
    policies: list[Body] = field(default_factory=list)
    refused: list[Body] = field(default_factory=list)

    def refuse(self, phase: int | None, what: str, reason: str) -> None:
        self.refused.append({"phase": phase, "what": what, "reason": reason})


@dataclass(frozen=True)
class Comparison:
    """The comparison with other inputs, and whether to plan all phases whatever it says."""

    path: Path
    force: bool = False

    def options(self) -> tuple[str, ...]:
        return ("--compare", str(self.path), *(("--force",) if self.force else ()))


@dataclass(frozen=True)
class Options:
    """What the plan is made for."""

    processors: int = DEFAULT_PROCESSORS
    quantum: float = DEFAULT_QUANTUM  # seconds
    io: str = io_planning.STRICT  # one of io_planning.MODES
    memory: str = memory_planning.DEFAULT  # one of memory_planning.MODES
    trials: str = trials.ON  # one of trials.MODES

    def words(self) -> tuple[str, ...]:
        """The options as on the command line."""
        return (
            *("--processors", str(self.processors), "--quantum", f"{self.quantum:g}"),
            f"--io={self.io}",
            f"--memory={self.memory}",
            f"--trials={self.trials}",
        )

    def check(self) -> None:
        """Raise UsageError for values that make no sense."""
        if self.processors < 1:
            raise UsageError(f"--processors takes a whole number from 1, not {self.processors}")
        if not SHORTEST_QUANTUM <= self.quantum <= LONGEST_QUANTUM:
            raise UsageError(
                f"--quantum takes {SHORTEST_QUANTUM:g} to {LONGEST_QUANTUM:g} seconds, not "
                f"{self.quantum:g}"
            )


def run(
    phases_path: Path,
    output: Path,
    options: Options | None = None,
    comparison: Comparison | None = None,
    seen: Path | None = None,
    counts: Path | None = None,
) -> Body:
    """Read the phases artefact and write the plan; returns its body.

    `seen` is a needs artefact: what all processes of the program's commands asked for. `counts` is
    a profile that the program recorded itself, from which the compiler lays out its code.
    """
    raw = artefact.read(phases_path, artefact.PHASES)
    document, build_id = parse(raw, phases_path), build_id_of(raw, phases_path)
    compared = None
    if comparison:
        found = inputs.read(comparison.path, document, build_id, phases_path)
        compared = replace(found, forced=comparison.force)
    options = options or Options()
    body = plan(document, options, compared, build_id)
    body["needs"] = needs.united(body["needs"], seen)
    body["layout"] = layout.read(counts).described() if counts else None
    command = [
        *("kadence", "plan", str(phases_path), "-o", str(output)),
        *options.words(),
        *(comparison.options() if comparison else ()),
        *(("--needs", str(seen)) if seen else ()),
        *(("--layout", str(counts)) if counts else ()),
    ]
    artefact.write(output, artefact.PLAN, build_id, command, body)
    return body


def plan(
    document: Document,
    options: Options,
    compared: Inputs | None = None,
    build_id: str | None = None,
) -> Body:
    """The body of the plan artefact."""
    options.check()
    found = levels.of(document)
    level = found[levels.taken(found)]
    compared = compared.at_level(len(level.joinings)) if compared else None
    others = compared.others if compared else ()
    decisions = Decisions(round(options.quantum * NANOSECONDS))
    _take_markers(level, compared, decisions)
    waiting = contention.between_tasks(document, options.processors)
    waiting = waiting or reduction.why_no_long_quantum(compared)
    for phase in level.document.phases:
        _decide_quantum(level.document, phase, waiting, decisions)
    decisions.policies.sort(key=lambda policy: int(policy["phase"]))
    paths = io_planning.plan_io(document, options.io)
    memory = memory_planning.plan_memory(document, options.memory)
    reduced = reduction.reduce(level.document, compared, paths, memory)
    for policy in decisions.policies:
        policy["memory_plain"] = policy["phase"] in memory.plain
    tried = trials.plan_trials(
        document, level.document, decisions.chosen, decisions.policies, paths, memory
    )
    body = {
        "program": list(document.program),
        "processors": options.processors,
        "stability": _stability(compared),
        "level": _level(level, found[0]),
        "announcement": announcement.of_plan(
            level.document, level.chosen, decisions.chosen, others
        ),
        "policies": decisions.policies,
        "markers": [
            _planned_marker(number, level.document, marker)
            for number, (_, marker) in enumerate(sorted(decisions.chosen.items()))
        ],
        "io": paths.described(),
        "memory": memory.described(),
        "refused": reduced + decisions.refused + paths.refused + memory.refused,
        "needs": _needs(document, paths, memory),
    }
    described = trials.described(options.trials, tried, body, build_id)
    return body | {"trials": codec.encode(described)}


def _stability(compared: Inputs | None) -> Body | None:
    if compared is None:
        return None
    return {
        "verdict": compared.verdict,
        "unknown": compared.unknown,
        "allowed": compared.allowed,
        "reduced": compared.reduce,
    }


def _level(level: Level, finest: Level) -> Body:
    return {
        **level.described(),
        "joined": [
            list(phase.members) for phase in level.document.phases if len(phase.members) > 1
        ],
        "finest": finest.described(),
        "reason": levels.why(level, finest),
    }


def _take_markers(level: Level, compared: Inputs | None, decisions: Decisions) -> None:
    """Take the chosen markers that no other input refutes; say why the others are not taken."""
    others = compared.others if compared else ()
    for phase in level.document.phases:
        marker = level.chosen.get(phase.number)
        reason = reduction.why_unknown(phase, compared)
        reason = reason or _why_not_taken(level.document, phase, level.chosen, others)
        if marker is None or reason is not None:
            decisions.refuse(phase.number, "marker", reason or "")
        else:
            decisions.chosen[phase.number] = marker


def _why_not_taken(
    document: Document, phase: Phase, chosen: dict[int, Marker], others: Sequence[OtherInput]
) -> str | None:
    marker = chosen.get(phase.number)
    if marker is None:
        return choice.why_none(document, phase.number, chosen)
    for other in others:
        judged = other.of(marker)
        if announcement.fails(judged):
            return announcement.why_failed(marker, judged, other)
    return None


def _figures(document: Document, phase: Phase) -> str:
    share = f"{phase.weight:.1%} of the instructions"
    if not document.backend.kernel_seen:
        return f"{share}, system calls were not seen"
    return (
        f"{share}, {phase.io_calls_per_million:g} I/O calls and "
        f"{phase.io_bytes_per_million:g} bytes per million instructions"
    )


def _decide_quantum(
    document: Document, phase: Phase, waiting: str | None, decisions: Decisions
) -> None:
    figures = _figures(document, phase)
    if kinds.does_io(phase.kind):
        evidence = f"{phase.kind}: {figures}; phases with I/O keep the kernel's default quantum"
        _add_policy(phase, 0, evidence, decisions)
        return
    reason = waiting or _why_not_long(document, phase, decisions)
    if reason is not None:
        decisions.refuse(phase.number, "long quantum", reason)
        _add_policy(phase, 0, f"{phase.kind}: {figures}; no long quantum: {reason}", decisions)
        return
    exits = _io_exits(document, phase.number, decisions)
    _add_policy(
        phase,
        decisions.quantum_ns,
        f"{phase.kind}: {figures}; {document.concurrency.evidence}; {_ways_out(document, exits)}",
        decisions,
    )


def _ways_out(document: Document, exits: Iterable[int]) -> str:
    announced = ", ".join(map(str, sorted(exits)))
    if announced:
        return f"the way out into I/O is announced ({announced})"
    if not document.backend.kernel_seen:
        return "whether a way out leads into I/O was not seen"
    return "no way out leads into I/O"


def _add_policy(phase: Phase, quantum_ns: int, evidence: str, decisions: Decisions) -> None:
    """Add one policy for each member, so that policy n stays that of phase n."""
    if len(phase.members) > 1:
        evidence = f"{levels.named(phase.members)} joined: {evidence}"
    decisions.policies += [
        {
            "phase": member,
            "name": phase.kind,
            "quantum_ns": quantum_ns,
            "evidence": evidence,
        }
        for member in phase.members
    ]


def _why_not_long(document: Document, phase: Phase, decisions: Decisions) -> str | None:
    if phase.number not in decisions.chosen:
        return "nothing announces the phase, so the quantum could not be set"
    unmarked = [
        exit_phase
        for exit_phase in _io_exits(document, phase.number, decisions)
        if exit_phase not in decisions.chosen
    ]
    if unmarked:
        return (
            f"nothing announces phase {min(unmarked)}, which does I/O and follows it: "
            "the long quantum would stay on"
        )
    return None


def _io_exits(document: Document, start: int, decisions: Decisions) -> set[int]:
    """Phases with I/O that the run can reach while the policy of `start` is still on.

    A phase that nothing announces runs under the policy of the phase before it. So its own exits
    count as well.
    """
    kind = {phase.number: phase.kind for phase in document.phases}
    found: set[int] = set()
    seen, open_phases = {start}, [start]
    while open_phases:
        for after in _followers(document.boundaries, open_phases.pop()):
            if kinds.does_io(kind[after]):
                found.add(after)
            elif after not in decisions.chosen and after not in seen:
                seen.add(after)
                open_phases.append(after)
    return found


def _followers(boundaries: Iterable[Boundary], phase: int) -> set[int]:
    return {boundary.after for boundary in boundaries if boundary.before == phase}


def _planned_marker(number: int, document: Document, marker: Marker) -> Body:
    return {
        "id": number,
        "phase": marker.phase,
        "kind": marker.kind,
        "function": marker.function,
        "file": marker.file,
        "line": marker.line,
        "loop": marker.loop,
        "cfg_checksum": marker.cfg_checksum,
        "block": marker.block,
        "verified": marker.verified,
        "expected_fires": marker.fires,
        "boundaries": marker.boundaries,
        "evidence": (
            f"fires {counted(marker.fires, 'time')} ({_how_counted(marker)}), announces "
            f"{marker.announced:.0%} of {counted(marker.boundaries, 'boundary', 'boundaries')} "
            f"into {_announced_phase(document, marker)}, "
            f"{marker.false:.1%} of the firings are elsewhere; "
            f"{choice.rate(document, marker):.3g} firings a second expected, "
            f"{FIRINGS_PER_SECOND:.0f} allowed"
        ),
    }


def _announced_phase(document: Document, marker: Marker) -> str:
    members = next(phase.members for phase in document.phases if phase.number == marker.phase)
    return levels.named(members)


def _how_counted(marker: Marker) -> str:
    if marker.block is not None:
        return f"counted at block {marker.block} of its control flow"
    return "counted at its entry" if marker.exact else "estimated from line information"


def _needs(document: Document, paths: Paths, memory: Memory) -> Body | None:
    if not document.backend.kernel_seen:
        return None
    concurrency = document.concurrency
    return {
        "system_calls": sorted(set(document.system_calls)),
        "socket_families": list(document.socket_families),
        "files": [],  # united() adds those that were seen
        "file_systems": [],
        "threads": concurrency.threads > 1,
        "processes": concurrency.processes > 1,
        "tasks": concurrency.threads + concurrency.processes - 1,
        "shared_memory": concurrency.shared_memory,
        "memory_bytes": document.memory_bytes,
        "io_paths": paths.mode != io_planning.OFF,
        "memory": memory.mode != memory_planning.OFF,
    }
