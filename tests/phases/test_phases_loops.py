# SPDX-License-Identifier: GPL-2.0-or-later
"""Entries of loops, from runs simulated block by block and cut into intervals at any point."""

from collections.abc import Iterator

import numpy as np
import pytest
from planted import block
from scipy import sparse

from kadence.phases import loops
from kadence.phases.source import Source
from kadence.profiler.profile import Profile

PREHEADER, TOP, LATCH, WORK, OUTSIDE = range(5)
BLOCKS = (block("main", 9), block("main", 11), block("main", 10), block("main", 12), block("x", 1))


def turned(rounds: int) -> Iterator[int]:
    """preheader; do { top, work, latch } while: the preheader's block holds the first top."""
    yield PREHEADER
    for number in range(rounds):
        if number:
            yield TOP
        yield WORK
        yield LATCH


def jumped(rounds: int) -> Iterator[int]:
    """jump to latch; do { top, work, latch } while."""
    yield PREHEADER
    yield LATCH
    for _ in range(rounds):
        yield from (TOP, WORK, LATCH)


def source_of(trace: list[int], interval: int) -> Source:
    rows = -(-len(trace) // interval)
    counts = sparse.lil_array((rows, len(BLOCKS)))
    for position, number in enumerate(trace):
        counts[position // interval, number] += 1
    csr = sparse.csr_array(counts)
    sizes = np.full(rows, interval, dtype=np.int64)
    return Source(
        Profile(
            interval,
            csr,
            csr,
            sizes,
            np.ones(rows, dtype=np.int32),
            np.arange(rows) * interval,
            BLOCKS,
            (),
        )
    )


@pytest.mark.parametrize("shape", [turned, jumped])
@pytest.mark.parametrize("interval", [16, 17, 50, 101])
@pytest.mark.parametrize("pause", [0, 40])
def test_each_passage_is_counted_where_it_begins(shape, interval, pause):
    trace, begun = [], []
    for rounds in (30, 7, 50, 2, 90, 33):
        trace += [OUTSIDE] * pause
        begun.append(len(trace) // interval)
        trace += shape(rounds)
    source = source_of(trace, interval)
    entries = loops.counted_entries(source, [LATCH], [LATCH, TOP, WORK])
    assert entries is not None
    assert entries.sum() == len(begun)
    found = np.repeat(np.arange(len(entries)), entries.astype(int))
    assert np.abs(found - np.array(begun)).max() <= 1


def test_a_loop_that_is_never_left_was_entered_all_the_same():
    trace = list(turned(20)) + [OUTSIDE] * 10 + list(turned(20))[:-1]
    entries = loops.counted_entries(source_of(trace, 4), [LATCH], [LATCH, TOP, WORK])
    assert entries is not None and entries.sum() == 2


def test_a_loop_of_a_single_block_cannot_be_counted():
    trace = [PREHEADER] + [LATCH] * 50
    assert loops.counted_entries(source_of(trace, 4), [LATCH], [LATCH]) is None


def test_an_outermost_loop_is_entered_once_per_call():
    calls = np.array([1.0, 0, 0, 2, 0, 0])
    active = np.array([False, True, True, True, False, True])
    thread = np.array([1, 1, 1, 1, 1, 2], dtype=np.int32)
    assert loops.once_per_call(calls, active, thread).tolist() == [0, 1, 0, 2, 0, 0]
