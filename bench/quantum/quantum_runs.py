# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs bench/quantum's program in one guest after the other, and on this machine's own kernel.

The guest has one processor. On the machine the program is bound to one processor, and has no device
to set a quantum.
"""

import json
import math
import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence import boot
from kadence.base import resources
from kadence.base.errors import GuestError
from kadence.kconfig.store.store import Kernel

MEMORY_BYTES = 1 << 30
# A run is planned this much longer than requested, because speed varies between runs.
MARGIN = 1.05
# A shorter first run does not show a program's speed precisely enough.
LOOK_SECONDS = 3.0


@dataclass(frozen=True)
class Task:
    """A program of the table and its size."""

    name: str
    program: str
    size: int
    units: int  # of work, for a first run that shows its speed


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
    """The figures of one run. The field names are those of quantum's output."""

    seconds: float
    processor_seconds: float
    exchanges: int
    voluntary: int
    involuntary: int


def run_in_one_guest(kernel: Kernel, case: Case, units: int, quanta: Sequence[int]) -> list[Sample]:
    """Do a run for each quantum (seconds, 0 for the default), one after the other.

    As in the paper, the system stays up between runs. In a guest's first half minute kernel threads
    work (above all to reseed random numbers), and each of their wakeups ends a quantum.
    """
    runs = [shlex.join(_words(case, units, seconds)) for seconds in quanta]
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
            raise GuestError(f"{runs[0].split()[0]} ended with status {result.status} in the guest")
        if complaints := boot.complaints(result.log):
            raise GuestError(f"the guest kernel complained: {complaints[0]}")
        output.seek(0)
        return [Sample(**json.loads(line)) for line in output.read().splitlines()]


def units_for(kernel: Kernel, case: Case, seconds: float) -> int:
    """Returns the units of work per process that make a run last `seconds`."""
    each = unit_seconds(kernel, case, case.task.units)
    if each * case.task.units < LOOK_SECONDS:
        each = unit_seconds(kernel, case, math.ceil(LOOK_SECONDS / each))
    return math.ceil(seconds * MARGIN / each / case.processes)


def unit_seconds(kernel: Kernel, case: Case, units: int) -> float:
    """Returns the time of a unit in a process that runs alone, measured in its second run."""
    alone = Case(case.task, 1, case.hz)
    return run_in_one_guest(kernel, alone, units, [0, 0])[-1].seconds / units


def run_on_machine(case: Case, units: int, count: int) -> list[Sample]:
    """Do runs on this machine's own kernel, one after the other, with its default quantum."""
    processor = min(os.sched_getaffinity(0))
    words = ["taskset", "-c", str(processor), *_words(case, units, 0)]
    return [_sample(subprocess.run(words, capture_output=True, check=False)) for _ in range(count)]


def _sample(done: "subprocess.CompletedProcess[bytes]") -> Sample:
    if done.returncode:
        raise GuestError(
            f"{' '.join(done.args)} ended with status {done.returncode} on this machine: "
            f"{done.stderr.decode().strip()}"
        )
    return Sample(**json.loads(done.stdout))


def _words(case: Case, units: int, quantum_seconds: int) -> list[str]:
    program = resources.built("bench/quantum")
    task = case.task
    words = (program, task.program, task.size, case.processes, units, quantum_seconds * 10**9)
    return [str(word) for word in words]
