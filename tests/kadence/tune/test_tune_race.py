# SPDX-License-Identifier: GPL-2.0-or-later
"""Races whose truth is planted: who wins, who is dropped, and how often that is wrong."""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from kadence.measurement.measure import PLAIN
from kadence.tune import race
from kadence.tune.race import Standing

ALIKE = [1.0] * 5


@dataclass
class Field:
    """Contestants with known costs, on a machine whose speed drifts."""

    truth: dict[str, float]
    noise: float
    generator: np.random.Generator
    speed: float = 1.0
    runs: int = 0
    rounds: list[dict[str, float]] = field(default_factory=list)

    def round(self, names: tuple[str, ...]) -> dict[str, float]:
        self.speed *= math.exp(self.generator.normal(0, 0.02))
        self.runs += len(names) + 1
        return {
            name: self.speed * self.truth[name] * math.exp(self.generator.normal(0, self.noise))
            for name in (PLAIN, *names)
        }

    def raced(self) -> Standing:
        standing = race.begun([name for name in self.truth if name != PLAIN])
        while not standing.settled:
            self.rounds.append(self.round(standing.left))
            standing = race.after(standing, self.rounds)
        return standing

    def winner(self) -> str | None:
        """The whole course: a race, then fresh rounds of its leader."""
        leader = self.raced().leader
        if leader == PLAIN:
            return None
        fresh = [self.round((leader,)) for _ in range(race.confirming_rounds(self.rounds, leader))]
        return leader if race.wins(race.confirmed(fresh, leader)) else None


def planted(costs: list[float], noise: float, seed: int) -> Field:
    truth = {f"c{number}": cost for number, cost in enumerate(costs)}
    return Field({PLAIN: 1.0, **truth}, noise, np.random.default_rng(seed))


@pytest.mark.parametrize("noise", [0.005, 0.03])
def test_a_false_winner_is_rare_if_all_are_alike(noise: float) -> None:
    trials = 60
    wrong = sum(planted(ALIKE, noise, seed).winner() is not None for seed in range(trials))
    # One in twenty is allowed, and three standard errors of the trials.
    assert wrong / trials <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / trials)
    assert wrong <= 4


@pytest.mark.parametrize("noise", [0.005, 0.02])
def test_a_gain_of_3_percent_is_mostly_found(noise: float) -> None:
    found = [planted([0.97, *ALIKE], noise, seed).winner() for seed in range(40)]
    assert found.count("c0") >= 32
    assert set(found) <= {"c0", None}


def test_the_best_of_several_gains_wins() -> None:
    found = [planted([1.2, 0.8, 0.9, 1.0], 0.01, seed).winner() for seed in range(20)]
    assert found == ["c1"] * 20


def test_the_confirmed_figure_is_not_the_lucky_one() -> None:
    """Of many equal gains the race picks the luckiest; fresh rounds show the true gain."""
    gains, lucky = [], []
    for seed in range(25):
        contestants = planted([0.97] * 8, 0.03, seed)
        leader = contestants.raced().leader
        lucky.append(race.seeming(contestants.rounds, leader))
        fresh = [contestants.round((leader,)) for _ in range(20)]
        gains.append(race.confirmed(fresh, leader).value)
    assert np.mean(lucky) < 0.967
    assert np.mean(gains) == pytest.approx(0.97, abs=0.004)


def test_who_is_far_behind_leaves_early() -> None:
    contestants = planted([3.0, 0.9], 0.01, 1)
    standing = contestants.raced()
    assert standing.dropped["c0"] == PLAIN
    assert sum("c0" in costs for costs in contestants.rounds) <= 6
    assert standing.left == ("c1",)


def test_a_race_of_nobody_is_settled() -> None:
    assert race.begun([]).settled
    assert race.begun([]).leader == PLAIN


def test_a_race_ends_after_its_most_rounds() -> None:
    contestants = planted([0.99, 0.985], 0.2, 5)
    assert contestants.raced().settled
    assert len(contestants.rounds) <= race.MOST_ROUNDS


def test_a_replayed_race_is_the_same() -> None:
    contestants = planted([0.9, 0.92, 1.0, 1.5], 0.02, 3)
    standing = contestants.raced()
    assert race.replayed(standing.names, contestants.rounds) == standing


def test_a_contestant_that_is_missing_in_a_round_is_out() -> None:
    rounds = [{PLAIN: 1.0, "a": 0.5, "b": 0.4}, {PLAIN: 1.0, "a": 0.5}]
    standing = race.replayed(["a", "b"], rounds)
    assert standing.left == ("a",)
    assert standing.leader == "a"


def test_an_incumbent_stays_unless_another_is_surely_better() -> None:
    for other, winner in ((0.8, "c0"), (0.7, "c1")):
        contestants = planted([0.8, other], 0.01, 4)
        standing = race.begun(["c0", "c1"], "c0")
        while not standing.settled:
            contestants.rounds.append(contestants.round(standing.left))
            standing = race.after(standing, contestants.rounds)
        assert standing.choice == winner


def test_common_drift_does_not_count() -> None:
    speeds = [1.0, 9.0, 0.3, 2.0, 30.0, 1.0, 0.01, 5.0, 2.0, 1.0]
    rounds = [{PLAIN: speed, "a": 0.9 * speed} for speed in speeds]
    assert race.seeming(rounds, "a") == pytest.approx(0.9)
    found = race.ratio(rounds, "a", 0.05)
    assert found is not None and found.high < 1


def test_more_noise_needs_more_confirming_rounds() -> None:
    def rounds_of(noise: float) -> int:
        contestants = planted([0.95], noise, 2)
        rounds = [contestants.round(("c0",)) for _ in range(25)]
        return race.confirming_rounds(rounds, "c0")

    assert rounds_of(0.001) == race.FEWEST_CONFIRMING
    assert race.FEWEST_CONFIRMING < rounds_of(0.04) <= rounds_of(0.4) == race.MOST_CONFIRMING
