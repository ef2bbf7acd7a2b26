# SPDX-License-Identifier: GPL-2.0-or-later
"""What profiling costs: kbbv against Nulgrind and exp-bbv, on the examples.

Every round runs each program natively and under every tool, one after the other, so that a
noisy neighbour meets all of them alike. The ratios are those of the medians of wall time.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kadence import resources

INTERVAL = 1_000_000
MOST_OVER_NULGRIND = 1.5
LEAST_UNDER_BBV = 2.0
EXAMPLES = ("heat", "lu", "ring")

Command = list[str]


@dataclass(frozen=True)
class Way:
    """A way to run a program."""

    name: str
    wrap: Callable[[Command], Command]


@dataclass
class Times:
    """Seconds of all counted rounds."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


def under(tool: str, *options: str) -> Callable[[Command], Command]:
    """The wrapper that runs a command under a Valgrind tool."""
    common = ["valgrind", f"--tool={tool}", "--command-line-only=yes", "-q", "--vgdb=no"]
    return lambda command: [*common, "--log-file=log", *options, "--", *command]


def kadence_profile(command: Command) -> Command:
    """The whole of `kadence profile`, with start-up and the writing of the profile."""
    kadence = str(Path(sys.executable).parent / "kadence")
    return [kadence, "profile", "--interval", str(INTERVAL), "-o", "P.kprof", "--", *command]


WAYS = (
    Way("native", lambda command: command),
    Way("nulgrind", under("none")),
    Way("kbbv", under("kbbv", "--raw=raw", f"--interval={INTERVAL}")),
    Way("exp-bbv", under("exp-bbv", f"--interval-size={INTERVAL}")),
    Way("kadence profile", kadence_profile),
)


def environment(directory: Path) -> dict[str, str]:
    """One in which Valgrind finds kbbv beside its own tools."""
    tools = directory / "tools"
    tools.mkdir()
    for source in (
        Path("/usr/libexec/valgrind"),
        resources.built("profiler/valgrind/kbbv-amd64-linux").parent,
    ):
        for file in source.iterdir():
            if not (tools / file.name).is_symlink():
                (tools / file.name).symlink_to(file.resolve())
    return dict(os.environ, VALGRIND_LIB=str(tools))


def example(name: str) -> Command:
    """The command that an example is profiled with, of the program that `make build` made."""
    home = resources.home()
    with (home / "examples" / name / "kadence.toml").open("rb") as file:
        command = tomllib.load(file)["run"]["profile"]
    return [str(resources.built(f"examples/{name}/{name}")), *command[1:]]


def seconds(command: Command, directory: Path, env: dict[str, str]) -> tuple[float, float]:
    """Wall and processor time of one run."""
    begin = time.monotonic()
    with subprocess.Popen(command, cwd=directory, env=env, stdout=subprocess.DEVNULL) as process:
        _pid, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime


def measure(command: Command, rounds: int) -> dict[str, Times]:
    """All ways in turn, `rounds` times, after one round that does not count."""
    times = {way.name: Times() for way in WAYS}
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        env = environment(directory)
        for round_number in range(rounds + 1):
            for way in WAYS:
                wall, processor = seconds(way.wrap(command), directory, env)
                if round_number > 0:
                    times[way.name].wall.append(wall)
                    times[way.name].processor.append(processor)
    return times


def show(name: str, times: dict[str, Times]) -> None:
    """One program's table."""
    base = np.median(times["nulgrind"].wall)
    heads = f"{'wall, s':>8}  {'middle half':>13}  {'processor, s':>12}  {'of nulgrind':>11}"
    print(f"\n{name:16}  {heads}")
    for way, taken in times.items():
        low, middle, high = np.percentile(taken.wall, [25, 50, 75])
        print(
            f"{way:16}  {middle:8.2f}  {low:6.2f}-{high:6.2f}  {np.median(taken.processor):12.2f}"
            f"  {middle / base:11.2f}"
        )


def verdict(name: str, times: dict[str, Times]) -> bool:
    """Print both ratios beside their targets; whether both are met."""
    middle = {way: float(np.median(taken.wall)) for way, taken in times.items()}
    over = middle["kbbv"] / middle["nulgrind"]
    under_bbv = middle["exp-bbv"] / middle["kbbv"]
    met = over <= MOST_OVER_NULGRIND and under_bbv >= LEAST_UNDER_BBV
    print(
        f"{name:8}  kbbv / nulgrind {over:5.2f} (at most {MOST_OVER_NULGRIND})"
        f"   exp-bbv / kbbv {under_bbv:5.2f} (at least {LEAST_UNDER_BBV})"
        f"   {'met' if met else 'MISSED'}"
    )
    return met


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and fail where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds (default 5)")
    parser.add_argument("--examples", nargs="+", default=EXAMPLES, metavar="NAME")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("at least one round is needed")
    print(f"{options.rounds} rounds after one that does not count, interval {INTERVAL:,}")
    results = {name: measure(example(name), options.rounds) for name in options.examples}
    for name, times in results.items():
        show(name, times)
    print()
    met = [verdict(name, times) for name, times in results.items()]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
