# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls of a program that makes known numbers of them."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from kadence.profiler.format.profile import Profile

Profiled = Callable[..., Profile]
Compile = Callable[..., Path]
AF_UNIX, AF_INET = 1, 2


@pytest.fixture
def calls(program: Compile, profiled: Profiled, tmp_path: Path) -> Profile:
    return profiled(program("calls.c", "-static"), tmp_path / "file", interval=5000)


def sums(profile: Profile) -> dict[tuple[str, str], tuple[int, int]]:
    counts: Counter[tuple[str, str]] = Counter()
    moved: Counter[tuple[str, str]] = Counter()
    for call in profile.system_calls:
        counts[call.name, call.descriptor] += call.count
        moved[call.name, call.descriptor] += call.bytes
    return {key: (counts[key], moved[key]) for key in counts}


@pytest.mark.parametrize(
    ("name", "descriptor", "count", "moved"),
    [
        ("write", "file", 100, 1600),
        ("pread64", "file", 7, 700),
        ("writev", "file", 3, 90),
        ("sendto", "socket", 5, 250),
        ("recvfrom", "socket", 5, 150),
        ("write", "pipe", 11, 88),
        ("read", "device", 4, 4000),
        ("close", "file", 1, 0),
        ("close", "socket", 1, 0),
        ("getppid", "", 13, 0),
        ("socketpair", "", 1, 0),
        ("exit_group", "", 1, 0),
    ],
)
def test_counts_and_bytes(
    calls: Profile, name: str, descriptor: str, count: int, moved: int
) -> None:
    assert sums(calls)[name, descriptor] == (count, moved)


def test_calls_belong_to_rows_in_order(calls: Profile) -> None:
    rows = [call.interval for call in calls.system_calls]
    assert rows == sorted(rows)
    assert 0 <= rows[0] <= rows[-1] < len(calls.instructions)


def test_facts_of_the_run(calls: Profile) -> None:
    assert calls.facts.socket_families == (AF_UNIX, AF_INET)
    assert calls.facts.shared_memory is True
    assert calls.facts.threads == 1
    assert 64 << 20 <= calls.facts.memory_bytes < 96 << 20


def test_a_program_without_sharing_has_none(program: Compile, profiled: Profiled) -> None:
    facts = profiled(program("ending.c")).facts
    assert facts.shared_memory is False
    assert facts.socket_families == ()
