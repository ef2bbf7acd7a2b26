# SPDX-License-Identifier: GPL-2.0-or-later
"""Slices without the device: what two programs that share a processor gain, and who waits for it.

Two copies of a program that follows pointers share one processor: with the default slice, and as
adapted programs whose phase has a quantum of 10 or 100 ms. In a last line only one of them is
adapted. Then a neighbour that sleeps for a millisecond at a time tells how late it wakes beside
them. At last, two copies of public programs run plain and adapted. There the adapted program also
runs with a slice of its own, a microsecond above the default, which libkadapt leaves alone: the
difference is what slices do.

All ways run in turn, and each round begins with another one. Figures are processor time.
"""

import argparse
import ctypes
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.base.keeping import print_and_keep, with_disturbance
from bench.base.rows import aligned
from bench.corpus import corpus_own
from kadence.base import resources
from kadence.base.errors import KadenceError, ToolError
from kadence.base.stages import alone_in
from kadence.base.statistics import Estimate, differs, median, paired_ratio, rotated
from kadence.measurement.measure import ADAPTED, PLAIN
from kadence.program import program
from kadence.program.places import Places
from kadence.program.program import Program

DEFAULT, TEN, HUNDRED = "default", "10 ms", "100 ms"
CHASES = {DEFAULT: "chase", TEN: "chase-10", HUNDRED: "chase-100"}
KEPT_DEFAULT = "adapted, default slice"
WAKEUPS = 1000
BESIDE_KIB, BESIDE_STEPS = 1024, 10**11  # beside the neighbour; ended when it is done
SETATTR, GETATTR = 314, 315  # sched_setattr(2) and sched_getattr(2) on x86-64
ATTRIBUTES, RUNTIME = 6, 3  # 64-bit words of struct sched_attr, and the slice's
MICROSECOND = 1000

Command = Sequence[str]


@dataclass(frozen=True)
class Set:
    """A working set, and the steps that take about half a second alone."""

    label: str
    kibibytes: int
    steps: int


SETS = (
    Set("256 KiB", 256, 120_000_000),
    Set("1 MiB", 1024, 40_000_000),
    Set("8 MiB", 8192, 15_000_000),
)


@dataclass(frozen=True)
class Pair:
    """Two copies that share a processor."""

    name: str
    first: Command
    second: Command


def chase(way: str, which: Set) -> Command:
    found = resources.built(f"bench/slices/{CHASES[way]}")
    return [str(found), str(which.kibibytes), str(which.steps)]


def pairs(which: Set) -> list[Pair]:
    """The ways in which both copies are alike."""
    return [Pair(way, chase(way, which), chase(way, which)) for way in CHASES]


def one_sided(which: Set) -> Pair:
    return Pair("only one: 100 ms", chase(HUNDRED, which), chase(DEFAULT, which))


# ---- runs ----------------------------------------------------------------------------------------


def shared() -> int:
    """The processor that all copies share: the last one, which serves fewest interrupts."""
    return max(os.sched_getaffinity(0))


def bound() -> None:
    """In a child: run on that processor."""
    os.sched_setaffinity(0, {shared()})


def start(command: Command, prepare: Callable[[], None] = bound) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, preexec_fn=prepare, text=True, encoding="ascii"
    )


def told(running: "subprocess.Popen[str]") -> list[float]:
    """The figures that it prints."""
    output, _ = running.communicate()
    if running.returncode:
        raise ToolError(f"{running.args} ended with status {running.returncode}")
    return [float(word) for word in output.split()]


def both(pair: Pair) -> tuple[float, float]:
    """The processor seconds of the two copies."""
    running = [start(pair.first), start(pair.second)]
    first, second = (told(each)[0] for each in running)
    return first, second


# ---- working sets --------------------------------------------------------------------------------


def of_sets(rounds: int) -> Iterator[str]:
    yield f"Two copies that follow pointers, on one processor, {rounds} rounds: seconds of a copy"
    lines = [["", DEFAULT, TEN, HUNDRED, "10 ms / default", "100 ms / default"]]
    lines += [_line(which, rounds) for which in SETS]
    yield from aligned(lines)
    yield ""
    yield from _one_sided(SETS[1], rounds)


def _line(which: Set, rounds: int) -> list[str]:
    by_name = {pair.name: pair for pair in pairs(which)}
    taken: dict[str, list[float]] = {name: [] for name in by_name}
    for number in range(rounds):
        for name in rotated(list(by_name), number):
            taken[name].append(statistics.fmean(both(by_name[name])))
    cells = [str(median(taken[name])) for name in by_name]
    ratios = [str(paired_ratio(taken[name], taken[DEFAULT])) for name in (TEN, HUNDRED)]
    return [which.label, *cells, *ratios]


def _one_sided(which: Set, rounds: int) -> Iterator[str]:
    plain = {pair.name: pair for pair in pairs(which)}[DEFAULT]
    adapted = one_sided(which)
    taken = {plain.name: [both(plain)], adapted.name: [both(adapted)]}
    for number in range(1, rounds):
        for pair in (plain, adapted) if number % 2 else (adapted, plain):
            taken[pair.name].append(both(pair))
    reference = [statistics.fmean(each) for each in taken[plain.name]]
    yield f"Only one copy of {which.label} asks for 100 ms: ratio to both with the default"
    for index, who in enumerate(("the one that asks", "the other one")):
        samples = [each[index] for each in taken[adapted.name]]
        yield f"  {who}: {paired_ratio(samples, reference)}"


# ---- a neighbour ---------------------------------------------------------------------------------


def of_neighbour(rounds: int) -> Iterator[str]:
    times = f"{rounds} x {WAKEUPS} times"
    yield f"Beside two of them, a neighbour that sleeps for 1 ms, {times}: microseconds late"
    taken: dict[str, list[list[float]]] = {way: [] for way in CHASES}
    for number in range(rounds):
        for way in rotated(list(CHASES), number):
            taken[way].append(_beside(way))
    lines = [["slices of the two", "median", "99 %", "latest"]]
    for way, found in taken.items():
        middle, late, latest = zip(*found, strict=True)
        lines.append(
            [
                way,
                f"{statistics.median(middle):,.0f}",
                f"{statistics.median(late):,.0f}",
                f"{max(latest):,.0f}",
            ]
        )
    yield from aligned(lines)


def _beside(way: str) -> list[float]:
    command = chase(way, Set("", BESIDE_KIB, BESIDE_STEPS))
    busy = [start(command) for _ in range(2)]
    try:
        return told(start([str(resources.built("bench/slices/wakeups")), str(WAKEUPS)]))
    finally:
        for each in busy:
            each.kill()
            each.communicate()


# ---- public programs -----------------------------------------------------------------------------


def bound_with_a_slice() -> None:
    """In a child: the same, with a slice of its own, which is hardly the default's."""
    bound()
    library = ctypes.CDLL(None, use_errno=True)
    words = (ctypes.c_uint64 * ATTRIBUTES)()
    library.syscall(GETATTR, 0, words, ctypes.sizeof(words), 0)
    words[RUNTIME] += MICROSECOND
    if library.syscall(SETATTR, 0, words, 0):
        raise OSError(ctypes.get_errno(), "sched_setattr")


def of_programs(folders: Sequence[str], rounds: int) -> Iterator[str]:
    yield f"Two copies of a public program, on one processor, {rounds} rounds: seconds of a copy"
    lines = [["", PLAIN, KEPT_DEFAULT, ADAPTED, "adapted / plain", "slices alone"]]
    for folder in folders:
        described = program.read(resources.home() / folder)
        taken = _take(described, rounds)
        ratio = paired_ratio(taken[ADAPTED], taken[PLAIN])
        alone = paired_ratio(taken[ADAPTED], taken[KEPT_DEFAULT])
        cells = [str(median(samples)) for samples in taken.values()]
        lines.append([described.name, *cells, str(ratio), f"{alone} {verdict(alone)}"])
    yield from aligned(lines)


def verdict(alone: Estimate) -> str:
    if not differs(alone):
        return "no difference"
    return "gains" if alone.value < 1 else "LOSES"


def _take(described: Program, rounds: int) -> Mapping[str, list[float]]:
    output = resources.home() / "build/bench/slices-programs" / described.name
    places = Places(output, described.name)
    with alone_in(places.output):
        if not places.build(ADAPTED).is_dir():
            corpus_own.prepare(described, places)
    ways = {PLAIN: bound, KEPT_DEFAULT: bound_with_a_slice, ADAPTED: bound}
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds):
        for way in rotated(list(ways), number):
            folder = places.build(PLAIN if way == PLAIN else ADAPTED)
            copies = [_fresh(described, folder, output / f"copy-{index}") for index in range(2)]
            taken[way].append(_run(described, copies, ways[way]))
    return taken


def _fresh(described: Program, folder: Path, copy: Path) -> Path:
    """A copy of the build's folder, without what earlier runs wrote."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy, symlinks=True)
    for pattern in described.outputs:
        for written in copy.glob(pattern):
            written.unlink()
    return copy


def _run(described: Program, copies: Sequence[Path], prepare: Callable[[], None]) -> float:
    """The processor seconds of a copy: the mean of two, which print their outputs to nowhere."""
    first, *rest = described.run
    environment = dict(os.environ) | dict(described.environment) | {"KADAPT_TRIALS": "off"}
    before = os.times()
    running = [
        subprocess.Popen(
            [str(folder / first), *rest],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            preexec_fn=prepare,
        )
        for folder in copies
    ]
    statuses = [each.wait() for each in running]
    if any(statuses):
        raise ToolError(f"{described.name} failed")
    after = os.times()
    used = after.children_user + after.children_system
    return (used - before.children_user - before.children_system) / 2


def lines(options: argparse.Namespace) -> Iterator[str]:
    yield from of_sets(options.rounds)
    yield ""
    yield from of_neighbour(max(options.rounds // 2, 1))
    if options.programs:
        yield ""
        yield from of_programs(options.programs.split(), options.rounds)


def main() -> int:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--programs", default="", help="folders of public programs")
    options = parser.parse_args()
    print_and_keep(with_disturbance(lines(options)), "slices.txt")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-slices: {error}")
