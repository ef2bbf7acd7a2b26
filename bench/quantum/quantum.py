# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures Table 1 of the application-specific Linux paper, on User-Mode Linux.

Fibonacci and LINPACK-style LU run with 1 (the paper's case), 2 and 4 runnable processes on one
processor. The bench compares the default quantum with 5-second quanta, and shows this machine's own
kernel beside them. Every run lasts at least --seconds, and runs alternate between the two quanta.
The first of four rounds is dropped, as in the paper.

All runs of a line on User-Mode Linux share a guest. By default the bench measures a core of four
lines. This takes 24 minutes of runs at 30 s each, and longer with long units of work or a missing
kernel. --full measures all 24 lines.
"""

import argparse
import json
import os
import re
import statistics
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from bench.quantum.quantum_runs import (
    FIBONACCI,
    LU_LARGE,
    LU_MEDIUM,
    LU_SMALL,
    Case,
    Sample,
    run_in_one_guest,
    run_on_machine,
    units_for,
)
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.store.store import Kernel
from kadence.measurement.measure import KERNEL_NAMES, MACHINE

QUANTUM_SECONDS = 5
ROUNDS = 4  # the first is dropped
RUNS_A_LINE = 3 * ROUNDS  # default, long quantum, this machine
# Switches may differ by this factor from the number that the quantum dictates.
TOLERANCE = 2


@dataclass(frozen=True)
class Line:
    """A case with its counted runs."""

    case: Case
    default: list[Sample]
    quantum: list[Sample]
    machine: list[Sample]  # on this machine's own kernel, with its default quantum

    @property
    def saved(self) -> float:
        """The share of the default's time that the long quantum saves."""
        return 1 - middle(self.quantum, "seconds") / middle(self.default, "seconds")

    @property
    def of_machine(self) -> float:
        """The long quantum's time divided by the time on this machine's own kernel."""
        return middle(self.quantum, "seconds") / middle(self.machine, "seconds")

    @property
    def dictated(self) -> float:
        """The exchanges that the quantum dictates: each process's run time ÷ 5 s x processes."""
        if self.case.processes == 1:
            return 0.0
        return middle(self.quantum, "processor_seconds") / QUANTUM_SECONDS

    @property
    def as_dictated(self) -> bool:
        """Whether the exchanges are within a factor of two of the number that the quantum dictates.

        If the work ends within the first quantum, the quantum dictates nothing.
        """
        if self.dictated < 1:
            return True
        found = middle(self.quantum, "exchanges")
        return self.dictated / TOLERANCE <= found <= self.dictated * TOLERANCE


def middle(samples: list[Sample], field: str) -> float:
    """Returns the median of one field."""
    return float(statistics.median(getattr(sample, field) for sample in samples))


def spread(samples: list[Sample], field: str) -> float:
    """Returns largest minus smallest of one field."""
    values = [getattr(sample, field) for sample in samples]
    return float(max(values) - min(values))


def cases(full: bool) -> Iterator[Case]:
    """Yields the lines of the table, in order.

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


def measure(kernel: Kernel, case: Case, seconds: float) -> Line:
    """Do all runs of a case, and drop the first round.

    Both quanta run in turn in one guest. Half of the runs on the machine come before and half
    after the guest, so that the machine's drift favours neither side.
    """
    units = units_for(kernel, case, seconds)
    say(f"{case}: {RUNS_A_LINE} runs of {seconds:g} s")
    machine = run_on_machine(case, units, ROUNDS // 2)
    samples = run_in_one_guest(kernel, case, units, [0, QUANTUM_SECONDS] * ROUNDS)
    machine += run_on_machine(case, units, ROUNDS - len(machine))
    return Line(case, default=samples[2::2], quantum=samples[3::2], machine=machine[1:])


def say(text: str) -> None:
    """Report progress on standard error."""
    print(f"  {text}", file=sys.stderr, flush=True)


def table(lines: list[Line]) -> list[str]:
    """Returns the paper's table: total time and context switches, median ± half the spread.

    This machine's own kernel stands beside it, because a gain of a quantum on User-Mode Linux is
    not a gain over the machine.
    """
    head = f"{'Benchmark':<17} {'HZ':>4} {'procs':>5}"
    sides = f"{'time (s)':>15} {'exchanges':>9} {'invol.':>7}"
    text = [
        f"{'':<28} {'Default':^33} | {f'{QUANTUM_SECONDS}s Quantum':^33} | {'':>20} | "
        f"{KERNEL_NAMES[MACHINE]:^33}",
        f"{head} {sides} | {sides} | {'time saved':>10} {'dictated':>9} | {sides} {'of it':>7}",
    ]
    for line in lines:
        case = line.case
        verdict = "-" if case.processes == 1 else f"{line.dictated:.1f}"
        verdict += "" if line.as_dictated else " MISSED"
        text.append(
            f"{case.task.name:<17} {case.hz:>4} {case.processes:>5} "
            f"{side(line.default)} | {side(line.quantum)} | {line.saved:>10.1%} {verdict:>9} | "
            f"{side(line.machine)} {line.of_machine:>7.2f}"
        )
    return text


def side(samples: list[Sample]) -> str:
    """Returns the cells of one side of a line."""
    time = f"{middle(samples, 'seconds'):.2f} ± {spread(samples, 'seconds') / 2:.2f}"
    exchanges = middle(samples, "exchanges")
    return f"{time:>15} {exchanges:>9.0f} {middle(samples, 'involuntary'):>7.0f}"


def notes(lines: list[Line], seconds: float) -> list[str]:
    """Returns what the figures mean, and what they do not show."""
    noise = [line for line in lines if abs(line.saved) <= relative_spread(line)]
    missed = [line for line in lines if not line.as_dictated]
    short = [
        s
        for line in lines
        for s in line.default + line.quantum + line.machine
        if s.seconds < seconds
    ]
    return [
        "",
        f"Medians of {ROUNDS - 1} runs after one dropped, ± half of largest minus smallest.",
        "exchanges: switches between the measured tasks; invol.: all their involuntary switches.",
        f"dictated: processor time ÷ {QUANTUM_SECONDS} s; within {TOLERANCE}x: "
        + ("every line." if not missed else f"NOT {len(missed)} of {len(lines)} lines."),
        f"{len(noise)} of {len(lines)} differences in time are within the spread of the runs.",
        f"{len(short)} of {len(lines) * 3 * (ROUNDS - 1)} runs were shorter than {seconds:g} s.",
        f"of it: the time with {QUANTUM_SECONDS}s quanta relative to {KERNEL_NAMES[MACHINE]},",
        "held to one processor, with its default quantum; it has no device to set another.",
        "The paper had 29 % (Fibonacci) and 17 % (LU) less time, with 1 process.",
        f"Load of this machine at the end: {os.getloadavg()[0]:.2f}.",
    ]


def relative_spread(line: Line) -> float:
    """Returns the larger spread of the two sides, as a share of the default's median."""
    larger = max(spread(line.default, "seconds"), spread(line.quantum, "seconds"))
    return larger / middle(line.default, "seconds")


def main() -> int:
    """Measure, print and keep the table. Returns 1 if switches are not as dictated."""
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
    runs = len(chosen) * RUNS_A_LINE
    length = f"at least {runs * options.seconds / 60:.0f} minutes"
    say(f"{len(chosen)} cases x {RUNS_A_LINE} runs x {options.seconds:g} s: {length}")
    lines = [measure(kernels[case.hz], case, options.seconds) for case in chosen]
    text = "\n".join([*table(lines), *notes(lines, options.seconds)])
    print(text)
    keep(text, lines)
    return 0 if all(line.as_dictated for line in lines) else 1


def keep(text: str, lines: list[Line]) -> None:
    """Write table and figures to build/bench/."""
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
