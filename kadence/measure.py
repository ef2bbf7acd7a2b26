# SPDX-License-Identifier: GPL-2.0-or-later
"""Running the combinations of kernel and program in turn, round after round.

A round runs every combination once; each round begins with another one, so that neither a slow
drift of the machine nor the place in the round favours any. One round is run first and not
counted: it fills caches, and its outputs are compared like all others.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kadence import boot, execution, stages
from kadence.errors import GuestError
from kadence.execution import Ending, ExecutionError, Sample
from kadence.program import Program

MACHINE, GENERIC, TAILORED = "machine", "generic", "tailored"
PLAIN, ADAPTED = "plain", "adapted"
STANDARD_OUTPUT = "standard output"


@dataclass(frozen=True)
class Cell:
    """One combination."""

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
    """All that the rounds brought."""

    samples: dict[Cell, list[Sample]]
    outputs: dict[Cell, dict[str, str]] = field(default_factory=dict)  # SHA-256 of the first run
    # Output of a combination that differs from the reference's -> the rounds where it does.
    differences: dict[tuple[Cell, str], list[int]] = field(default_factory=dict)
    counters: dict[Cell, str] = field(default_factory=dict)  # JSON lines from libkadapt
    dropped: dict[Cell, str] = field(default_factory=dict)  # left unmeasured, and why


@dataclass(frozen=True)
class Bench:
    """Where everything is: the program's two builds, the kernels' images, room for outputs."""

    program: Program
    folders: Mapping[str, Path]  # PLAIN, ADAPTED -> built copy of the program's folder
    images: Mapping[str, Path]  # GENERIC, TAILORED -> image
    scratch: Path
    target: str = boot.Request.target  # of the kernels
    tasks: int = 1  # of the program, that may want a processor at once

    def kept(self, cell: Cell) -> Path:
        """Where outputs of this combination are kept for a look."""
        return self.scratch / "outputs" / f"{cell.program}-{cell.kernel}"

    def cells(self) -> list[Cell]:
        """The combinations there are, the reference first."""
        return [
            Cell(kernel, program)
            for kernel in (MACHINE, *self.images)
            for program in (PLAIN, ADAPTED)
        ]


def measure(bench: Bench, rounds: int) -> Measurements:
    """One uncounted round, then `rounds` counted ones."""
    cells = bench.cells()
    found = Measurements(samples={cell: [] for cell in cells})
    for number in range(rounds + 1):
        stages.tell(f"round {number} of {rounds}" + (" (not counted)" if number == 0 else ""))
        for cell in _rotated(cells, number):
            if cell not in found.dropped:
                _run_cell(bench, cell, number, found)
    for cell in found.dropped:
        found.samples.pop(cell, None)
    return found


def _rotated(cells: Sequence[Cell], number: int) -> Iterator[Cell]:
    start = number % len(cells)
    yield from (*cells[start:], *cells[:start])


def _run_cell(bench: Bench, cell: Cell, number: int, found: Measurements) -> None:
    """Run one combination once; a tailored kernel that fails is dropped, not fatal."""
    folder = bench.folders[cell.program]
    counters = bench.scratch / "counters.json"
    counters.unlink(missing_ok=True)
    extra = {"KADAPT_COUNTERS": str(counters)} if number == 0 else {}
    try:
        ending = _run_program(bench, cell, folder, extra)
        _compare(bench, cell, number, found)
    except (GuestError, ExecutionError) as error:
        if cell.kernel != TAILORED:
            raise
        for program in (PLAIN, ADAPTED):
            found.dropped[Cell(TAILORED, program)] = error.reason
        return
    if number > 0:
        found.samples[cell].append(ending.sample)
    elif counters.is_file():
        found.counters[cell] = counters.read_text()


def _run_program(bench: Bench, cell: Cell, folder: Path, extra: dict[str, str]) -> Ending:
    program = bench.program
    for name in program.outputs:
        (folder / name).unlink(missing_ok=True)
    ending = execution.run(
        program.run,
        folder,
        image=bench.images.get(cell.kernel),
        scratch=bench.scratch,
        environment=execution.environment() | extra,
        standard_input=program.standard_input,
        timeout_seconds=program.timeout_seconds,
        target=bench.target,
        tasks=bench.tasks,
    )
    if ending.status:
        raise ExecutionError(
            f"{program.run[0]} ended with status {ending.status} as the {cell}; "
            f"what it said is in {bench.scratch / 'stderr'}"
        )
    return ending


def _compare(bench: Bench, cell: Cell, number: int, found: Measurements) -> None:
    """Compare this run's outputs, byte for byte, with those of the reference's first run."""
    outputs = _outputs(bench, cell)
    if not found.outputs:
        _keep(bench, cell, outputs)
    found.outputs.setdefault(cell, outputs)
    different = [name for name in outputs if outputs[name] != found.outputs[REFERENCE][name]]
    for name in different:
        found.differences.setdefault((cell, name), []).append(number)
    _keep(bench, cell, different)


def _outputs(bench: Bench, cell: Cell) -> dict[str, str]:
    """SHA-256 of all that the last run wrote."""
    files = {name: _output_file(bench, cell, name) for name in bench.program.outputs}
    files[STANDARD_OUTPUT] = _output_file(bench, cell, STANDARD_OUTPUT)
    for name, path in files.items():
        if not path.is_file():
            raise ExecutionError(
                f"the {cell} wrote no {name}, which kadence.toml names among its outputs"
            )
    return {name: stages.file_hash(path).decode() for name, path in files.items()}


def _output_file(bench: Bench, cell: Cell, name: str) -> Path:
    standard = name == STANDARD_OUTPUT
    return bench.scratch / "stdout" if standard else bench.folders[cell.program] / name


def _keep(bench: Bench, cell: Cell, names: Iterable[str]) -> None:
    """Keep outputs for who wants to see how they differ; the reference's are always kept."""
    for name in names:
        target = bench.kept(cell) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_output_file(bench, cell, name), target)
