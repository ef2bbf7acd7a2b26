# SPDX-License-Identifier: GPL-2.0-or-later
"""The decisions of trials on simulated visits, whose true effect is known.

`make bench-trials` runs ten times as many, of more kinds.
"""

import json
import math
import subprocess
from pathlib import Path

import pytest
from trial_programs import simulation

RUNS = 1000
VISITS = 400
# Noise, drift, autocorrelation, tail, carry-over, wash-out, spread of work.
CALM = (0.03, 0, 0, 0, 0, 0, 0)
DRIFTING = (0.03, 0.1, 0.5, 0.02, 0, 0, 0)
CARRYING = (0.03, 0, 0, 0, 0.5, 1, 0)
UNEQUAL = (0.02, 0.1, 0.7, 0.05, 0.5, 1, 0.5)
WORLDS = (CALM, DRIFTING, CARRYING, UNEQUAL)


@pytest.fixture(scope="module", name="simulate")
def _simulate(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulation(root, tmp_path_factory.mktemp("simulation"))


def found(simulate: Path, effect: float, world: tuple[float, ...]) -> dict[str, float]:
    words = [simulate, RUNS, VISITS, effect, *world]
    told = subprocess.run([str(word) for word in words], capture_output=True, check=True).stdout
    return {name: float(value) for name, value in json.loads(told).items()}


def below(share: float) -> float:
    """The bound of what a share of `share` gives in RUNS runs, 4 standard errors above it."""
    return share + 4 * math.sqrt(share * (1 - share) / RUNS)


@pytest.mark.parametrize("world", WORLDS)
def test_no_effect_is_seldom_claimed(simulate: Path, world: tuple[float, ...]) -> None:
    told = found(simulate, 0, world)
    assert told["helps"] + told["hurts"] < below(0.05)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("effect", [-0.10, -0.03])
def test_effects_are_found(simulate: Path, effect: float, world: tuple[float, ...]) -> None:
    assert found(simulate, effect, world)["helps"] > 0.9


@pytest.mark.parametrize("world", WORLDS)
def test_harm_is_turned_off_within_ten_visits(simulate: Path, world: tuple[float, ...]) -> None:
    told = found(simulate, 0.3, world)
    assert told["dropped"] + told["hurts"] > 0.99
    assert told["late"] < below(0.01)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("effect", [-0.10, -0.03, -0.01, 0.01, 0.05, 0.30])
def test_trying_costs_less_than_its_budget(
    simulate: Path, effect: float, world: tuple[float, ...]
) -> None:
    assert found(simulate, effect, world)["over"] < below(0.01)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("effect", [-0.10, -0.03, 0, 0.01, 0.05])
def test_intervals_cover(simulate: Path, effect: float, world: tuple[float, ...]) -> None:
    share = found(simulate, effect, world)["covered"]
    slack = 3 * math.sqrt(0.05 * 0.95 / RUNS)
    assert 0.93 - slack < share < 0.97 + slack
