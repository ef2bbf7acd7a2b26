# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in which no medoid represents much: short alternating loops, and one stretch unlike them."""

import numpy as np
import pytest
from planted import INTERVAL, Planted
from scipy import sparse

from kadence.phases.find import outside
from kadence.phases.find.segmentation import Segmentation, segment
from kadence.profiler.format.profile import Block, Profile

LOOPS, LENGTH, BLOCKS = 12, 8, 200


def profile_of(shares: np.ndarray) -> Profile:
    rows, blocks = shares.shape
    instructions = np.full(rows, INTERVAL, dtype=np.int64)
    vectors = sparse.csr_array(shares * INTERVAL)
    return Profile(
        interval=INTERVAL,
        vectors=vectors,
        counts=vectors,
        instructions=instructions,
        thread=np.ones(rows, dtype=np.int32),
        start=np.cumsum(instructions) - instructions,
        blocks=tuple(Block(16 * n, 10, "f", "f.c", n, "p", n == 0) for n in range(blocks)),
        system_calls=(),
        argv=("p",),
    )


def wandering(rows: int = 600, seed: int = 1) -> np.ndarray:
    """A cycle; each interval differs a little from the one before and much from most others.

    So no clustering has a strong silhouette, and no interval represents all.
    """
    generator = np.random.default_rng(seed)
    shares = np.zeros((rows, BLOCKS))
    for row in range(rows):
        at = row * 0.37 % LOOPS
        for loop in range(LOOPS):
            away = min(abs(at - loop), LOOPS - abs(at - loop))
            shares[row, loop * LENGTH : (loop + 1) * LENGTH] = max(0.0, 1 - away / 2)
    shares *= 1 + 0.05 * generator.standard_normal(shares.shape)
    return shares / shares.sum(axis=1, keepdims=True)


def inside(found: Segmentation) -> float:
    return 1 - float(found.transition.mean())


@pytest.mark.parametrize("rows", [150, 600, 3000])
def test_a_run_without_strong_structure_is_in_phases_all_the_same(rows):
    found = segment(profile_of(wandering(rows)))
    assert inside(found) >= 0.95
    assert 4 <= len(found.representatives) <= LOOPS


def test_a_block_unlike_the_rest_is_a_phase_in_a_run_without_strong_structure():
    shares = wandering(1500)
    reader = np.zeros(BLOCKS)
    reader[-10:] = 0.1
    shares[700:776] = reader
    found = segment(profile_of(shares))
    own = found.assignment[700:776]
    assert len(set(own.tolist())) == 1
    assert not found.transition[700:776].any()
    assert own[0] not in found.assignment[:700] and own[0] not in found.assignment[776:]


def test_where_most_intervals_are_mixtures_they_are_in_phases():
    """Each loop is as long as an interval, and intervals begin in the middle of loops."""
    shares = np.zeros((400, 4))
    for row in range(400):
        part = row * 0.618 % 1
        shares[row, row % 4], shares[row, (row + 1) % 4] = 1 - part, part
    found = segment(profile_of(shares))
    assert inside(found) >= 0.95


def test_a_run_of_few_unlike_intervals_says_how_many_are_in_no_phase():
    planted = Planted()
    for letter in "CCCCCCCCFSX":
        planted.add({letter: 1.0})
    profile = planted.profile()
    told = outside.described(profile, segment(profile))
    assert (told["intervals"], told["unlike"], told["mixtures"]) == (3, 3, 0)
    assert told["why"].startswith("3 of 11 intervals (27.3%) are in no phase: 3 with at most half")


def test_where_nearly_all_is_in_phases_nothing_is_said():
    planted = Planted()
    for _ in range(40):
        planted.add({"C": 1.0})
    profile = planted.profile()
    assert outside.described(profile, segment(profile)) == {
        "intervals": 0,
        "share": 0.0,
        "mixtures": 0,
        "unlike": 0,
        "why": None,
    }
