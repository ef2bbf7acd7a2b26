# SPDX-License-Identifier: GPL-2.0-or-later
"""Blocks of two runs are matched by their place in the object, wherever it was loaded."""

from dataclasses import replace

import numpy as np
from planted import LIBC, PROGRAM, block, three_phases
from scipy import sparse

from kadence.phases.compare.common_rows import common_rows
from kadence.profiler.combine import correspondence
from kadence.profiler.format.profile import Block, Profile

PAGE = 4096


def profile_of(blocks: list[Block]) -> Profile:
    """One row; block n, counted from 0, executes n + 1 instructions."""
    vectors = sparse.csr_array(np.arange(1.0, len(blocks) + 1)[np.newaxis, :])
    return replace(
        three_phases().profile(),
        blocks=tuple(blocks),
        vectors=vectors,
        counts=vectors,
        instructions=np.array([vectors.sum()], dtype=np.int64),
        thread=np.ones(1, dtype=np.int32),
        start=np.zeros(1, dtype=np.int64),
    )


def library(functions: int, load: int = 0) -> list[Block]:
    """Blocks that differ only in their place within a page."""
    return [
        block(f"f{number % 3}", 0, file="", object=LIBC, address=load + 0x40 * number)
        for number in range(functions)
    ]


def program(path: str = PROGRAM, load: int = 0) -> list[Block]:
    return [
        replace(block("main", 10 + number, address=load + 0x1000 + 16 * number), object=path)
        for number in range(20)
    ]


def test_the_same_blocks_in_another_order_are_the_same():
    blocks = program() + library(30)
    order = np.random.default_rng(1).permutation(len(blocks))
    first, second = correspondence.common_columns(
        [profile_of(blocks), profile_of([blocks[number] for number in order])]
    )
    assert first.tolist() == list(range(len(blocks)))
    assert second.tolist() == order.tolist()


def test_each_object_may_have_been_loaded_elsewhere():
    here = program() + library(30)
    there = program("/elsewhere/planted", 7 * PAGE) + library(30, -3 * PAGE)
    third = program("/third/planted", PAGE) + library(30, 5 * PAGE)
    found = correspondence.common_columns([profile_of(own) for own in (here, there, third)])
    for columns in found:
        assert columns.tolist() == list(range(len(here)))


def test_blocks_of_only_one_run_have_columns_of_their_own():
    here, there = library(30)[:20], library(30, 2 * PAGE)[10:]
    first, second = correspondence.common_columns([profile_of(here), profile_of(there)])
    assert first.tolist() == list(range(20))
    assert second.tolist() == list(range(10, 30))


def test_another_function_at_the_same_address_is_another_place():
    here = library(30)
    there = [replace(here[0], function="other"), *here[1:]]
    first, second = correspondence.common_columns([profile_of(here), profile_of(there)])
    assert second.tolist() == [30, *range(1, 30)]
    assert len(first) == 30


def test_vectors_over_the_common_table_keep_their_distances():
    here, there = library(30)[:20], library(30, 2 * PAGE)[10:]
    one, other = common_rows([profile_of(here), profile_of(there)])
    expected = np.zeros((2, 30))
    expected[0, :20], expected[1, 10:] = np.arange(1, 21) / 210, np.arange(1, 21) / 210
    assert one.shape == other.shape == (1, 30)
    np.testing.assert_allclose(one[[0]].toarray()[0], expected[0])
    np.testing.assert_allclose(other[[0]].toarray()[0], expected[1])


def test_blocks_without_an_address_are_told_apart_by_their_names():
    """A program that counts itself gives blocks such names."""
    named = [
        replace(block("main", 10), address=0, checksum=checksum, index=index)
        for checksum in ("0123abcd", "4567cdef")
        for index in range(4)
    ]
    one, other = correspondence.common_columns([profile_of(named), profile_of(named[::-1])])
    assert one.tolist() == list(range(8))
    assert other.tolist() == list(range(8))[::-1]
