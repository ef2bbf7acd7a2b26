# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the combinations of kernel and program in turn, round after round.

A round runs every combination once. Each round begins with the next combination, so that neither a
slow drift of the machine nor the position in the round favours any. The first round is not counted:
it fills caches. Its outputs are compared like all others.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kadence import boot
from kadence.base import terminal
from kadence.base.errors import GuestError
from kadence.base.statistics import rotated
from kadence.measurement import execution
from kadence.measurement.execution import Ending, ExecutionError, Sample
from kadence.program import outputs, suggestion
from kadence.program.filters import Counted, counted, warnings
from kadence.program.program import Program

MACHINE, GENERIC, TAILORED = "machine", "generic", "tailored"
PLAIN, ADAPTED = "plain", "adapted"
# Names the file to which an adapted process appends its record of trials.
RECORD = "KADAPT_TRIALS_RECORD"


@dataclass(frozen=True)
class Cell:
    """One combination of kernel and program."""

    kernel: str  # MACHINE, GENERIC or TAILORED
    program: str  # PLAIN or ADAPTED

    def __str__(self) -> str:
        return f"{self.program} program on {KERNEL_NAMES[self.kernel]}"


KERNEL_NAMES = {
    MACHINE: "this machine's own kernel",
    GENERIC: "the generic kernel",
    TAILORED: "the tailored kernel",
}
REFERENCE = Cell(MACHINE, PLAIN)


@dataclass
class Measurements:
    """The results of all rounds."""

    samples: dict[Cell, list[Sample]]
    outputs: dict[Cell, dict[str, str]] = field(default_factory=dict)  # SHA-256 of the first run
    # An output of a combination that differs from the reference's -> the rounds where it differs.
    differences: dict[tuple[Cell, str], list[int]] = field(default_factory=dict)
    counters: dict[Cell, str] = field(default_factory=dict)  # JSON lines from libkadapt
    dropped: dict[Cell, str] = field(default_factory=dict)  # left unmeasured, and why
    # Where libkadapt wrote down what a run tried.
    trials: dict[Cell, list[Path]] = field(default_factory=dict)
    filtered: list[Counted] = field(default_factory=list)  # of the reference's first run
    warnings: list[str] = field(default_factory=list)  # about filters


@dataclass(frozen=True)
class Bench:
    """The program's two builds, the kernels' images, and a folder for outputs."""

    program: Program
    folders: Mapping[str, Path]  # PLAIN, ADAPTED -> built copy of the program's folder
    images: Mapping[str, Path]  # GENERIC, TAILORED -> image
    scratch: Path
    target: str = boot.Request.target  # of the kernels
    tasks: int = 1  # of the program that may run at the same time

    def kept(self, cell: Cell) -> Path:
        """The folder in which outputs of this combination are kept for inspection."""
        return self.scratch / "outputs" / f"{cell.program}-{cell.kernel}"

    @property
    def trials(self) -> Path:
        """The folder for records of trials."""
        return self.scratch / "trials"

    def cells(self) -> list[Cell]:
        """All combinations, the reference first."""
        return [
            Cell(kernel, program) for kernel in (MACHINE, *self.images) for program in self.folders
        ]


def measure(bench: Bench, rounds: int) -> Measurements:
    """One uncounted round, then `rounds` counted ones."""
    cells = bench.cells()
    shutil.rmtree(bench.trials, ignore_errors=True)  # of an earlier measurement
    bench.trials.mkdir()
    found = Measurements(samples={cell: [] for cell in cells})
    for number in range(rounds + 1):
        terminal.tell(f"round {number} of {rounds}" + (" (not counted)" if number == 0 else ""))
        for cell in rotated(cells, number):
            if cell not in found.dropped:
                _run_cell(bench, cell, number, found)
    for cell in found.dropped:
        found.samples.pop(cell, None)
        found.trials.pop(cell, None)
    return found


def _run_cell(bench: Bench, cell: Cell, number: int, found: Measurements) -> None:
    """Run one combination once; drop it, and all that depends on it, if it fails."""
    folder = bench.folders[cell.program]
    counters = bench.scratch / "counters.json"
    counters.unlink(missing_ok=True)
    record = bench.trials / f"{cell.kernel}-{number}.trials"
    extra = {"KADAPT_COUNTERS": str(counters)} if number == 0 else {}
    if cell.program == ADAPTED:
        extra[RECORD] = str(record)
    try:
        ending = _run_program(bench, cell, folder, extra)
        _compare(bench, cell, number, found)
    except (GuestError, ExecutionError) as error:
        if cell == REFERENCE:
            raise
        found.dropped |= dict.fromkeys(_lost_with(cell, bench), error.reason)
        return
    if RECORD in extra and record.is_file():
        found.trials.setdefault(cell, []).append(record)
    if number > 0:
        found.samples[cell].append(ending.sample)
    elif counters.is_file():
        found.counters[cell] = counters.read_text()


def _lost_with(cell: Cell, bench: Bench) -> list[Cell]:
    """The combinations that are useless once this one has failed.

    A kernel that fails the plain program is useless. A tailored kernel must serve both programs.
    """
    if cell.kernel == TAILORED or cell.program == PLAIN:
        return [other for other in bench.cells() if other.kernel == cell.kernel]
    return [cell]


def _run_program(bench: Bench, cell: Cell, folder: Path, extra: dict[str, str]) -> Ending:
    program = bench.program
    outputs.remove(program, folder)
    ending = execution.run(
        program.run,
        folder,
        image=bench.images.get(cell.kernel),
        scratch=bench.scratch,
        environment=execution.environment(program.environment) | extra,
        standard_input=program.standard_input,
        timeout_seconds=program.timeout_seconds,
        target=bench.target,
        tasks=bench.tasks,
    )
    if ending.status:
        raise ExecutionError(
            f"{program.run[0]} ended with status {ending.status} as the {cell}; "
            f"its output is in {bench.scratch / 'stderr'}"
        )
    return ending


def _compare(bench: Bench, cell: Cell, number: int, found: Measurements) -> None:
    """Compare this run's outputs with those of the reference's first run, after the filters."""
    files = outputs.files(bench.program, bench.folders[cell.program], bench.scratch)
    if (absent := outputs.absent(files)) is not None:
        raise ExecutionError(
            f"the {cell} wrote no {absent}, which kadence.toml names among its outputs"
        )
    sums = outputs.checksums(bench.program, files)
    if not found.outputs:
        outputs.keep(files, bench.kept(cell))
        own = bench.program.filters
        found.filtered = [one for name in files for one in counted(own, name, files[name])]
        found.warnings = warnings(own, files)
    found.outputs.setdefault(cell, sums)
    different = [name for name in sums if sums[name] != found.outputs[REFERENCE][name]]
    for name in different:
        if (cell, name) not in found.differences:
            _tell(bench, cell, name, files[name])
        found.differences.setdefault((cell, name), []).append(number)
    outputs.keep({name: files[name] for name in different}, bench.kept(cell))


def _tell(bench: Bench, cell: Cell, name: str, written: Path) -> None:
    """Report an output that is not the reference's, and the filter that would make it equal."""
    first = bench.kept(REFERENCE) / name
    terminal.tell(f"{name} of the {cell} differs from the {REFERENCE}'s first run")
    for line in suggestion.told(bench.program.filters, name, first, written):
        terminal.tell(line)
