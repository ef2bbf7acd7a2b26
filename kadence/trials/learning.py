# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence learn`: folds records of trials into a plan, as evidence."""

import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kadence.base import artefact, codec
from kadence.base.errors import ArtefactError, UsageError
from kadence.phases.plan import trials
from kadence.phases.plan.trials import Arm, Effect, Learned, LearnedRun, MachineKind, Trials
from kadence.trials import combining, record, runs
from kadence.trials.combining import Combined
from kadence.trials.record import Record, TrialsFile

REMEDY = "make it anew with `kadence plan`"


class ForeignError(ArtefactError):
    """A record says nothing about this plan."""


@dataclass(frozen=True)
class _Policy:
    phase: int
    name: str


@dataclass(frozen=True)
class _Marker:
    id: int
    phase: int
    function: str


@dataclass(frozen=True)
class _Memory:
    keep_bytes: int


@dataclass(frozen=True)
class _Known:
    """What learning uses of a plan, and what it must not copy if it is damaged."""

    program: tuple[str, ...]
    policies: list[_Policy]
    markers: list[_Marker]
    memory: _Memory
    trials: Trials


@dataclass(frozen=True)
class Learning:
    """What was learned, and what the reader of the terminal should know."""

    trials: Trials
    records: int  # that were folded in
    notes: tuple[str, ...]


def learn(plan: Path, files: Sequence[Path], output: Path) -> Learning:
    """Fold the files' records into the plan and write it. Nothing is written on an error."""
    if output.resolve() in {file.resolve() for file in files}:
        raise UsageError(f"-o {output} would replace a record; name a plan")
    document = artefact.read(plan, artefact.PLAN)
    known = artefact.decode(_Known, document, str(plan), REMEDY)
    build_id = artefact.decode(artefact.Envelope, document, str(plan), REMEDY).build_id
    found = [record.read(file) for file in files]
    learning = _learned(plan, known, found)
    command = ["kadence", "learn", str(plan), *map(str, files), "-o", str(output)]
    body = {key: value for key, value in document.items() if key not in artefact.ENVELOPE}
    body["trials"] = codec.encode(learning.trials)
    artefact.write(output, artefact.PLAN, build_id, command, body)
    return learning


def _learned(plan: Path, known: _Known, files: Sequence[TrialsFile]) -> Learning:
    records = [each for file in files for each in file.records]
    for each in records:
        _require_own(plan, known, each)
    _require_new(plan, known.trials, [each for each in records if each.blocks])
    new = runs.of_records(records)
    together = tuple(sorted((*known.trials.runs, *new), key=_order))
    learned = replace(known.trials, runs=together, learned=tuple(from_runs(together)))
    told = {identity for run in new for identity in run.records}
    notes = tuple(_notes(plan, known, files, told))
    return Learning(learned, sum(len(run.records) for run in new), notes)


def _notes(
    plan: Path, known: _Known, files: Sequence[TrialsFile], told: Collection[str]
) -> Iterator[str]:
    for file in files:
        if file.is_cut:
            yield (
                f"{file.path}: the last line is cut, because a process was killed; it is left out"
            )
        if not file.records:
            yield f"{file.path}: teaches nothing, because it holds no record"
        elif not any(each.id in told for each in file.records):
            yield f"{file.path}: teaches nothing, because no policy acted in a whole block"
    if known.trials.mode == trials.OFF:
        yield f"{plan}: its trials are off, so no program uses what was learned"


def _order(run: LearnedRun) -> tuple[MachineKind, str, tuple[str, ...]]:
    return run.machine, run.seed, run.records


def _require_own(plan: Path, known: _Known, each: Record) -> None:
    """Refuse a record of another program, build or phase model, and say which it is."""
    what = trials.difference(known.trials.id, each.header.plan)
    if what is not None:
        name = shlex.join(known.program) or "no named program"
        raise ForeignError(
            f"{each.place}: process {each.header.process} is of {what}; {plan} is for `{name}`; "
            "learn with the plan that the program was compiled with"
        )
    arms = [block.arm for block in each.blocks]
    lacking = [arm.phase for arm in arms if arm.phase >= len(known.policies)]
    if lacking:
        raise ArtefactError(f"{each.place} tells of phase {lacking[0]}, which {plan} lacks")


def _require_new(plan: Path, known: Trials, records: Iterable[Record]) -> None:
    """Refuse a record that counts already: twice the same evidence is not more evidence."""
    seen = {identity: str(plan) for run in known.runs for identity in run.records}
    for each in records:
        if each.id in seen:
            raise ForeignError(
                f"{each.place}: the record of process {each.header.process} is in {seen[each.id]} "
                "already and would count twice; leave it out"
            )
        seen[each.id] = each.place


def from_runs(found: Sequence[LearnedRun]) -> list[Learned]:
    """The effect of every arm on every kind of machine."""
    effects = by_arm(found)
    return [
        Learned(arm, machine, combined_of(effects[arm, machine]).as_effect(), _records(parts))
        for arm, machine in sorted(effects)
        for parts in [effects[arm, machine]]
    ]


Parts = list[tuple[LearnedRun, Effect]]


def by_arm(found: Iterable[LearnedRun]) -> dict[tuple[Arm, MachineKind], Parts]:
    """Each arm on each kind of machine, with the runs that tell of it."""
    parts: dict[tuple[Arm, MachineKind], Parts] = {}
    for run in found:
        for one in run.arms:
            parts.setdefault((one.arm, run.machine), []).append((run, one.found))
    return parts


def combined_of(parts: Parts) -> Combined:
    """The effect over runs, some of which may have been learned in parts."""
    by_seed: dict[str, list[Effect]] = {}
    for run, effect in parts:
        by_seed.setdefault(run.seed, []).append(effect)
    return combining.combined([runs.together(of_run) for of_run in by_seed.values()])


def _records(parts: Parts) -> int:
    return sum(len(run.records) for run, _ in parts)
