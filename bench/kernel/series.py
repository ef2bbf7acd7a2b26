# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares User-Mode Linux of 6.12 and 7.3, with ptrace and seccomp, on one and two processors.

Each round runs every program in every place, in turn. All places of 7.3 use the same image, which
supports several processors. A program's time is the time of its command, by the guest's clock or
this machine's. An operation's time is reported by bench/lab's program. The whole range stands
beside each median; ignore differences that are smaller than this range.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.base import operations
from bench.base.suite import SUBJECTS, Suite
from bench.memory.memory_rows import Cell, Line, table
from kadence import boot
from kadence.base import resources
from kadence.base.errors import GuestError, KadenceError
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.store.store import Kernel
from kadence.lab import figures

OLD, NEW = "6.12", "7.3"
OPERATIONS = ("getppid", "write_16", "page", "context_switch", "fork_exit")
MEMORY_BYTES = 1 << 30
ROUNDS = 5
SECOND = 1e9


@dataclass(frozen=True)
class Place:
    """A place where programs run: this machine (no image), or a guest of a kernel's image."""

    name: str
    image: Path | None
    processors: int
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Work:
    """A command whose time is measured."""

    label: str
    command: tuple[str, ...]


def places(old: Kernel, new: Kernel) -> list[Place]:
    """Returns the columns of the table."""
    return [
        Place("this machine, 1", None, 1),
        Place("this machine, 2", None, 2),
        Place("6.12 ptrace, 1", old.image, 1),
        Place("7.3 ptrace, 1", new.image, 1, ("seccomp=off",)),
        Place("7.3 seccomp, 1", new.image, 1, ("seccomp=on",)),
        Place("7.3 seccomp, 2", new.image, 2),
    ]


def before_and_after(image: Path, old: Kernel) -> list[Place]:
    """Returns a kernel built before a change, and the present kernel of the same series."""
    return [Place("before, 1", image, 1), Place("6.12 ptrace, 1", old.image, 1)]


def works(scratch: Path) -> list[Work]:
    """Returns the programs. Each runs so long that the boot does not matter."""
    heat = str(resources.built("examples/heat/heat"))
    openmp = str(resources.built("examples/heat-openmp/heat-openmp"))
    size = ("-s", "500", "-e", "500", "-o", str(scratch / "checkpoint"))
    alone = f"{heat} -s 500 -e 500 -o {scratch}"
    minimap2, *rest = _minimap2()
    return [
        Work("heat, OpenMP, 1 thread", (openmp, "-t", "1", *size)),
        Work("heat, OpenMP, 2 threads", (openmp, "-t", "2", *size)),
        Work("minimap2 -t 1", (minimap2, "-t", "1", *rest)),
        Work("minimap2 -t 2", (minimap2, "-t", "2", *rest)),
        Work("two processes of heat", ("sh", "-c", f"{alone}/one & {alone}/two & wait")),
    ]


def _minimap2() -> list[str]:
    """Build minimap2. Returns its command without the number of threads."""
    suite = Suite(resources.home() / "build/bench/series")
    subject = next(subject for subject in SUBJECTS if subject.name == "minimap2")
    suite.build(subject, "plain")
    words = suite.command(subject, "plain")
    at = words.index("-t")
    return [*words[:at], *words[at + 2 :]]


def seconds(place: Place, work: Work) -> float:
    """Returns the seconds that the command takes in a place."""
    with tempfile.TemporaryFile() as output:
        if place.image is None:
            return _on_machine(place, work.command, output.fileno())
        return _in_guest(place, work.command, output.fileno()).wall_seconds


def _on_machine(place: Place, command: Sequence[str], output: int) -> float:
    began = time.monotonic()
    subprocess.run(_bound(place, command), stdout=output, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - began


def _bound(place: Place, command: Sequence[str]) -> list[str]:
    """Returns the command, bound to the place's number of usable processors."""
    usable = sorted(os.sched_getaffinity(0))[: place.processors]
    return ["taskset", "-c", ",".join(map(str, usable)), *command]


def _in_guest(place: Place, command: Sequence[str], output: int) -> boot.Result:
    assert place.image is not None
    result = boot.run(
        boot.Request(
            image=place.image,
            argv=command,
            stdout=output,
            stderr=output,
            memory_bytes=MEMORY_BYTES,
            processors=place.processors,
            kernel_arguments=place.arguments,
            hang_timeout_seconds=600.0,
        )
    )
    if result.status:
        raise GuestError(f"{' '.join(command)} ended with {result.status} on {place.name}")
    if found := boot.complaints(result.log):
        raise GuestError(f"{place.name} complained: {found[0]}")
    return result


def operation_times(place: Place) -> dict[str, float]:
    """Returns nanoseconds of each operation of bench/lab's program, the median of its rounds."""
    command = [str(resources.built("bench/lab/lab-dynamic")), "-r", "5", *OPERATIONS]
    with tempfile.TemporaryFile() as output:
        if place.image is None:
            _on_machine(place, command, output.fileno())
        else:
            _in_guest(place, command, output.fileno())
        output.seek(0)
        found = figures.read(output.read().decode())[1]
    return {name: figure.median for name, figure in found.items() if figure.median is not None}


def boot_time(place: Place) -> float | None:
    """Returns the seconds from the kernel's start to the command's start."""
    if place.image is None:
        return None
    return _in_guest(place, ["true"], os.open(os.devnull, os.O_WRONLY)).boot_seconds


@dataclass
class Samples:
    """The figures measured so far, by row and place."""

    places: Sequence[Place]
    taken: dict[tuple[str, str], list[float]]

    def add(self, row: str, place: Place, value: float | None) -> None:
        if value is not None:
            self.taken.setdefault((row, place.name), []).append(value)

    def line(self, row: str, digits: int) -> Line:
        cells = [self.taken.get((row, place.name)) for place in self.places]
        return Line(row, [Cell.of(found, digits=digits) if found else "-" for found in cells])


BOOT = "boot to the first program, s"


def measure(chosen: Sequence[Place], programs: Sequence[Work], rounds: int) -> Samples:
    """Measure everything in turn, so that other work on the machine affects all places alike."""
    samples = Samples(chosen, {})
    for number in range(1, rounds + 1):
        for place in chosen:
            print(f"round {number} of {rounds}: {place.name}", file=sys.stderr)
            samples.add(BOOT, place, boot_time(place))
            for name, value in operation_times(place).items():
                samples.add(f"{operations.label(name)}, ns", place, value)
            for work in programs:
                samples.add(f"{work.label}, s", place, seconds(place, work))
    return samples


def report(samples: Samples, programs: Sequence[Work], rounds: int) -> Iterator[str]:
    """Yields the table."""
    yield f"median of {rounds} interleaved rounds (lowest-highest); 1 and 2 are processors"
    lines = [samples.line(f"{work.label}, s", 3) for work in programs]
    lines += [samples.line(f"{operations.label(name)}, ns", 0) for name in OPERATIONS]
    lines.append(samples.line(BOOT, 3))
    yield from table([place.name for place in samples.places], lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(
        "--before", type=Path, metavar="IMAGE", help="6.12 from before a change, instead of 7.3"
    )
    options = parser.parse_args()
    rounds = options.rounds
    try:
        old = build(BuildRequest(series=OLD))
        if options.before is None:
            chosen = places(old, build(BuildRequest(series=NEW)))
        else:
            chosen = before_and_after(options.before, old)
        with tempfile.TemporaryDirectory() as folder:
            programs = works(Path(folder))
            print("\n".join(report(measure(chosen, programs, rounds), programs, rounds)))
    except KadenceError as error:
        print(f"kadence: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
