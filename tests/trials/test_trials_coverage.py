# SPDX-License-Identifier: GPL-2.0-or-later
"""How often the learned interval holds the planted effect, over thousands of simulated runs."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from kadence.trials import combining, evidence
from kadence.trials.combining import Combined

SETS = 2000
EFFECT = -0.03
NOISE = 0.02

Draw = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]


def normal(luck: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    return luck.standard_normal(count)


def heavy(luck: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    """Student's t with 3 degrees of freedom: about one block in a hundred is 5 sigmas off."""
    return luck.standard_t(3, count)


def learned(
    luck: np.random.Generator, runs: int, blocks: int, differ: float, draw: Draw
) -> Combined:
    """What runs teach whose effects differ, as by a normal distribution, around EFFECT."""
    effects = []
    for _ in range(runs):
        own = EFFECT + differ * luck.standard_normal()
        differences = own + NOISE * draw(luck, blocks)
        found = evidence.effect_of(evidence.joined([(differences, [1.5 * NOISE] * blocks)]))
        assert found is not None
        effects.append(found)
    return combining.combined(effects)


def coverage(runs: int, blocks: int, differ: float, draw: Draw, sets: int = SETS) -> float:
    luck = np.random.default_rng([runs, blocks])
    held = 0
    for _ in range(sets):
        low, high = learned(luck, runs, blocks, differ, draw).interval()
        held += low <= EFFECT <= high
    return held / sets


@pytest.mark.parametrize(
    ("runs", "blocks", "differ", "draw"),
    [
        (1, 24, 0.0, normal),
        (1, 100, 0.0, heavy),
        (5, 24, 0.02, normal),
        (8, 24, 0.01, heavy),
        (8, 6, 0.02, normal),
        (20, 1, 0.01, heavy),
    ],
)
def test_the_interval_holds_the_effect_in_95_percent(
    runs: int, blocks: int, differ: float, draw: Draw
) -> None:
    assert 0.93 <= coverage(runs, blocks, differ, draw) <= 0.97


@pytest.mark.parametrize("runs", [2, 3, 8])
def test_runs_that_agree_are_not_trusted_too_much(runs: int) -> None:
    """The interval is never narrower than the runs' own errors allow, so it may hold more often."""
    assert 0.94 <= coverage(runs, 24, 0.0, normal, 1000) <= 1.0


def test_a_normal_interval_would_hold_the_effect_too_rarely() -> None:
    """Why the interval is not DerSimonian and Laird's."""
    luck, held = np.random.default_rng(5), 0
    for _ in range(1000):
        found = learned(luck, 5, 24, 0.02, normal)
        half = combining.NORMAL * max(found.own_error, found.spread_error)
        held += abs(found.effect - EFFECT) <= half
    assert held < 900


def test_blocks_that_vary_together_are_not_so_many_blocks() -> None:
    """Eight ranks, of which every block is disturbed as the others' are."""
    luck, held = np.random.default_rng(6), 0
    for _ in range(1000):
        shared = EFFECT + NOISE * luck.standard_normal(30)
        ranks = [
            (shared + NOISE / 4 * luck.standard_normal(30), [1.5 * NOISE] * 30) for _ in range(8)
        ]
        found = evidence.effect_of(evidence.joined(ranks))
        assert found is not None
        held += abs(found.effect - EFFECT) <= 2.05 * found.error
    assert 930 <= held <= 970


def test_the_error_of_equal_blocks_is_not_zero() -> None:
    found = evidence.effect_of(evidence.joined([([0.25] * 5, [0.1] * 5)]))
    assert found is not None
    assert found.effect == pytest.approx(0.25, abs=1e-6)
    assert found.error > 0


def test_one_block_is_as_uncertain_as_its_bound() -> None:
    found = evidence.effect_of(evidence.joined([([0.25], [0.15])]))
    assert found is not None and found.error == pytest.approx(0.1)
    ranks = evidence.effect_of(evidence.joined([([0.25], [0.15])] * 9))
    assert ranks is not None and ranks.error == pytest.approx(0.1)
    low, high = combining.combined([found]).interval()
    assert high - low > 2
    assert evidence.effect_of(evidence.joined([])) is None
