# SPDX-License-Identifier: GPL-2.0-or-later
"""Representatives are swapped as an oracle does it that sums all distances for every swap."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kadence.phases.find import swapping, tree
from kadence.phases.find.vectors import Distances

POINTS, MOST = 24, 6
DECIMALS = 8  # to which sums are rounded, so that swaps compare alike


def distances_of(seed: int) -> Distances:
    """Three points far from all others, which are the first representatives, and a loose cloud.

    Three points occur twice. If the seed is odd, the first representatives are others.
    """
    generator = np.random.default_rng(seed)
    rows = np.zeros((POINTS, 9))
    rows[:3, 6:] = np.eye(3)
    rows[3:, :6] = generator.dirichlet(np.full(6, 0.2), size=POINTS - 3)
    rows[-3:] = rows[3:6]
    rows = np.roll(rows, seed % 2, axis=0)
    return np.round(cdist(rows, rows, "cityblock"), 10)


def total(distances: Distances, chosen: list[int]) -> float:
    return float(distances[:, chosen].min(axis=1).sum())


def clear(distances: Distances, chosen: list[int]) -> list[bool]:
    """Whether each group is clear, by its mean of (b - a) / b."""
    found = []
    for number in range(len(chosen)):
        scores = []
        for point in distances[:, chosen]:
            if point.argmin() == number:
                nearest, second = sorted(point)[:2]
                scores.append((second - nearest) / second if second else 0.0)
        found.append(bool(scores) and sum(scores) / len(scores) > tree.STRONG_STRUCTURE)
    return found


def swapped(distances: Distances, chosen: list[int], *, keeps_clear: bool) -> list[int]:
    """Make the best of all swaps until none gains (Kaufman and Rousseeuw 1990, chapter 2)."""
    while len(chosen) > 1:
        before = total(distances, chosen)
        stays = clear(distances, chosen)
        best, least = chosen, -swapping.LEAST_GAIN * before
        for number, point in itertools.product(range(len(chosen)), range(len(distances))):
            other = [*chosen[:number], point, *chosen[number + 1 :]]
            change = round(total(distances, other) - before, DECIMALS)
            if change < least and not (keeps_clear and stays[number]):
                best, least = other, change
        if best is chosen:
            break
        chosen = best
    return chosen


def with_another(distances: Distances, chosen: list[int]) -> list[int]:
    sums = [round(total(distances, [*chosen, point]), DECIMALS) for point in range(len(distances))]
    return [*chosen, sums.index(min(sums))]


def by_the_oracle(distances: Distances, count: int) -> list[int]:
    kept = swapped(distances, list(range(count)), keeps_clear=True)
    free = swapped(distances, kept, keeps_clear=False)
    while len(kept) < MOST and is_dear(distances, kept, free):
        kept = swapped(distances, with_another(distances, kept), keeps_clear=True)
        free = swapped(distances, with_another(distances, free), keeps_clear=False)
    return kept


def is_dear(distances: Distances, kept: list[int], free: list[int]) -> bool:
    one, other = (total(distances, chosen) / len(distances) for chosen in (kept, free))
    return one > swapping.DEAREST * other and one - other > swapping.LEAST_DEAR


@pytest.mark.parametrize("count", range(1, 6))
@pytest.mark.parametrize("seed", range(8))
def test_swaps_are_those_of_an_oracle_that_sums_anew(seed, count):
    distances = distances_of(seed)
    chosen = swapping.chosen(distances, count, MOST)
    assert chosen.tolist() == by_the_oracle(distances, count)


def test_the_oracle_adds_representatives_and_leaves_some_as_they_are():
    grown, moved = set(), set()
    for seed, count in itertools.product(range(8), range(1, 6)):
        chosen = by_the_oracle(distances_of(seed), count)
        grown.add(len(chosen) > count)
        moved.add(chosen[:count] != list(range(count)))
    assert grown == moved == {True, False}


def test_it_makes_no_difference_how_many_points_are_summed_at_a_time(monkeypatch):
    monkeypatch.setattr(swapping, "STRIP", 5)
    for seed in range(4):
        distances = distances_of(seed)
        assert swapping.chosen(distances, 4, MOST).tolist() == by_the_oracle(distances, 4)
