# SPDX-License-Identifier: GPL-2.0-or-later
"""Vectors of programs whose every instruction is known by construction."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kadence.profiler.format.profile import Profile

BARE = ("-nostdlib", "-static", "-no-pie")
TOTAL = 1_000_000
LONGEST_BLOCK = 5

Profiled = Callable[..., Profile]
Compile = Callable[..., Path]


def test_every_block_of_a_million_instructions(program: Compile, profiled: Profiled) -> None:
    profile = profiled(program("million.S", *BARE), interval=10**9)
    assert profile.vectors.shape == (1, 3)
    assert profile.instructions.tolist() == [TOTAL]
    found = {
        (block.function, block.entry, block.instructions, count, instructions)
        for block, count, instructions in zip(
            profile.blocks,
            profile.counts.toarray()[0].tolist(),
            profile.vectors.tocsr().toarray()[0].tolist(),
            strict=True,
        )
    }
    assert found == {
        ("_start", True, 5, 1, 5),
        ("body", True, 4, 249_998, 4 * 249_998),
        ("finish", True, 3, 1, 3),
    }


@pytest.mark.parametrize("interval", [101, 1000, 10_000, 333_333])
def test_rows_end_at_the_last_block_within_the_interval(
    program: Compile, profiled: Profiled, interval: int
) -> None:
    profile = profiled(program("million.S", *BARE), interval=interval)
    assert profile.instructions.sum() == TOTAL
    assert np.array_equal(profile.vectors.tocsr().sum(axis=1), profile.instructions)
    assert len(profile.instructions) == -(-TOTAL // interval)
    assert np.array_equal(profile.start, np.cumsum(profile.instructions) - profile.instructions)
    multiples = np.arange(len(profile.start)) * interval
    assert ((multiples - profile.start >= 0) & (multiples - profile.start < LONGEST_BLOCK)).all()


def test_an_interval_shorter_than_a_block_holds_one_block(
    program: Compile, profiled: Profiled
) -> None:
    profile = profiled(program("special.S", *BARE), interval=1)
    assert profile.instructions.sum() == 3033
    assert profile.instructions.max() <= max(block.instructions for block in profile.blocks) + 1


def test_instructions_that_repeat_or_restart_count_once(
    program: Compile, profiled: Profiled, by_function: Callable[[Profile], dict[str, int]]
) -> None:
    profile = profiled(program("special.S", *BARE))
    assert by_function(profile) == {
        "_start": 5,
        "filling": 5,
        "nothing": 5,
        "comparing": 7,
        "spinning": 503,
        "before_locked": 2,
        "locked": 1500,
        "calling": 603,
        "called": 400,
        "finish": 3,
    }


def test_entries_tell_how_often_a_function_was_called(program: Compile, profiled: Profiled) -> None:
    profile = profiled(program("special.S", *BARE))
    counts = np.asarray(profile.counts.sum(axis=0)).ravel()
    entered = {
        block.function: int(count)
        for block, count in zip(profile.blocks, counts, strict=True)
        if block.entry
    }
    assert entered["called"] == 200
    assert entered["locked"] == 300
    assert entered["finish"] == 1


def test_the_same_run_gives_the_same_vectors(program: Compile, profiled: Profiled) -> None:
    one = profiled(program("special.S", *BARE), interval=100)
    other = profiled(program("special.S", *BARE), interval=100)
    assert one.blocks == other.blocks
    assert (one.vectors.tocsr() != other.vectors.tocsr()).nnz == 0
    assert (one.counts != other.counts).nnz == 0


def test_blocks_carry_where_they_come_from(program: Compile, profiled: Profiled) -> None:
    path = program("million.S", *BARE)
    profile = profiled(path, interval=10**9)
    block = next(block for block in profile.blocks if block.function == "body")
    source = Path(__file__).parent / "programs" / "million.S"
    lines = source.read_text(encoding="utf-8").splitlines()
    assert Path(block.file) == source
    assert lines[block.line - 1].split() == ["add", "$1,", "%rdx"]
    assert Path(block.object) == path


def test_threads_have_rows_of_their_own(
    program: Compile, profiled: Profiled, by_function: Callable[[Profile], dict[str, int]]
) -> None:
    profile = profiled(program("threads.c", "-pthread"), interval=50_000)
    columns = [b for b, block in enumerate(profile.blocks) if block.function == "two_instructions"]
    in_loop = profile.vectors.tocsr()[:, columns].sum(axis=1)
    by_thread = {
        thread: int(in_loop[profile.thread == thread].sum())
        for thread in sorted(set(profile.thread.tolist()))
    }
    assert by_thread == {1: 0, 2: 200_000, 3: 400_000, 4: 600_000}
    assert by_function(profile)["two_instructions"] == 1_200_000
    assert profile.thread.tolist() == sorted(profile.thread.tolist())
    assert profile.facts.threads == 4
    assert profile.facts.processes == 1
    first = profile.start[profile.thread == 1]
    assert (np.diff(first) > 0).all()
