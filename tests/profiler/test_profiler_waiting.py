# SPDX-License-Identifier: GPL-2.0-or-later
"""Spinning threads are told apart from computing ones by what their loops do."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kadence.profiler import kprof
from kadence.profiler.combine import waiting
from kadence.profiler.format.profile import PAUSES, UNCHANGING, Profile

Profiled = Callable[..., Profile]
Compile = Callable[..., Path]
Kadence = Callable[..., Any]

INTERVAL = 100_000


@pytest.fixture
def spun(program: Compile, profiled: Profiled) -> Callable[[str], Profile]:
    """Profile a run of spinning.c; WAY says what the second thread does."""

    def run(way: str) -> Profile:
        built = program("spinning.c", "-O2", "-pthread")
        return profiled(built, way, interval=INTERVAL)

    return run


def inside(profile: Profile, thread: int) -> Any:
    """The full rows of a thread, without its first and its last."""
    rows = np.flatnonzero(profile.thread == thread)[1:-1]
    return rows[profile.instructions[rows] > INTERVAL / 2]


@pytest.mark.parametrize("way", ["p", "u", "l"])
def test_a_thread_that_spins_waits_and_one_that_computes_does_not(spun: Any, way: str) -> None:
    profile = spun(way)
    waited = waiting.rows(profile)
    spinning, computing = inside(profile, 2), inside(profile, 1)
    assert len(spinning) > 0
    assert waited[spinning].all()
    # The first thread also ran the loader and set the numbers, which both store.
    assert len(computing) > 100
    assert not waited[computing].any()


@pytest.mark.parametrize("way", ["b", "h"])
def test_a_busy_thread_waits_for_nobody(spun: Any, way: str) -> None:
    """Its loop stores nothing; it adds up in registers."""
    profile = spun(way)
    assert len(inside(profile, 2)) > 50
    assert not waiting.rows(profile).any()
    assert waiting.shares(profile)[inside(profile, 2)].max() < 0.01


def test_a_wait_that_counts_its_rounds_without_pause_is_not_seen(spun: Any) -> None:
    assert not waiting.rows(spun("c")).any()


def test_a_thread_that_is_alone_never_waits(spun: Any) -> None:
    spinning = spun("u")
    alone = replace(spinning.facts, threads=1, shared_memory=False)
    profile = replace(spinning, facts=alone)
    assert not waiting.rows(profile).any()


def test_what_tells_of_waiting_is_kept(spun: Any, tmp_path: Path) -> None:
    for way, expected in (("p", PAUSES), ("u", UNCHANGING)):
        profile = spun(way)
        again = tmp_path / "again.kprof"
        kprof.write(again, profile)
        assert {block.waits for block in profile.blocks} == {0, expected}
        assert kprof.read(again).blocks == profile.blocks


def test_show_tells_how_much_was_spun(spun: Any, kadence: Kadence, tmp_path: Path) -> None:
    profile = spun("u")
    shown = kadence("profile", "show", tmp_path / "P.kprof").stdout
    assert f"waiting       {waiting.rows(profile).sum():,} intervals" in shown
    found = json.loads(kadence("profile", "show", "--json", tmp_path / "P.kprof").stdout)
    of_second = profile.instructions[profile.thread == 2].sum() / profile.instructions.sum()
    assert abs(found["waiting"]["share"] - of_second) < 0.02


def test_waiting_is_in_no_phase_and_in_no_weight(
    spun: Any, kadence: Kadence, tmp_path: Path
) -> None:
    profile = spun("u")
    phases = tmp_path / "P.phases.json"
    said = kadence("phases", tmp_path / "P.kprof", "-o", phases)
    assert "a thread spun" in said.stdout, said
    found = json.loads(phases.read_text())
    assert found["waiting"] == np.flatnonzero(waiting.rows(profile)).tolist()
    hottest = [phase["hottest"][0]["function"] for phase in found["phases"]]
    assert hottest[:2] == ["adds", "multiplies"]
    assert "second" not in hottest
    whole = sum(phase["weight"] for phase in found["phases"]) + found["transition_weight"]
    assert abs(whole - 1) < 1e-4
    assert sum(phase["intervals"] for phase in found["phases"]) + len(found["transitions"]) + len(
        found["waiting"]
    ) == len(profile.instructions)
