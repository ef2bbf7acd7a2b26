# SPDX-License-Identifier: GPL-2.0-or-later
"""Tailored kernels and programs laid out for each other, beside themselves as they were.

    python -m bench.layout.positioned [--counted] [PROGRAM...]

All programs run on one tailored kernel, which has what each of them needs. The programs are trained
on one input and measured on another one. `kadence kernel trace --counts` counts the kernel's code
and lays it out; the program counts itself and is laid out, too. The figures are of the lab's cache
model, of the whole program: medians of RUNS runs, with the ranges of the misses, since a program's
code lies at random pages. With --counted, the builds and counts of an earlier run are measured.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.base import tailored
from bench.base.commands import KADENCE
from bench.lab import lab
from bench.layout.builds import LAID_OUT, PLAIN, Builds
from kadence.base import resources
from kadence.kconfig.layout import artefact
from kadence.kconfig.layout.artefact import LINE_BYTES, Footprint
from kadence.kconfig.request.request import TAILORED, BuildRequest
from kadence.kconfig.store.build import build
from kadence.kconfig.store.store import Kernel
from kadence.kernel import counting
from kadence.program import program

TARGET = "x86_64"
PLAN = "build/bench/positioned/positioned.plan.json"
RUNS = 3
WORTH = 1 / 1000  # misses in an instruction; with less, a program is left out of the mean

CALLS = """
accept bind brk clock_gettime clone3 close connect execve exit_group fcntl fdatasync fsync ftruncate
futex getcwd getpid getrandom getsockname getuid ioctl listen lseek madvise mmap mprotect munmap
newfstatat openat poll pread64 prlimit64 pwrite64 read readlink recvfrom rename rseq rt_sigaction
rt_sigprocmask sendto set_robust_list set_tid_address setsockopt socket unlink write writev
"""
# The lab's operations are what no program trained.
NEEDS = {
    "system_calls": sorted({*CALLS.split(), *lab.NEEDS["system_calls"]}),
    "socket_families": [1, 2],
    "threads": True,
    "shared_memory": True,
}


@dataclass(frozen=True)
class Measured:
    """A program, how more inputs are made in its build's folder, and its commands there."""

    name: str
    source: str  # folder of the checkout, with a kadence.toml
    trained: Sequence[str]
    measured: Sequence[str]  # the same on another input
    prepare: str = "true"
    messages: int = 0  # of the measured command


# A guest's files lie on the host. Those in /dev/shm are the guest's own.
HEAT = "cp heat /dev/shm && cd /dev/shm && exec ./heat -e 1 -g 1 "
MINIMAP2 = ("source/minimap2", "-t", "1", "-c", "-x", "map-ont", "-o", "out.paf")
PROGRAMS = (
    Measured(
        "ring",
        "examples/ring",
        ("./ring", "4", "10", "200", "100000"),
        ("./ring", "3", "12", "300", "70000"),
        messages=3 * 2 * 12 * 300,  # nodes, hops, rounds, messages a hop
    ),
    Measured(
        "sqlite3",
        "bench/corpus/sqlite3",
        ("source/sqlite3", "small.db", ".read small.sql"),
        ("source/sqlite3", "other.db", ".read other.sql"),
    ),
    Measured(
        "minimap2",
        "examples/minimap2",
        (*MINIMAP2, "lab-1.fa", "lab-reads-1.fa"),
        (*MINIMAP2, "lab-2.fa", "lab-reads-2.fa"),
        "for seed in 1 2; do python3 generate.py --genome 100000 --reads 100 --seed $seed && "
        "mv genome.fa lab-$seed.fa && mv reads.fa lab-reads-$seed.fa; done",
    ),
    Measured(
        "heat",
        "examples/heat",
        ("sh", "-c", f"{HEAT} -n 64 -s 200"),
        ("sh", "-c", f"{HEAT} -n 80 -s 150"),
    ),
)


Runs = list[Footprint]


@dataclass(frozen=True)
class Found:
    """What one program does to the caches, in some runs."""

    before: Runs  # nothing is laid out
    kernel: Runs | None  # is laid out; None if that is not worth it
    both: Runs  # the kernel, if worth it, and the program are laid out
    not_worth_it: str | None


def folder_of(measured: Measured) -> Path:
    """The folder with the program's counts and builds."""
    return resources.home() / "build/bench/positioned" / measured.name


def place_of(measured: Measured) -> Path:
    """The file with the counts of the kernel."""
    return folder_of(measured) / "p.kcounts.json"


def train(measured: Measured) -> None:
    """Build the program, and count it and its kernel."""
    described = program.read(resources.home() / measured.source)
    builds = Builds(described, folder_of(measured))
    plain, (laid_out, _) = builds.plain(), builds.laid_out()
    for folder in (plain, laid_out):
        subprocess.run(["sh", "-ec", measured.prepare], cwd=folder, check=True, stdout=sys.stderr)
    place = place_of(measured)
    words = ["kernel", "trace", "--counts", str(resources.home() / PLAN), "-o", str(place), "--"]
    subprocess.run([KADENCE, *words, *measured.trained], cwd=plain, check=True, stdout=sys.stderr)


def kernel(counts: Path | None) -> Kernel:
    """The tailored kernel, laid out by counts if there are any."""
    plan = resources.home() / PLAN
    return build(BuildRequest(kind=TAILORED, plan=plan, target=TARGET, layout=counts))


def measure(measured: Measured) -> Found:
    """Run the program on the other input."""
    place = place_of(measured)
    refusal = artefact.read(place).not_worth_it
    plain, laid_out = (folder_of(measured) / name for name in (PLAIN, LAID_OUT))
    before = _runs(kernel(None), plain, measured)
    positioned = kernel(None if refusal else place)
    between = None if refusal else _runs(positioned, plain, measured)
    return Found(before, between, _runs(positioned, laid_out, measured), refusal)


def _runs(on: Kernel, folder: Path, measured: Measured) -> Runs:
    os.chdir(folder)
    return [counting.footprint_of(on, measured.measured) for _ in range(RUNS)]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="see the head of this file")
    parser.add_argument("--counted", action="store_true", help="measure what an earlier run made")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    chosen = [each for each in PROGRAMS if not options.programs or each.name in options.programs]
    found = []
    for each in chosen:
        if not options.counted:
            tailored.kernel("positioned", NEEDS, TARGET)
            train(each)
        found.append(measure(each))
        print("\n".join(table(each, found[-1])), end="\n\n", flush=True)
    print("\n".join(means(found)))


def table(measured: Measured, found: Found) -> Iterable[str]:
    """What the program does, in lines."""
    one, both = found.before, found.both
    share = one[0].instructions / (one[0].instructions + one[0].programs)
    yield re.sub("%", " %", f"{measured.name}: the kernel executes {share:.1%} of the instructions")
    if found.not_worth_it is not None:
        yield f"  the kernel stays as it was: {found.not_worth_it}"
    middle = found.kernel or one
    yield f"  {'laid out:':34} {'nothing':>12} {'the kernel':>12} {'':9} {'both':>12}"
    for (label, first), (_, second), (_, third) in zip(
        _rows(one), _rows(middle), _rows(both), strict=True
    ):
        cells = f"{second:12,.2f} {_change(first, second)} {third:12,.2f} {_change(first, third)}"
        yield f"  {label:34} {first:12,.2f} {cells}"
    for number, cache in enumerate(one[0].caches):
        ranges = ", ".join(_range(each, number) for each in (one, middle, both))
        yield f"  misses of {cache.bytes >> 10} KB in {RUNS} runs, thousands: {ranges}"
    if measured.messages:
        misses = [_misses(each, 0) / measured.messages for each in (one, middle, both)]
        yield "  misses a message, 32 KB: " + ", ".join(f"{each:.0f}" for each in misses)


def _misses(runs: Runs, cache: int) -> float:
    return statistics.median(each.caches[cache].misses for each in runs)


def _range(runs: Runs, cache: int) -> str:
    misses = [each.caches[cache].misses / 1e3 for each in runs]
    return f"{min(misses):,.0f} to {max(misses):,.0f}"


def _change(before: float, after: float) -> str:
    return f"{100 * (after / before - 1):+7.1f} %" if before else f"{'':9}"


def _rows(runs: Runs) -> list[tuple[str, float]]:
    """Labels, and medians."""
    columns = zip(*map(_rows_of_run, runs), strict=True)
    return [(each[0][0], statistics.median(value for _, value in each)) for each in columns]


def _rows_of_run(found: Footprint) -> list[tuple[str, float]]:
    return [
        ("instructions, millions", (found.instructions + found.programs) / 1e6),
        ("  of the kernel, millions", found.instructions / 1e6),
        ("taken branches, kernel, millions", found.taken_branches / 1e6),
        ("lines of 64 bytes, kernel", found.lines),
        ("lines / floor of executed bytes", found.lines * LINE_BYTES / found.executed_bytes),
        ("pages, kernel", found.pages),
        *(
            (f"L1I misses, {each.bytes >> 10} KB/{each.ways}, thousands", each.misses / 1e3)
            for each in found.caches
        ),
        *(
            (f"  in the kernel, {each.bytes >> 10} KB/{each.ways}, thousands", each.in_kernel / 1e3)
            for each in found.caches
        ),
        ("misses of 2 MB, thousands", found.caches[0].second_level / 1e3),
        ("misses of 64 translations, thousands", found.caches[0].translations / 1e3),
    ]


def means(found: Sequence[Found]) -> Iterable[str]:
    """Geometric means over the programs that missed often enough."""
    for number, cache in enumerate(found[0].before[0].caches):
        ratios = [
            _misses(each.both, number) / _misses(each.before, number)
            for each in found
            if _misses(each.before, number)
            > WORTH * (each.before[0].instructions + each.before[0].programs)
        ]
        if ratios:
            change = 100 * (statistics.geometric_mean(ratios) - 1)
            least = 100 * (max(ratios) - 1)
            yield (
                f"{cache.bytes >> 10} KB/{cache.ways}: {change:+.1f} % misses, geometric mean of "
                f"{len(ratios)}; the least gain is {least:+.1f} %"
            )


if __name__ == "__main__":
    main()
