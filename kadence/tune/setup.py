# SPDX-License-Identifier: GPL-2.0-or-later
"""What must be known before candidates can be predicted: builds, profile, plan, times, prices."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from kadence.base import artefact
from kadence.base.errors import KadenceError, ToolError
from kadence.boot import costs
from kadence.boot.request import TARGETS
from kadence.kconfig.request.request import GENERIC
from kadence.kconfig.store import store
from kadence.kconfig.store.store import Kernel
from kadence.measurement import execution
from kadence.measurement.execution import Sample
from kadence.measurement.measure import PLAIN
from kadence.phases.artefact import document
from kadence.prediction import demand
from kadence.prediction.prediction import Timed
from kadence.profiler import kprof
from kadence.program.program import Program
from kadence.specialize import foresight
from kadence.specialize.line import Line
from kadence.tune import conditions, model, shares
from kadence.tune.candidates import Candidate, usable_processors
from kadence.tune.conditions import Situation
from kadence.tune.makes import Makes
from kadence.tune.model import Market
from kadence.tune.shares import Shares
from kadence.tune.state import Entry

TIMED_RUNS = 2  # of the profiled command; the quicker counts


@dataclass(frozen=True)
class Prepared:
    """The plain program, its plan, and what the model needs."""

    makes: Makes
    build_key: str  # changes with anything that a candidate is built from
    build_id: str | None
    build_seconds: float  # of the plain program; 0 if it was built before


@dataclass(frozen=True)
class Known:
    """What predictions rest on."""

    situation: Situation
    shares: Shares
    market: Market


def prepare(line: Line) -> Prepared:
    """Build and profile the plain program and plan for it, as far as that is not done already."""
    source_key = line.copied()
    began = time.monotonic()
    before = line.places.build(PLAIN).exists()
    plain_key = line.built(PLAIN, source_key, None)
    build_seconds = 0.0 if before else time.monotonic() - began
    line.tried(plain_key)
    counted_key = line.counted(source_key)
    plan_key, _ = line.planned(plain_key, False, partial(_generic, line), counted_key)
    plan = line.places.artefact("plan.json") if plan_key else None
    phases = line.places.artefact("phases.json")
    build_id = artefact.load(artefact.Envelope, phases, artefact.PHASES).build_id
    makes = Makes(line, source_key, plan, plan_key)
    return Prepared(makes, f"{plain_key} {plan_key}", build_id, build_seconds)


def _generic(line: Line, *_keys: str) -> Kernel | None:
    """The kernel on which `kadence specialize` saw the program's needs; None without such needs.

    Then the plan is the one that `specialize` made, and is not made anew.
    """
    if line.places.artefact("needs.json").exists():
        with suppress(KadenceError):
            return store.find(GENERIC)
    return None


def learn(prepared: Prepared, mitigations_off: bool) -> Known:
    """Read the profile, time the profiled command, and look at the machine."""
    line = prepared.makes.line
    profile = kprof.read(line.places.artefact("kprof"))
    described = document.load(line.places.artefact("phases.json"))
    if not described.backend.kernel_seen:
        raise ToolError(f"the profile of {line.program.name} has no system calls; {REMEDY}")
    plan = artefact.read(prepared.makes.plan, artefact.PLAN) if prepared.makes.plan else None
    timed, own = timed_profile_run(line), costs.own()
    others = {target: found for target in TARGETS if (found := foresight.costs_of(target))}
    device = shares.DEVICE.exists()
    run = shares.Run(
        described,
        demand.of(described, plan),
        plan,
        timed,
        own,
        shares.code(profile, line.places.build(PLAIN)),
        device,
        max(each.of(costs.SIGNAL) for each in (own, *others.values())),
    )
    situation = Situation(
        threads=described.concurrency.threads > 1,
        openmp=shares.uses_openmp(profile),
        plan_changes=shares.plan_changes(plan, device),
        processors=len(usable_processors()),
        mitigations_off=mitigations_off,
        huge_pages=conditions.huge_pages(),
        glibc=conditions.glibc(),
        taskset=conditions.has_taskset(),
    )
    return Known(situation, shares.of(run), Market(run.demand, timed, own, others))


REMEDY = "tune a program that `kadence profile` can record"


def timed_profile_run(line: Line) -> Timed:
    """The quickest of a few runs of the profiled command."""
    program = line.program
    runs = [_run(line, program, program.profile, program.profile_input) for _ in range(TIMED_RUNS)]
    best = min(runs, key=lambda sample: sample.program_seconds)
    return Timed(best.program_seconds, best.user_seconds + best.system_seconds)


def timed_run(line: Line) -> Sample:
    """One run of the command that is raced."""
    return _run(line, line.program, line.program.run, line.program.standard_input)


def _run(line: Line, program: Program, argv: Sequence[str], standard_input: str) -> Sample:
    scratch = line.places.output / "scratch"
    scratch.mkdir(exist_ok=True)
    ending = execution.run(
        argv,
        line.places.build(PLAIN),
        image=None,
        scratch=scratch,
        environment=execution.environment(program.environment),
        standard_input=standard_input,
        timeout_seconds=program.timeout_seconds,
    )
    if ending.status:
        raise ToolError(
            f"`{' '.join(argv)}` ended with status {ending.status} while it was timed; its output "
            f"is in {scratch / 'stderr'}"
        )
    return ending.sample


def entries(candidates: Sequence[Candidate], known: Known, everything: bool) -> list[Entry]:
    """Predict each candidate, and say why one is not worth a race.

    With `everything`, only those are out that cannot run here.
    """
    found = [_entry(each, known) for each in candidates]
    if not everything:
        return found
    return [replace(entry, out="") if entry.predicted is not None else entry for entry in found]


def _entry(candidate: Candidate, known: Known) -> Entry:
    reason = conditions.unmet(candidate.needs, known.situation)
    if reason:
        return Entry(candidate.name, None, reason)
    found = model.predict(candidate, known.shares, known.market)
    if found is None:
        why = f"no {candidate.target} kernel has been booted here without emulation"
        return Entry(candidate.name, None, why)
    if not found.is_promising:
        return Entry(candidate.name, found, f"gains less than 1 % even at best: {found.why}")
    alone = model.setting_of(candidate, known.shares)
    if candidate.base and not alone.is_promising:
        why = f"gains less than 1 % over {candidate.base} even at best: {alone.why}"
        return Entry(candidate.name, found, why)
    return Entry(candidate.name, found, "")
