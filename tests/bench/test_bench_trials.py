# SPDX-License-Identifier: GPL-2.0-or-later
"""`make bench-trials`: its verdicts, and its counts of what records say."""

import json
import zlib
from pathlib import Path

import pytest

from bench.trials import found
from bench.trials.programs import IN_LAB, ON_UM, OWN
from kadence.base.statistics import Estimate
from kadence.program import program


def estimate(low: float, value: float, high: float) -> Estimate:
    return Estimate(value, low, high, 0.95, 11)


@pytest.mark.parametrize(
    ("tried", "again", "said"),
    [
        ((0.9, 1.01, 1.2), (0.99, 1, 1.01), "at most"),
        ((1.005, 1.02, 1.03), (0.99, 1, 1.01), "within the noise"),
        ((1.02, 1.03, 1.04), (0.97, 1, 1.03), "within the noise"),
        ((1.02, 1.03, 1.04), (0.99, 1, 1.015), "ABOVE"),
    ],
)
def test_a_cost_counts_beyond_the_noise(
    tried: tuple[float, float, float], again: tuple[float, float, float], said: str
) -> None:
    assert said in found.cost(estimate(*tried), estimate(*again), {})


@pytest.mark.parametrize(("highest", "said"), [(1.15, "as is a plain build"), (1.05, "the noise")])
def test_a_cost_is_beside_that_of_moved_code(highest: float, said: str) -> None:
    tried, again = estimate(1.1, 1.14, 1.19), estimate(0.93, 0.97, 1.01)
    moved = {"moved-16": {"high": 1.0}, "moved-32": {"high": highest}}
    assert said in found.cost(tried, again, moved)


@pytest.mark.parametrize(
    ("tried", "again", "seems"),
    [((1.0, 1.01, 1.2), 1, False), ((1.0, 1.1, 1.2), 1.15, False), ((0.9, 1.02, 1.1), 1, True)],
)
def test_what_seems_slower_is_compared_with_moved_code(
    tried: tuple[float, float, float], again: float, seems: bool
) -> None:
    assert found.seems_slow(estimate(*tried), estimate(0.9, again, 1.2)) == seems


@pytest.mark.parametrize(
    ("tried", "said"),
    [((0.8, 0.85, 0.89), "better"), ((0.8, 0.9, 0.95), "not worse"), ((0.96, 1, 1), "WORSE")],
)
def test_intervals_that_overlap_are_equal(tried: tuple[float, float, float], said: str) -> None:
    assert found.beside_setting(estimate(*tried), estimate(0.9, 0.92, 0.95)).startswith(said)


def test_few_rounds_give_no_verdict() -> None:
    few = Estimate(2.0, 2.0, 2.0, 0.0, 1)
    assert "too few" in found.cost(few, few, {})
    assert "WORSE" not in found.beside_setting(few, estimate(0.9, 0.92, 0.95))


def line(document: dict[str, object]) -> str:
    text = json.dumps({"process": 7, **document})[:-1]
    return f'{text}, "sum": "{zlib.crc32(text.encode()):08x}"}}\n'


def written(path: Path, *states: str) -> Path:
    """A record with these decisions, after 4 visits each."""
    machine = {"processor": "x", "kernel": "6.12.1", "memory_bytes": 1, "processors": 1}
    header = {
        **{"schema": "kadence.trials", "version": 1, "program": "", "plan": "0" * 16},
        **{"machine": machine, "seed": "0" * 16, "budget": 0.01, "started": 0},
    }
    arm = {"phase": 0, "policy": "quantum", "level": 1}
    figures = {"blocks": 2, "visits": 4, "effect": 0.3, "low": None, "high": None}
    decisions = [{"decision": {**arm, "state": state, **figures}} for state in states]
    path.write_text("".join(map(line, (header, *decisions))))
    return path


def test_a_policy_is_off_once_it_hurts_or_is_dropped(tmp_path: Path) -> None:
    paths = [
        written(tmp_path / name, *([name] if name != "none" else []))
        for name in ("dropped", "hurts", "helps", "none")
    ]
    records = list(found.records([*paths, tmp_path / "absent"]))
    assert [found.visits_until_off(one) for one in records] == [4, 4, None, None]
    assert [found.claims(one) for one in records] == [[], ["hurts"], ["helps"], []]
    assert [found.is_dropped(one) for one in records] == [True, False, False, False]


def test_programs_are_described(root: Path) -> None:
    for subject in (*OWN.values(), *ON_UM.values(), *IN_LAB.values()):
        assert program.read(root / subject.folder).run
