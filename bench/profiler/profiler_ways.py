# SPDX-License-Identifier: GPL-2.0-or-later
"""The ways to run a program that the bench compares: natively, under tools, and with counters."""

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.base import suite
from kadence.base import resources
from kadence.base.errors import ToolError
from kadence.profiler.run import launch

INTERVAL = 1_000_000
PLAIN, GENERATE = "plain", "generate"
NATIVE, NULGRIND, LACKEY, BBV, KBBV = "native", "nulgrind", "lackey", "exp-bbv", "kbbv"
GCC = "-fprofile-generate"
FAST, EXACT = "compiled-fast", "compiled-exact"
ALL = 1 << 30  # rounds
# Slow tools with steady figures take part in few rounds, so that the bench takes minutes.
BBV_ROUNDS, LACKEY_ROUNDS = 3, 1

Command = list[str]


def unchanged(command: Command) -> Command:
    return command


@dataclass(frozen=True)
class Way:
    """A way to run a program."""

    name: str
    wrap: Callable[[Command], Command] = unchanged
    variant: str = PLAIN  # how the program is built for it
    leaves: str = ""  # pattern of a file that a run must leave, as proof that the way worked
    environment: Mapping[str, str] = field(default_factory=dict)
    rounds: int = ALL  # the number of rounds in which it takes part
    profiles: bool = False  # whether the file that it leaves is a Kadence profile


def under(tool: str, *options: str) -> Callable[[Command], Command]:
    """Returns the wrapper that runs a command under one of Valgrind's own tools."""
    common = ["valgrind", f"--tool={tool}", "--command-line-only=yes", "-q", "--vgdb=no"]
    return lambda command: [*common, "--log-file=log", *options, "--", *command]


def under_kbbv(folder: Path) -> Callable[[Command], Command]:
    """Returns the wrapper of `kadence profile`. Converting the recording is not in the time."""
    places = launch.Places(folder / "raw", folder / "names", folder)
    return lambda command: launch.command(command, places, INTERVAL)


def ways(folder: Path, scratch: Path) -> tuple[Way, ...]:
    """Returns all ways that this build supports, for programs that run in `folder`."""
    tool = resources.built("profiler/valgrind/kbbv-amd64-linux")
    counted = Way(GCC, variant=GENERATE, leaves="**/*.gcda", environment={"GCOV_PREFIX": "."})
    return (
        Way(NATIVE),
        Way(NULGRIND, under("none")),
        Way(
            KBBV,
            under_kbbv(folder),
            leaves="raw",
            environment={"VALGRIND_LIB": str(tool.parent)},
            profiles=True,
        ),
        Way(
            BBV,
            under("exp-bbv", f"--interval-size={INTERVAL}"),
            leaves="bb.out.*",
            rounds=BBV_ROUNDS,
        ),
        Way(LACKEY, under("lackey", "--basic-counts=yes"), leaves="log", rounds=LACKEY_ROUNDS),
        counted,
        *(_compiled(name) for name in (FAST, EXACT) if wrappers_can_profile(scratch)),
    )


def settings(variant: str) -> dict[str, str]:
    """Returns the settings that a makefile gets for a variant."""
    if variant == PLAIN:
        return dict(suite.COMPILERS)
    if variant == GENERATE:
        return {name: f"{compiler} {GCC}" for name, compiler in suite.COMPILERS.items()}
    return _profiling(variant)


def _mode(variant: str) -> str:
    return variant.rpartition("-")[2]


def _profiling(variant: str) -> dict[str, str]:
    """Returns the settings for the compiler wrappers in profile mode."""
    compilers = {
        name: str(resources.built(f"bin/{wrapper}"))
        for name, wrapper in (("CC", "kadence-cc"), ("CXX", "kadence-c++"), ("FC", "kadence-fc"))
    }
    return {**compilers, "KADENCE_MODE": "profile", "KADENCE_PROFILE": _mode(variant)}


def _compiled(name: str) -> Way:
    written = {"KADENCE_PROFILE_OUTPUT": "P.kprof"}
    return Way(name, variant=name, leaves="P.kprof", environment=written, profiles=True)


def wrappers_can_profile(scratch: Path) -> bool:
    """Whether kadence-cc knows profile mode. Raises ToolError if it knows the mode but fails."""
    environment = {**os.environ, **_profiling(FAST)}
    done = subprocess.run(
        [environment["CC"], "-x", "c", "-", "-o", str(scratch / "empty")],
        input="int main(void) { return 0; }\n",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "KADENCE_MODE is 'profile'; it must be" not in done.stderr:
        raise ToolError(f"kadence-cc cannot compile in profile mode: {done.stderr.strip()}")
    return done.returncode == 0
