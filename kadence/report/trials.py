# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of a report about trials: what the measured runs found out about each policy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.base import codec
from kadence.base.errors import ArtefactError
from kadence.measurement.measure import KERNEL_NAMES, Cell
from kadence.phases.plan.trials import TriedPhase
from kadence.trials import findings, record
from kadence.trials.findings import Finding
from kadence.trials.record import Record

TRIALS = "trials"


@dataclass(frozen=True)
class OfKernel:
    """What the runs of the adapted program on one kernel found out."""

    kernel: str
    files: int
    records: int
    arms: tuple[Finding, ...]


def described(
    files: Mapping[Cell, Sequence[Path]], judged: str, tried: Sequence[TriedPhase]
) -> dict[str, Any]:
    """The entry in `report.json`; `judged` is the kernel of the report's verdict."""
    told: list[OfKernel] = []
    notes: list[str] = []
    sentences: dict[str, str] = {}
    for cell, paths in files.items():
        records = list(_read(paths, notes))
        found = findings.of_records(records, tried)
        told.append(OfKernel(cell.kernel, len(paths), found.records, found.arms))
        sentences[cell.kernel] = found.sentence
    kernel = judged if judged in sentences else next(iter(sentences), None)
    return {
        "kernels": codec.encode(told),
        "notes": notes,
        "kernel": kernel,
        "sentence": _sentence(kernel, sentences[kernel]) if kernel else "No policy was tried.",
    }


def _read(paths: Sequence[Path], notes: list[str]) -> Iterator[Record]:
    """The sound records. A damaged one does not end the report, which says more than trials do."""
    for path in paths:
        try:
            yield from record.read(path).records
        except ArtefactError as error:
            notes.append(f"Left out: {error}.")


def _sentence(kernel: str, sentence: str) -> str:
    return f"On {KERNEL_NAMES[kernel]}: {sentence[0].lower()}{sentence[1:]}"
