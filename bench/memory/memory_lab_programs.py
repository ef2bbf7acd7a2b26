# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures whole programs' page faults in the lab, plain and adapted, on their x86_64 kernel."""

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

from bench.base import rows
from bench.base.rows import NO_GOAL, Goal, Row, Tally
from bench.memory.memory_programs import Subject, prepared
from kadence.kconfig.store.build import BuildRequest, build
from kadence.lab import Guest, Reading, run
from kadence.lab.guest import X86_64
from kadence.lab.report import ON_MACHINE
from kadence.measurement.measure import ADAPTED, PLAIN, TAILORED

FAULTS = Goal(share=0.10)
MODES = (PLAIN, ADAPTED)
MILLION, MEBIBYTE = 1e6, 1 << 20


def lines(subject: Subject) -> Generator[str, None, Tally]:
    """Yields a program's table."""
    found = prepared(subject)
    plan = found.places.artefact("plan.json")
    kernel = build(BuildRequest(kind=TAILORED, plan=plan, target=X86_64))
    guest = Guest(f"{subject.name} {kernel.id}", kernel.image)
    title = f"{' '.join(subject.in_lab)} in the lab"
    yield f"{title}, x86_64 kernel {kernel.id}"
    readings = [_run(guest, subject.in_lab, found.places.build(mode)) for mode in MODES]
    floors = [_run(guest, subject.ends_at_once, found.places.build(mode)) for mode in MODES]
    figures = list(_rows(readings, floors))
    yield from rows.table(MODES, figures)
    yield f"{ON_MACHINE}."
    yield rows.summary(figures)
    return rows.tally(figures, f"{title}: ")


def _run(guest: Guest, argv: Sequence[str], folder: Path) -> Reading:
    script = f"cd {folder} && exec {' '.join(argv)} >/dev/null 2>&1"
    return run(guest, ["/bin/sh", "-c", script])


def _rows(readings: Sequence[Reading], floors: Sequence[Reading]) -> Iterator[Row]:
    yield _row("page faults", [each.result.minor_faults for each in readings], FAULTS)
    yield _row("of them before its work", [each.result.minor_faults for each in floors])
    instructions = [each.processor_ns / MILLION for each in readings]
    yield _row("instructions, millions", instructions)
    resident = [each.result.max_resident_bytes / MEBIBYTE for each in readings]
    yield _row("peak resident, MiB", resident)


def _row(label: str, values: Sequence[float], goal: Goal = NO_GOAL) -> Row:
    plain, adapted = values
    return Row(label, plain, adapted, goal)
