# SPDX-License-Identifier: GPL-2.0-or-later
"""Entries of loops, from runs that are simulated block by block and cut at any point."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from planted import block
from scipy import sparse

from kadence.phases.describe.source import Source
from kadence.phases.mark import loops
from kadence.profiler.format.profile import Block, Profile

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


def source_of(trace: list[int], interval: int, blocks: Sequence[Block] = BLOCKS) -> Source:
    """The run's profile; as in a real profile, blocks are numbered in the order they were met."""
    met = list(dict.fromkeys(trace))
    rows = -(-len(trace) // interval)
    counts = sparse.lil_array((rows, len(met)))
    for position, number in enumerate(trace):
        counts[position // interval, met.index(number)] += 1
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
            tuple(blocks[number] for number in met),
            (),
        )
    )


def loop_of(source: Source, *lines: int) -> loops.LoopBlocks:
    """The loop whose header is on the first of these lines of `main`."""
    found = [source.of_lines("planted.c", line, line + 1) for line in lines]
    region = [number for numbers in found for number in numbers]
    return loops.LoopBlocks(found[0], region, region)


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
    entries = loops.counted_entries(source, loop_of(source, 10, 11, 12))
    assert entries is not None
    assert entries.sum() == len(begun)
    found = np.repeat(np.arange(len(entries)), entries.astype(int))
    assert np.abs(found - np.array(begun)).max() <= 1


def test_a_loop_that_is_never_left_was_entered_all_the_same():
    trace = list(turned(20)) + [OUTSIDE] * 10 + list(turned(20))[:-1]
    source = source_of(trace, 4)
    entries = loops.counted_entries(source, loop_of(source, 10, 11, 12))
    assert entries is not None and entries.sum() == 2


def test_a_loop_of_a_single_block_cannot_be_counted_by_latch_and_top():
    source = source_of([PREHEADER] + [LATCH] * 50, 4)
    assert loops.counted_entries(source, loop_of(source, 10)) is None


# Two mov instructions, of 3 and 5 bytes, lead into a loop of 8 instructions. Its inner loop is
# one block.
FIRST, AGAIN, INNER_FIRST, INNER, BEHIND = range(5)
OVERLAPPING = (
    block("main", 20, address=0x100, instructions=10),
    block("main", 20, address=0x108, instructions=8),
    block("main", 21, address=0x128, instructions=6),
    block("main", 22, address=0x130, instructions=4),
    block("main", 23, address=0x140, instructions=3),
)


def nest(rounds: int, inner_rounds: int) -> Iterator[int]:
    for number in range(rounds):
        yield AGAIN if number else FIRST
        for inner in range(inner_rounds):
            yield INNER if inner else INNER_FIRST
        yield BEHIND


@pytest.mark.parametrize("interval", [7, 16, 101])
def test_the_first_round_of_a_loop_is_told_from_the_others(interval):
    trace, begun = [], []
    for rounds in (30, 7, 50, 2):
        begun.append(len(trace) // interval)
        trace += nest(rounds, 5)
    source = source_of(trace, interval, OVERLAPPING)
    numbers = {line: source.of_lines("planted.c", line, line + 1) for line in range(20, 24)}
    region = [number for line in range(20, 24) for number in numbers[line]]
    inner = numbers[21] + numbers[22]
    outer = [number for number in region if number not in inner]

    entries = loops.counted_entries(source, loops.LoopBlocks(numbers[20], outer, region))
    assert entries is not None
    assert np.repeat(np.arange(len(entries)), entries.astype(int)).tolist() == begun

    entries = loops.counted_entries(source, loops.LoopBlocks(numbers[21], inner, inner))
    assert entries is not None
    assert entries.sum() == 30 + 7 + 50 + 2


def test_an_outermost_loop_is_entered_once_per_call():
    calls = np.array([1.0, 0, 0, 2, 0, 0])
    active = np.array([False, True, True, True, False, True])
    thread = np.array([1, 1, 1, 1, 1, 2], dtype=np.int32)
    assert loops.once_per_call(calls, active, thread).tolist() == [0, 1, 0, 2, 0, 0]
