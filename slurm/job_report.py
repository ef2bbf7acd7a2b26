# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports a job's gain from its kernel, in a table and a few sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any

from kadence.base import statistics
from kadence.base.statistics import Estimate
from kadence.measurement.measure import KERNEL_NAMES, MACHINE
from kadence.slurm import job_trials
from kadence.slurm.records import PLAIN, Job, Task, printable

HEAD = (
    *("node", "step", "command", "program", "kernel", "ended"),
    *("seconds", "switches", "faults", "MiB"),
)
NUMBERS = 6  # columns from this one on hold numbers
MILLION = 1_000_000
MEBIBYTE = 1 << 20
# The row for a job none of whose tasks ran plain: the other tasks' times do not stand for it.
NOT_RUN = ("-", "-", "-", "plain", KERNEL_NAMES[MACHINE], "not run", "-", "-", "-", "-")


@dataclass(frozen=True)
class Comparison:
    """The times of a command's adapted and plain tasks within one job."""

    command: str
    target: str
    adapted: Estimate  # of the median
    plain: Estimate

    @property
    def differs(self) -> bool:
        """Whether both medians are certain enough and their intervals do not overlap."""
        sure = min(self.adapted.confidence, self.plain.confidence) >= statistics.CONFIDENCE
        apart = self.adapted.high < self.plain.low or self.plain.high < self.adapted.low
        return sure and apart

    @property
    def ratio(self) -> float:
        return self.adapted.value / self.plain.value

    def sentence(self) -> str:
        """The comparison, with the numbers of tasks, by which a reader can weigh it."""
        what = f"{self.command} on {self.target}: {self.adapted.count} adapted and "
        what += f"{self.plain.count} plain tasks"
        if not self.differs:
            return f"{what}, no difference can be told from the noise"
        return f"{what}, median {self.ratio:.3f} times the plain one's"


def comparisons(tasks: Sequence[Task]) -> list[Comparison]:
    """One comparison for each command that ran both ways with the same arguments."""
    groups: dict[tuple[str, tuple[str, ...]], dict[str, list[float]]] = {}
    for task in tasks:
        if task.seconds is None or task.arguments is None or not _succeeded(task):
            continue
        key = (PurePath(task.command).name, task.arguments)
        # A plain program on the bundle's kernel belongs to neither side.
        if task.is_adapted or task.target == PLAIN:
            groups.setdefault(key, {}).setdefault(task.target, []).append(task.seconds)
    return [
        Comparison(
            " ".join((name, *arguments)),
            target,
            statistics.median(seconds),
            statistics.median(ways[PLAIN]),
        )
        for (name, arguments), ways in groups.items()
        for target, seconds in ways.items()
        if target != PLAIN and PLAIN in ways
    ]


def _succeeded(task: Task) -> bool:
    """Whether the task succeeded. A task that ended early has no comparable time."""
    return task.number("status") == 0 and not task.number("signal")


def text(job: Job) -> str:
    """The report as text."""
    return "\n".join(_lines(job))


def _lines(job: Job) -> Iterator[str]:
    tasks = job.tasks()
    yield from _table(tasks)
    for task in tasks:
        yield from _details(task)
    yield from job_trials.lines(job)
    for key in ("refused", "notice"):
        yield from job.sentences(key)
    found = comparisons(tasks)
    yield from (comparison.sentence() for comparison in found)
    if not found:
        yield from _measured(job.bundles())


def _table(tasks: Sequence[Task]) -> Iterator[str]:
    if not tasks:
        yield "No step of the job left anything."
        return
    rows = [HEAD, *map(_row, tasks)]
    if not any(task.target == PLAIN for task in tasks):
        rows.append(NOT_RUN)
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    for row in rows:
        cells = (
            cell.rjust(width) if column >= NUMBERS else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def _row(task: Task) -> tuple[str, ...]:
    return (
        task.node,
        task.name,
        PurePath(task.command).name,
        "adapted" if task.is_adapted else "plain",
        task.kernel,
        task.ending,
        _number(task.seconds, ".3f"),
        _number(task.sum("voluntary_switches", "involuntary_switches"), ".0f"),
        _number(task.sum("minor_faults", "major_faults"), ".0f"),
        _number(_mebibytes(task.number("max_resident_bytes")), ".1f"),
    )


def _mebibytes(size: float | None) -> float | None:
    return None if size is None else size / MEBIBYTE


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"


def _details(task: Task) -> Iterator[str]:
    if task.why:
        yield f"{task.name}: {task.why}"
    for number, counted in sorted(task.phases().items()):
        switches = counted["voluntary_switches"] + counted["involuntary_switches"]
        yield (
            f"{task.name}: phase {number} was entered {counted['entries']} times and took "
            f"{counted['time_ns'] / (1000 * MILLION):.3f} s, with {switches} switches"
            f"{_memory(counted)}"
        )
    io = task.io()
    if io:
        yield (f"{task.name}: {io['appends']} records ({io['bytes']} bytes) without a system call")
    for complaint in task.complaints():
        yield f"{task.name}: the guest's kernel complained: {complaint}"


def _memory(counted: Mapping[str, int]) -> str:
    """Page faults and populated memory; empty if none were counted, as by older kernels."""
    faults = counted["minor_faults"] + counted["major_faults"]
    populated = counted["populated_bytes"]
    text = f" and {faults} page faults" if faults else ""
    return f"{text}, {populated / MEBIBYTE:.1f} MiB populated ahead" if populated else text


def _measured(bundles: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Without a comparison in the job: the bundle's own measurements, named as such."""
    for bundle in bundles:
        measured = bundle.get("measured")
        for target, verdict in (measured if isinstance(measured, dict) else {}).items():
            if isinstance(verdict, dict):
                yield (
                    "The job has no plain and adapted tasks of one command to compare. The "
                    f"report of bundle {printable(str(bundle.get('name')))} measured on {target}: "
                    f"{printable(str(verdict.get('sentence')))}"
                )


def document(job: Job) -> dict[str, Any]:
    """The report as JSON."""
    tasks = job.tasks()
    return {
        "job": job.identifier,
        "records": list(job.records),
        "trials": job_trials.document(job),
        "comparisons": [
            {
                "command": comparison.command,
                "target": comparison.target,
                "adapted": asdict(comparison.adapted),
                "plain": asdict(comparison.plain),
                "ratio": comparison.ratio if comparison.differs else None,
            }
            for comparison in comparisons(tasks)
        ],
    }
