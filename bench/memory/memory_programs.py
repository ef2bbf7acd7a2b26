# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the memory of whole programs: profiles, plans, adapts and runs them on their own kernel.

Plain and adapted run on User-Mode Linux and on this machine's own kernel, with runs interleaved.
User-Mode Linux is compared with the same binary on the machine's kernel. Plain and adapted binaries
differ in the places of their code, which makes short loops faster or slower by tens of per cent on
any kernel.

The loader causes page faults before the program does anything. A run that ends at once shows their
number. Processor time is this machine's, and includes a guest's kernel and the work of the
machine's kernel for the guest. The processor time of the run that ends at once is subtracted. User
times, compared, show whether the program's own code is slower in a guest; system time shows what
the guest costs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.base import programs
from bench.memory.memory_rows import Cell, Line
from kadence.base import resources
from kadence.base.stages import Stages, alone_in
from kadence.measurement import execution, measure
from kadence.measurement.execution import Sample
from kadence.measurement.measure import ADAPTED, MACHINE, PLAIN, TAILORED, Bench, Measurements
from kadence.program import program
from kadence.program.places import Places
from kadence.report import report
from kadence.specialize import pipeline
from kadence.specialize.pipeline import Prepared, Wish

ROUNDS = 5
MEBIBYTE = 1 << 20
# The goals: shares of the plain program's figure, and of the same binary's time on this machine.
FAULTS_SHARE, SECONDS_SHARE = 0.05, 1.10
RESIDENT_SHARE, RESIDENT_MORE = 1.05, 32 << 20


@dataclass(frozen=True)
class Subject:
    """A program, with a command that ends at once and a command with more work."""

    name: str
    ends_at_once: tuple[str, ...]
    larger: tuple[str, ...] = ()
    in_lab: tuple[str, ...] = ()  # a smaller run, because the lab emulates every instruction
    place: str = "examples"

    @property
    def folder(self) -> Path:
        return resources.home() / self.place / self.name


SUBJECTS = (
    Subject(
        "heat",
        ends_at_once=("./heat", "-n", "0"),
        larger=("./heat", "-n", "2048", "-s", "150", "-e", "1000"),
        in_lab=("./heat", "-n", "1024", "-s", "4", "-e", "1000", "-o", "/dev/null"),
    ),
    Subject(
        "lu",
        ends_at_once=("./lu", "0"),
        larger=("./lu", "2000", "1"),
        in_lab=("./lu", "700", "1"),
    ),
    Subject(
        "fft",
        ends_at_once=("./fft", "-n", "0"),
        larger=("./fft", "-n", "21", "-s", "3"),
        in_lab=("./fft", "-n", "18", "-s", "2"),
    ),
    Subject("minimap2", ends_at_once=("source/minimap2", "--version")),
    Subject(
        "fields",
        ends_at_once=("./fields", "0"),
        larger=("./fields", "2500", "4"),
        in_lab=("./fields", "1000", "3"),
        place="bench/memory",
    ),
)
# From a column's name to kernel and program.
COLUMNS: Mapping[str, measure.Cell] = {
    measure.KERNEL_NAMES[MACHINE]: measure.Cell(MACHINE, PLAIN),
    "adapted": measure.Cell(MACHINE, ADAPTED),
    "User-Mode Linux": measure.Cell(TAILORED, PLAIN),
    "adapted there": measure.Cell(TAILORED, ADAPTED),
}


def prepared(subject: Subject) -> Prepared:
    """Make the profile, the plan, both builds and a proven User-Mode Linux kernel."""
    output = resources.home() / "build" / "bench" / "memory" / subject.name
    described = program.read(subject.folder)
    with alone_in(output):
        places = Places(output, subject.name)
        found = pipeline.prepare(described, places, Stages(output), Wish())
    if TAILORED not in found.kernels:
        raise programs.UnservedError(f"no kernel serves {subject.name}: {found.proof.reason}")
    return found


def lines(subject: Subject) -> Iterator[Line]:
    """Yields a title and the figures, first of the usual run and then of the larger one."""
    found = prepared(subject)
    floor = {cell: _at_once(found, cell, subject) for cell in COLUMNS.values()}
    for argv in (found.program.run, subject.larger):
        if argv:
            samples = _measured(found, argv)
            yield from (Line(" ".join(argv), ()), *_figures(samples, floor))


def _bench(found: Prepared, argv: tuple[str, ...]) -> Bench:
    scratch = found.places.output / "scratch"
    scratch.mkdir(exist_ok=True)
    return Bench(
        program=replace(found.program, run=argv),
        folders={mode: found.places.build(mode) for mode in (PLAIN, ADAPTED)},
        images={TAILORED: found.kernels[TAILORED].image},
        scratch=scratch,
    )


def _measured(found: Prepared, argv: tuple[str, ...]) -> Measurements:
    return measure.measure(_bench(found, argv), ROUNDS)


def _at_once(found: Prepared, cell: measure.Cell, subject: Subject) -> Sample:
    """Returns the cost of starting the program, and of booting its kernel."""
    bench = _bench(found, subject.ends_at_once)
    ending = execution.run(
        subject.ends_at_once,
        bench.folders[cell.program],
        image=bench.images.get(cell.kernel),
        scratch=bench.scratch,
        environment=execution.environment(),
    )
    return ending.sample


def _figures(found: Measurements, floor: Mapping[measure.Cell, Sample]) -> Iterator[Line]:
    _, native, plain, adapted = COLUMNS.values()
    yield Line("  outputs", ("differ",) if found.differences else ("the same, byte for byte",))
    faults = _column(found, plain, "minor_faults")
    yield Line(
        "  page faults",
        _cells(found, "minor_faults", {adapted: FAULTS_SHARE * faults.value}),
    )
    first = [f"{floor[cell].minor_faults:,}" for cell in COLUMNS.values()]
    yield Line("    of them before its work", first)
    goal = {adapted: SECONDS_SHARE * _column(found, native, "program_seconds").value}
    yield Line("  seconds", _cells(found, "program_seconds", goal, digits=3))
    yield Line("    relative to the same binary on the machine", _ratios(found, _on_machine))
    yield Line("    relative to the plain binary on the machine", _ratios(found, _reference))
    for label, metric in (("user", "machine_user_seconds"), ("system", "machine_system_seconds")):
        cells = [_beyond(found, cell, metric, floor[cell]) for cell in COLUMNS.values()]
        yield Line(f"    processor seconds, {label}", cells)
    resident = _column(found, plain, "max_resident_bytes")
    most = RESIDENT_SHARE * resident.value + RESIDENT_MORE
    yield Line(
        "  peak resident, MiB",
        _cells(found, "max_resident_bytes", {adapted: most}, digits=1, unit=MEBIBYTE),
    )
    yield Line("  populated ahead, MiB", ("", "", "", _populated(found.counters.get(adapted, ""))))


def _on_machine(cell: measure.Cell) -> measure.Cell:
    return measure.Cell(MACHINE, cell.program)


def _reference(_cell: measure.Cell) -> measure.Cell:
    return measure.REFERENCE


def _ratios(found: Measurements, base: Callable[[measure.Cell], measure.Cell]) -> list[str]:
    """Returns the ratio of each column's median to the median of its base."""
    seconds = {cell: _column(found, cell, "program_seconds").value for cell in COLUMNS.values()}
    return [f"{value / seconds[base(cell)]:.2f}" for cell, value in seconds.items()]


def _cells(
    found: Measurements,
    metric: str,
    goals: Mapping[measure.Cell, float],
    digits: int = 0,
    unit: int = 1,
) -> list[Cell]:
    return [
        _column(found, cell, metric, goals.get(cell), digits, unit) for cell in COLUMNS.values()
    ]


def _column(
    found: Measurements,
    cell: measure.Cell,
    metric: str,
    goal: float | None = None,
    digits: int = 0,
    unit: int = 1,
) -> Cell:
    values = _values(found.samples[cell], metric, unit)
    return Cell.of(values, None if goal is None else goal / unit, digits)


def _beyond(found: Measurements, cell: measure.Cell, metric: str, start: Sample) -> Cell:
    """Returns a column's figure without the cost of the start."""
    first = getattr(start, metric)
    return Cell.of([value - first for value in _values(found.samples[cell], metric, 1)], None, 3)


def _values(samples: Sequence[Sample], metric: str, unit: int) -> list[float]:
    return [getattr(sample, metric) / unit for sample in samples]


def _populated(counters: str) -> str:
    """Returns the bytes populated in one run, over all phases, if the kernel counted them."""
    known = [phase["populated_bytes"] for phase in report.counted(counters)]
    if not known or None in known:
        return "not counted"
    return f"{sum(value or 0 for value in known) / MEBIBYTE:,.1f}"
