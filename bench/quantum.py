# SPDX-License-Identifier: GPL-2.0-or-later
"""Table 1 of the application-specific Linux paper, on User-Mode Linux.

Fibonacci and LINPACK-style LU, with 1 (the paper's case), 2 and 4 runnable processes on the one
processor, default against 5-second quanta. Every run lasts at least --seconds; runs alternate
between the two quanta; of four rounds the first is dropped, as the paper drops its first.

All runs of a line share a guest. By default a core of four lines: 16 minutes of runs at 30 s
each, and what a long unit of work or a missing kernel adds; --full is the whole matrix of 24.
"""

import argparse
import json
import math
import os
import re
import shlex
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kadence import boot, resources
from kadence.errors import GuestError, KadenceError
from kadence.kconfig.build import BuildRequest, build
from kadence.kconfig.store import Kernel

QUANTUM_SECONDS = 5
ROUNDS = 4  # the first is dropped
MEMORY_BYTES = 1 << 30
# A run is planned this much longer than asked for, since speed varies between runs.
MARGIN = 1.05
# A shorter first look says too little of a program's speed.
LOOK_SECONDS = 3.0
# Switches may differ from what the quantum dictates by this factor.
TOLERANCE = 2


@dataclass(frozen=True)
class Task:
    """A program of the table and its size."""

    name: str
    program: str
    size: int
    units: int  # for a first look at its speed


FIBONACCI = Task("Fibonacci", "fibonacci", 1, 200)
LU_SMALL = Task("LU 200 (0.3 MB)", "lu", 200, 50)
LU_MEDIUM = Task("LU 1000 (8 MB)", "lu", 1000, 1)
LU_LARGE = Task("LU 2400 (46 MB)", "lu", 2400, 1)


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    task: Task
    processes: int
    hz: int

    def __str__(self) -> str:
        return f"{self.task.name}, {self.processes} processes, HZ={self.hz}"


@dataclass(frozen=True)
class Sample:
    """What one run measured; field names are those of quantum's output."""

    seconds: float
    processor_seconds: float
    exchanges: int
    voluntary: int
    involuntary: int


@dataclass(frozen=True)
class Line:
    """A case with its counted runs."""

    case: Case
    default: list[Sample]
    quantum: list[Sample]

    @property
    def saved(self) -> float:
        """Share of the default's time that the long quantum saves."""
        return 1 - middle(self.quantum, "seconds") / middle(self.default, "seconds")

    @property
    def dictated(self) -> float:
        """Exchanges that the quantum dictates: each process's run time ÷ 5 s x processes."""
        if self.case.processes == 1:
            return 0.0
        return middle(self.quantum, "processor_seconds") / QUANTUM_SECONDS

    @property
    def as_dictated(self) -> bool:
        """Whether the exchanges are within a factor of two of what the quantum dictates.

        Nothing is dictated where the work is over before the first quantum is.
        """
        if self.dictated < 1:
            return True
        found = middle(self.quantum, "exchanges")
        return self.dictated / TOLERANCE <= found <= self.dictated * TOLERANCE


def middle(samples: list[Sample], field: str) -> float:
    """Median of one field."""
    return float(statistics.median(getattr(sample, field) for sample in samples))


def spread(samples: list[Sample], field: str) -> float:
    """Largest minus smallest, of one field."""
    values = [getattr(sample, field) for sample in samples]
    return float(max(values) - min(values))


def cases(full: bool) -> Iterator[Case]:
    """The lines of the table, in order.

    The core has each program, each tick rate, a working set that fits the cache and one that
    does not, and the paper's case of one process.
    """
    if not full:
        yield Case(FIBONACCI, 1, 100)
        yield Case(FIBONACCI, 2, 100)
        yield Case(LU_SMALL, 2, 1000)
        yield Case(LU_LARGE, 2, 1000)
        return
    for hz in (100, 1000):
        for task in (FIBONACCI, LU_SMALL, LU_MEDIUM, LU_LARGE):
            for processes in (1, 2, 4):
                yield Case(task, processes, hz)


def run_in_one_guest(kernel: Kernel, case: Case, units: int, quanta: Sequence[int]) -> list[Sample]:
    """A run for each quantum (seconds, 0 for the default), one after the other.

    As in the paper the system stays up between runs: a guest's first half minute has kernel
    threads at work (reseeding of random numbers above all), and each wakeup ends a quantum.
    """
    program = resources.built("bench/quantum")
    runs = [
        shlex.join(map(str, [program, case.task.program, case.task.size, case.processes, units,
                             seconds * 10**9]))
        for seconds in quanta
    ]  # fmt: skip
    with tempfile.TemporaryFile() as output, Path(os.devnull).open("rb") as nothing:
        result = boot.run(
            boot.Request(
                image=kernel.image,
                argv=["sh", "-c", " && ".join(runs)],
                memory_bytes=MEMORY_BYTES,
                stdin=nothing.fileno(),
                stdout=output.fileno(),
            )
        )
        if result.status != 0:
            raise GuestError(f"{program} ended with status {result.status} in the guest")
        if complaints := boot.complaints(result.log):
            raise GuestError(f"the guest kernel complained: {complaints[0]}")
        output.seek(0)
        return [Sample(**json.loads(line)) for line in output.read().splitlines()]


def units_for(kernel: Kernel, case: Case, seconds: float) -> int:
    """Units of work per process that make a run last as long as asked."""
    each = unit_seconds(kernel, case, case.task.units)
    if each * case.task.units < LOOK_SECONDS:
        each = unit_seconds(kernel, case, math.ceil(LOOK_SECONDS / each))
    return math.ceil(seconds * MARGIN / each / case.processes)


def unit_seconds(kernel: Kernel, case: Case, units: int) -> float:
    """What a unit takes a process that is alone, the second time."""
    alone = Case(case.task, 1, case.hz)
    return run_in_one_guest(kernel, alone, units, [0, 0])[-1].seconds / units


def measure(kernel: Kernel, case: Case, seconds: float) -> Line:
    """All runs of a case in one guest, both quanta in turn; the first round is dropped."""
    units = units_for(kernel, case, seconds)
    say(f"{case}: {2 * ROUNDS} runs of {seconds:g} s")
    samples = run_in_one_guest(kernel, case, units, [0, QUANTUM_SECONDS] * ROUNDS)
    return Line(case, default=samples[2::2], quantum=samples[3::2])


def say(text: str) -> None:
    """Progress, for whoever watches."""
    print(f"  {text}", file=sys.stderr, flush=True)


def table(lines: list[Line]) -> list[str]:
    """The paper's table: total time and context switches, median ± half the spread."""
    head = f"{'Benchmark':<17} {'HZ':>4} {'procs':>5}"
    sides = f"{'time (s)':>15} {'exchanges':>9} {'invol.':>7}"
    text = [
        f"{'':<28} {'Default':^33} | {f'{QUANTUM_SECONDS}s Quantum':^33} |",
        f"{head} {sides} | {sides} | {'time saved':>10} {'dictated':>9}",
    ]
    for line in lines:
        case = line.case
        verdict = "-" if case.processes == 1 else f"{line.dictated:.1f}"
        verdict += "" if line.as_dictated else " MISSED"
        text.append(
            f"{case.task.name:<17} {case.hz:>4} {case.processes:>5} "
            f"{side(line.default)} | {side(line.quantum)} | {line.saved:>10.1%} {verdict:>9}"
        )
    return text


def side(samples: list[Sample]) -> str:
    """One half of a line."""
    time = f"{middle(samples, 'seconds'):.2f} ± {spread(samples, 'seconds') / 2:.2f}"
    exchanges = middle(samples, "exchanges")
    return f"{time:>15} {exchanges:>9.0f} {middle(samples, 'involuntary'):>7.0f}"


def notes(lines: list[Line], seconds: float) -> list[str]:
    """What the figures are, and what they do not show."""
    noise = [line for line in lines if abs(line.saved) <= relative_spread(line)]
    missed = [line for line in lines if not line.as_dictated]
    short = [s for line in lines for s in line.default + line.quantum if s.seconds < seconds]
    return [
        "",
        f"Medians of {ROUNDS - 1} runs after one dropped, ± half of largest minus smallest.",
        "exchanges: switches between the measured tasks; invol.: all their involuntary switches.",
        f"dictated: processor time ÷ {QUANTUM_SECONDS} s; within {TOLERANCE}x: "
        + ("every line." if not missed else f"NOT {len(missed)} of {len(lines)} lines."),
        f"{len(noise)} of {len(lines)} differences in time are within the spread of the runs.",
        f"{len(short)} of {len(lines) * 2 * (ROUNDS - 1)} runs were shorter than {seconds:g} s.",
        "The paper had 29 % (Fibonacci) and 17 % (LU) less time, with 1 process.",
        f"Load of this machine at the end: {os.getloadavg()[0]:.2f}.",
    ]


def relative_spread(line: Line) -> float:
    """The larger spread of the two sides, as a share of the default's median."""
    larger = max(spread(line.default, "seconds"), spread(line.quantum, "seconds"))
    return larger / middle(line.default, "seconds")


def main() -> int:
    """Measure, print, and keep what was printed; 1 where the switches are not as dictated."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30.0, help="least length of a run")
    parser.add_argument("--full", action="store_true", help="the whole matrix")
    parser.add_argument("--only", default="", help="lines whose name this expression matches")
    options = parser.parse_args()
    if not options.seconds > 0:
        parser.error("--seconds must be above 0")
    chosen = [case for case in cases(options.full) if re.search(options.only, str(case))]
    if not chosen:
        parser.error(f"no line matches {options.only!r}")
    kernels = {hz: build(BuildRequest(hz=hz)) for hz in {case.hz for case in chosen}}
    runs = len(chosen) * 2 * ROUNDS
    length = f"at least {runs * options.seconds / 60:.0f} minutes"
    say(f"{len(chosen)} cases x 2 quanta x {ROUNDS} rounds x {options.seconds:g} s: {length}")
    lines = [measure(kernels[case.hz], case, options.seconds) for case in chosen]
    text = "\n".join([*table(lines), *notes(lines, options.seconds)])
    print(text)
    keep(text, lines)
    return 0 if all(line.as_dictated for line in lines) else 1


def keep(text: str, lines: list[Line]) -> None:
    """Leave table and figures in build/bench/."""
    folder = resources.home() / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "quantum.txt").write_text(text + "\n", encoding="utf-8")
    figures = [asdict(line) for line in lines]
    (folder / "quantum.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-quantum: {error}")
