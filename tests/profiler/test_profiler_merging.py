# SPDX-License-Identifier: GPL-2.0-or-later
"""Merging all threads into one keeps the sums and leaves a single thread unchanged."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stream_frames as frames

from kadence.profiler import kprof
from kadence.profiler.combine.merging import merged
from kadence.profiler.format.profile import Profile, SystemCalls

Profiled = Callable[..., Profile]
Compile = Callable[..., Path]
BARE = ("-nostdlib", "-static", "-no-pie")


def totals(profile: Profile) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for call in profile.system_calls:
        counts[call.name, call.descriptor] += call.count
    return counts


def test_a_single_thread_is_left_as_it_is(program: Compile, profiled: Profiled) -> None:
    profile = profiled(program("million.S", *BARE), interval=333)
    one = merged(profile)
    assert np.array_equal(one.start, profile.start)
    assert np.array_equal(one.instructions, profile.instructions)
    assert (one.vectors.tocsr() != profile.vectors.tocsr()).nnz == 0
    assert one.system_calls == profile.system_calls


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    """Three rows of thread 1 and two of thread 2, of 1000 instructions each."""
    rows = (
        frames.frame("R", 1, 0, 1, 0, 250, 1000, 1, *frames.TALLY),
        frames.frame("R", 2, 400, 1, 1, 100, 1000, 1, *frames.TALLY[:-4], 0, 7, 12, 1),
        frames.frame("R", 1, 1700, 1, 0, 250, 1000, 0),
        frames.frame("R", 2, 2100, 1, 1, 100, 1000, 0),
        frames.frame("R", 1, 4000, 1, 0, 250, 1000, 0),
    )
    path = tmp_path_factory.mktemp("merging") / "P.kprof"
    start = (frames.START, frames.head(), *frames.BLOCKS, frames.CALL, frames.SITE)
    path.write_bytes(b"".join((*start, *rows, frames.FACTS, frames.END)))
    return kprof.read(path)


def test_rows_go_to_the_interval_they_begin_nearest_to(by_hand: Profile) -> None:
    one = merged(by_hand)
    assert one.start.tolist() == [0, 1700, 4000]
    assert one.instructions.tolist() == [2000, 2000, 1000]
    assert one.vectors.tocsr().toarray().tolist() == [[1000, 1000], [1000, 1000], [1000, 0]]
    assert one.counts.toarray().tolist() == [[250, 100], [250, 100], [250, 0]]
    sizes = (7, 0, 2, *(0,) * 7, 1, 0, 1)
    assert one.system_calls == (
        SystemCalls(0, "write", "file", 6, 1280, 0, None, 4, 2, sizes, 4, 1000, 18000),
    )


def test_nothing_is_lost_of_threads(program: Compile, profiled: Profiled) -> None:
    profile = profiled(program("threads.c", "-pthread"), interval=20_000)
    one = merged(profile)
    assert one.instructions.sum() == profile.instructions.sum()
    assert (np.diff(one.start) > 0).all()
    assert set(one.thread.tolist()) == {1}
    assert totals(one) == totals(profile)
    sums = (one.vectors.tocsr().sum(axis=0), profile.vectors.tocsr().sum(axis=0))
    assert np.array_equal(*sums)
    touched = [sum(t.pages for t in p.memory.touches) for p in (one, profile)]
    assert touched[0] == touched[1]
