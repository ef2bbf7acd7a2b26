# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares totals with a count of the processor's single steps, however a process ends."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kadence.profiler import kprof
from kadence.profiler.format.profile import Profile

Compile = Callable[..., Path]
Kadence = Callable[..., Any]
BARE = ("-nostdlib", "-static", "-no-pie")
FREE = (*BARE, "-fno-stack-protector", "-fno-builtin", "-fcf-protection=none")
ROUNDS = "700"
LONGEST_BLOCK = 60
WAYS = {
    "plain": 3,
    "thread's exit": 3,
    "exec": 3,
    "failing exec": 3,
    "fork": 3,
    "spawn": 3,
    "vfork": 3,
    "handled fault": 3,
    "terminated": 128 + 15,
    "trap": 128 + 4,
    "fault": 128 + 11,
}


def single_steps(program: Compile, *argv: object) -> list[int]:
    """The number of instructions of every program of every process, sorted."""
    command = [program("singlestep.c"), *map(str, argv)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return sorted(int(line.split()[2]) for line in told.splitlines())


def by_length(path: Path) -> int:
    """The length of the name; the first process's profile has the shortest."""
    return len(path.name)


def profiles(kadence: Kadence, folder: Path, interval: int, *argv: object) -> list[Profile]:
    done = kadence("profile", "--interval", interval, "-o", folder / "P.kprof", "--", *argv)
    assert done.returncode == WAYS.get(str(argv[1]) if argv[1:] else "", 0), done
    found = [kprof.read(path) for path in sorted(folder.glob("*.kprof"), key=by_length)]
    assert done.stderr.count("kadence: process") == len(found) - 1
    return found


def totals(found: list[Profile]) -> list[int]:
    """Totals of all profiles, and of what children ran before they became another program."""
    before = [profile.facts.instructions_before or 0 for profile in found]
    return sorted([*(int(profile.instructions.sum()) for profile in found), *filter(None, before)])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("interval", [199, 1_000_000])
def test_instructions_of_all_processes(
    program: Compile, kadence: Kadence, tmp_path: Path, way: str, interval: int
) -> None:
    lives = program("lives.c", *FREE)
    found = profiles(kadence, tmp_path, interval, lives, way, ROUNDS)
    assert totals(found) == single_steps(program, lives, way, ROUNDS)
    assert all(profile.facts.complete for profile in found)
    assert all((profile.instructions < interval + LONGEST_BLOCK).all() for profile in found)


def test_rows_do_not_drift_where_handlers_return(
    program: Compile, kadence: Kadence, tmp_path: Path
) -> None:
    lives = program("lives.c", *FREE)
    (profile,) = profiles(kadence, tmp_path, 199, lives, "handled fault", ROUNDS)
    ends = np.cumsum(profile.instructions)[:-1]
    assert len(ends) > 20
    assert (np.abs(ends % -199) < LONGEST_BLOCK).all()


def test_repeated_and_restarted_instructions(
    program: Compile, kadence: Kadence, tmp_path: Path
) -> None:
    special = program("special.S", *BARE)
    found = profiles(kadence, tmp_path, 1_000_000, special)
    assert totals(found) == single_steps(program, special) == [3033]


def test_what_a_profile_says_of_its_process(
    program: Compile, kadence: Kadence, tmp_path: Path
) -> None:
    lives = program("lives.c", *FREE)
    first, *children = profiles(kadence, tmp_path, 500, lives, "fork", ROUNDS)
    assert first.facts.process is None
    child, grandchild = sorted(children, key=lambda profile: int(profile.instructions.sum()))
    assert grandchild.facts.parent == child.facts.process
    for profile in children:
        number = profile.facts.process
        assert kprof.read(tmp_path / f"P.{number}.kprof").argv == profile.argv
        assert profile.start[0] == 0
        assert profile.build_id == first.build_id
    names = {call.name: call.count for call in child.system_calls}
    assert names == {"fork": 1, "wait4": 1, "exit_group": 1}


def test_a_program_that_a_process_becomes_has_the_next_number(
    program: Compile, kadence: Kadence, tmp_path: Path
) -> None:
    lives = program("lives.c", *FREE)
    profiles(kadence, tmp_path, 500, lives, "exec", ROUNDS)
    (second,) = tmp_path.glob("P.*.kprof")
    assert second.name.endswith(".2.kprof")
    assert kprof.read(second).argv == (str(lives), "plain", ROUNDS)


def test_a_failing_exec_leaves_the_rows_as_they_are(
    program: Compile, kadence: Kadence, tmp_path: Path
) -> None:
    lives = program("lives.c", *FREE)
    (profile,) = profiles(kadence, tmp_path, 500, lives, "failing exec", ROUNDS)
    assert len(profile.instructions) == -(-int(profile.instructions.sum()) // 500)
    assert [call.count for call in profile.system_calls if call.name == "execve"] == [1]
