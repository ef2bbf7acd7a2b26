# SPDX-License-Identifier: GPL-2.0-or-later
"""What the adapted processes of a job found out about their policies."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kadence.base.errors import ArtefactError
from kadence.slurm.records import SUFFIX, Job, printable
from kadence.trials import findings, record
from kadence.trials.findings import Finding, Findings
from kadence.trials.record import Record


@dataclass(frozen=True)
class JobTrials:
    """The findings for each plan, and why files were left out. The folder is the user's."""

    by_plan: dict[str, Findings]  # id of the plan's trials -> what was found
    notes: tuple[str, ...]


def of_job(job: Job) -> JobTrials:
    """Read the job's records of trials; a damaged one is told and left out."""
    by_plan: dict[str, list[Record]] = {}
    notes = []
    for path in job.trials:
        try:
            found = record.read(path)
        except ArtefactError as error:
            notes.append(f"left out: {error}")
            continue
        for one in found.records:
            by_plan.setdefault(one.header.plan, []).append(one)
    told = {plan: findings.of_records(records) for plan, records in sorted(by_plan.items())}
    return JobTrials(told, tuple(notes))


def lines(job: Job) -> Iterator[str]:
    """What the report of a job says about trials."""
    if not job.trials:
        return
    told = of_job(job)
    for plan, found in told.by_plan.items():
        name = "trials" if len(told.by_plan) == 1 else f"trials of plan {plan}"
        yield from (f"{name}: {_told(arm)}" for arm in found.arms)
        yield f"{name}: {found.sentence}"
    yield from (printable(note) for note in told.notes)
    yield _where(job.trials)


def _told(arm: Finding) -> str:
    name = findings.name_of(arm.policy, arm.level, arm.phase)
    said = f"{name}: {arm.says}"
    if arm.effect is not None and arm.low is not None and arm.high is not None:
        effect, low, high = map(findings.percent, (arm.effect, arm.low, arm.high))
        said += f", {effect:+.1f} % ({low:+.1f} to {high:+.1f} %) of its visits' time"
    why = f"; {arm.why}" if arm.why else ""
    return f"{said}, {arm.blocks} blocks{why}"


def _where(paths: Sequence[Path]) -> str:
    files = paths[0].parent / f"*{SUFFIX}"
    return f"The records of trials are {files}; `kadence learn PLAN.json` takes them."


def document(job: Job) -> dict[str, Any]:
    """The same as JSON."""
    told = of_job(job)
    return {
        "files": [str(path) for path in job.trials],
        "plans": {plan: asdict(found) for plan, found in told.by_plan.items()},
        "notes": list(told.notes),
    }
