# SPDX-License-Identifier: GPL-2.0-or-later
"""Begins a report with the most that could be gained: by flags of the compiler, by any kernel."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from kadence.base import artefact
from kadence.measurement import shares
from kadence.measurement.execution import Sample
from kadence.measurement.measure import REFERENCE

CEILING, FLAGS = "ceiling", "flags"

Body = Mapping[str, Any]


def first(
    report: dict[str, Any], ceiling: dict[str, Any] | None, flags: dict[str, Any] | None
) -> dict[str, Any]:
    """The report's body, which begins with flags and ceiling; None for what was not measured."""
    begin: dict[str, Any] = {FLAGS: artefact.body_of(flags) if flags else None, CEILING: None}
    if ceiling is not None:
        begin[CEILING] = artefact.body_of(ceiling) | _of_job(report, ceiling["tasks"])
    rest = {key: value for key, value in report.items() if key not in begin}
    return begin | artefact.body_of(rest)


def _of_job(report: Body, tasks: int) -> dict[str, Any]:
    """The ceiling of the measured command, which may be longer than the profiled one."""
    runs = [
        sample
        for cell in report["cells"]
        if (cell["kernel"], cell["program"]) == (REFERENCE.kernel, REFERENCE.program)
        for sample in _samples(cell["samples"])
    ]
    if not runs:
        return {"job": None, "job_sentence": ""}
    most = shares.of(runs, tasks).most
    runs_of = f"of the measured runs of `{' '.join(report['program']['run'])}`"
    sentence = f"{runs_of}, at most {shares.in_words(most)} can be gained by any adaptation"
    return {"job": asdict(most), "job_sentence": sentence}


def _samples(metrics: Mapping[str, list[Any]]) -> Iterator[Sample]:
    for values in zip(*metrics.values(), strict=True):
        yield Sample(**dict(zip(metrics, values, strict=True)))


def lines(report: Body) -> Iterator[str]:
    """What the table at the end of `kadence specialize` begins with."""
    flags, ceiling = report[FLAGS], report[CEILING]
    if flags and flags["first"]:
        yield flags["first"]
    if ceiling:
        yield ceiling["sentence"]
        yield from filter(None, [ceiling["job_sentence"]])
        yield from (f"note: {note}" for note in ceiling["notes"])
    yield from flags["rest"] if flags else ()
