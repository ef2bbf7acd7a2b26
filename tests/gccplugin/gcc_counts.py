# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the block counts that the compiler gets from a plan with those of its own -fprofile-use.

python tests/gccplugin/gcc_counts.py [FIRST [STEP]]    # of GCC's torture programs, by number
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torture_layout
from compilers import GCC
from torture import WORKERS, Program, programs

from kadence.base.resources import built

# How often each run counts in the compiler, of a plan's counts (gccplugin/layout/counts_pass.cc).
RUNS = 1024
# GCC counts identical functions before it merges them.
ALIKE = ("-fno-ipa-icf",)
SEEN = "-fdump-tree-feedback_fnsplit"
OWN = ("-fprofile-use", "-fno-profile-values", "-fno-vpt", "-fprofile-partial-training")
PATIENCE_SECONDS = 60

Counts = dict[str, list[int]]  # by function: of its blocks


@dataclass(frozen=True)
class Compared:
    """A program's functions that ran, and those whose counts differ, with both.

    With -fprofile-use, the early passes leave another graph in a few functions. They are in
    `elsewhere`, and so are functions of which a plan has no counts.
    """

    name: str
    functions: int = 0
    differing: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


def _run(folder: Path, *command: object, **environment: object) -> None:
    """Run a command; some programs cannot be compiled, and some do not end well."""
    words = [str(word) for word in command]
    variables = os.environ | {name: str(value) for name, value in environment.items()}
    with contextlib.suppress(FileNotFoundError):
        subprocess.run(
            words, cwd=folder, env=variables, capture_output=True, timeout=PATIENCE_SECONDS
        )


def _counts_in(folder: Path, runs: int) -> Counts:
    """The counts of functions that ran; none of those that the compiler then split."""
    found: Counts = {}
    for dump in folder.glob("*.feedback_fnsplit"):
        for text in dump.read_text().split(";; Function ")[1:]:
            counts = [int(count) for count in re.findall(r"<bb \d+> \[count: (\d+)\]", text)]
            if any(counts):
                split = "Splitting function" in text
                found[text.split()[0]] = [] if split else [count // runs for count in counts]
    return found


def _of_plan(source: Path, options: list[str], scratch: Path) -> Counts:
    wrapper, profile = built("bin/kadence-cc"), scratch / "program.kprof"
    _run(scratch, wrapper, source, *options, "-o", "counted", KADENCE_MODE="profile")
    _run(scratch, scratch / "counted", KADENCE_PROFILE_OUTPUT=profile)
    if not profile.exists():
        return {}
    plan = torture_layout.plan_of(profile, scratch / "plan.json")
    _run(scratch, wrapper, *options, SEEN, "-c", "-o", "laid-out.o", source, KADENCE_PLAN=plan)
    return _counts_in(scratch, RUNS)


def _of_gcc(source: Path, options: list[str], scratch: Path) -> Counts:
    _run(scratch, GCC, *options, "-fprofile-generate", "-c", "-o", "own.o", source)
    _run(scratch, GCC, "-fprofile-generate", "-o", "own", "own.o", "-lm")
    _run(scratch, scratch / "own")
    _run(scratch, GCC, *options, *OWN, SEEN, "-c", "-o", "own.o", source)
    return _counts_in(scratch, 1)


def compare(program: Program) -> Compared:
    """Compile and run a program of one file both ways. With -ffast-math no counts are used."""
    if len(program.sources) != 1 or "-ffast-math" in program.options:
        return Compared(program.name)
    (source,) = program.sources
    options = ["-O2", "-w", *ALIKE, *program.options]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        ours = _of_plan(source, options, Path(one))
        own = _of_gcc(source, options, Path(other))
    seen = [name for name in own if own[name] and ours.get(name) != []]
    others = sorted(name for name in seen if len(ours.get(name, ())) != len(own[name]))
    differing = [
        f"{name}: {ours[name]}, GCC {own[name]}"
        for name in sorted(set(seen) - set(others))
        if ours[name] != own[name]
    ]
    return Compared(program.name, len(seen), tuple(differing), tuple(others))


def run(chosen: Iterable[Program]) -> list[Compared]:
    """Compare the chosen programs, WORKERS at a time."""
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(compare, chosen))


def main(first: str = "0", step: str = "1") -> int:
    """Compare a part of the suite and print what differs."""
    compared = run(programs()[int(first) :: int(step)])
    for one in compared:
        for line in one.differing:
            print(f"{one.name}: {line}")
    differing = sum(len(one.differing) for one in compared)
    others = [f"{name} of {one.name}" for one in compared for name in one.elsewhere]
    print(
        f"{sum(one.functions for one in compared)} functions, {differing} differ, {len(others)} "
        f"have another graph or no counts: {', '.join(others)}"
    )
    return differing > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
