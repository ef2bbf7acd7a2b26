# SPDX-License-Identifier: GPL-2.0-or-later
"""A tailored kernel laid out for each of some programs, beside itself as it was.

    python -m bench.layout.positioned [--counted] [PROGRAM...]

All programs run on one tailored kernel, which has what each of them needs. For each one,
`kadence kernel trace --counts` counts that kernel's code, lays it out, and counts once more. With
--counted, the counts of an earlier run are shown.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.base import tailored
from bench.base.commands import KADENCE
from bench.lab import lab
from kadence.base import resources
from kadence.kconfig.layout import artefact
from kadence.kconfig.layout.artefact import Counts, Footprint

TARGET = "x86_64"
PLAN = "build/bench/positioned/positioned.plan.json"
LINE_BYTES = 64
WORTH = 1 / 1000  # misses in an instruction; with less, a program is left out of the mean
MESSAGES = 4 * 3 * 10 * 200  # of ring: nodes, hops, rounds, messages a hop

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
}


@dataclass(frozen=True)
class Measured:
    """A program, how its inputs are made in its folder, and its command."""

    name: str
    source: str  # folder of the checkout
    prepare: str
    command: Sequence[str]


PROGRAMS = (
    Measured("ring", "examples/ring", "make", ("./ring", "4", "10", "200", "100000")),
    Measured(
        "sqlite3",
        "bench/corpus/sqlite3",
        "python3 inputs.py",
        ("sqlite3", "s.db", ".read small.sql"),
    ),
    Measured(
        "minimap2",
        "examples/minimap2",
        "python3 generate.py --genome 100000 --reads 100 --seed 1",
        ("minimap2", "-t", "1", "-c", "-x", "map-ont", "-o", "out.paf", "genome.fa", "reads.fa"),
    ),
    Measured(
        "heat", "examples/heat", "make", ("./heat", "-n", "64", "-s", "200", "-e", "1", "-g", "1")
    ),
)


def place_of(program: Measured) -> Path:
    """The file with the program's counts."""
    return resources.home() / "build/bench/positioned" / program.name / "p.kcounts.json"


def counted(program: Measured) -> Counts:
    """The program's counts."""
    place = place_of(program)
    folder = place.parent
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(resources.home() / program.source, folder)
    subprocess.run(["sh", "-ec", program.prepare], cwd=folder, check=True, stdout=sys.stderr)
    words = ["kernel", "trace", "--counts", str(resources.home() / PLAN), "-o", str(place), "--"]
    command = [KADENCE, *words, *program.command]
    subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)
    return artefact.read(place)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="see the head of this file")
    parser.add_argument("--counted", action="store_true", help="show counts of an earlier run")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    chosen = [each for each in PROGRAMS if not options.programs or each.name in options.programs]
    os.chdir(resources.home())
    if options.counted:
        found = {program.name: artefact.read(place_of(program)) for program in chosen}
    else:
        tailored.kernel("positioned", NEEDS, TARGET)
        found = {program.name: counted(program) for program in chosen}
    for name, counts in found.items():
        print("\n".join(_table(name, counts)), end="\n\n", flush=True)
    print("\n".join(_means(found.values())))


def _table(name: str, counts: Counts) -> Iterable[str]:
    assert counts.before is not None
    share = counts.before.instructions / (counts.before.instructions + counts.before.programs)
    yield f"{name}: the kernel executes {share:.1%} of the instructions".replace("%", " %")
    if counts.after is None:
        yield f"  not worth it: {counts.not_worth_it}"
        return
    yield f"  {'':34} {'tailored':>12} {'laid out':>12} {'change':>9}"
    for (label, one), (_, other) in zip(_rows(counts.before), _rows(counts.after), strict=True):
        yield f"  {label:34} {one:12,.2f} {other:12,.2f} {100 * (other / one - 1):+8.1f} %"
    if name == "ring":
        misses = [each.caches[0].misses / MESSAGES for each in (counts.before, counts.after)]
        yield f"  misses a message, 32 KB: {misses[0]:.0f}, then {misses[1]:.0f}"


def _rows(found: Footprint) -> list[tuple[str, float]]:
    return [
        ("instructions of the kernel, millions", found.instructions / 1e6),
        ("taken branches, millions", found.taken_branches / 1e6),
        ("lines of 64 bytes", found.lines),
        ("lines / floor of executed bytes", found.lines * LINE_BYTES / found.executed_bytes),
        ("pages", found.pages),
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


def _means(found: Iterable[Counts]) -> Iterable[str]:
    """Geometric means over the programs that missed often enough."""
    pairs = [
        (one.before, one.after) for one in found if one.before is not None and one.after is not None
    ]
    for number, cache in enumerate(pairs[0][0].caches if pairs else ()):
        ratios = [
            after.caches[number].misses / before.caches[number].misses
            for before, after in pairs
            if before.caches[number].misses > WORTH * (before.instructions + before.programs)
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
