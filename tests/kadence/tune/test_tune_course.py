# SPDX-License-Identifier: GPL-2.0-or-later
"""The course of a tune with planted costs: winners, refusals, budgets and interruptions."""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from kadence.measurement.measure import PLAIN
from kadence.tune import race, result, state
from kadence.tune.result import LEAVE_IT, WINNER
from kadence.tune.state import State

Make = Callable[..., Any]


def outcomes(made: Any) -> dict[str, str]:
    verdict = replace(result.judge(made), apply=())
    return {row.name: row.outcome for row in result.rows(made, verdict)}


@pytest.fixture(autouse=True)
def no_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    """How to apply a winner needs real builds."""
    monkeypatch.setattr(result, "applied", lambda *_: [])


def test_the_best_candidate_wins(planted: Make) -> None:
    made = planted({"a": 0.9, "a2": 0.97, "b": 1.1}).run()
    verdict = result.judge(made)
    assert verdict.outcome == WINNER
    assert verdict.ratio is not None and verdict.ratio.low < 0.9 < verdict.ratio.high
    assert outcomes(made) == {"a": "winner", "a2": "dropped", "b": "dropped"}
    assert made.state.finished
    assert len(made.state.contests) == 1


def test_a_winner_is_confirmed_by_rounds_that_did_not_select_it(planted: Make) -> None:
    made = planted({"a": 0.9}).run()
    confirming = made.state.confirming
    assert confirming is not None and len(confirming.rounds) == confirming.planned
    raced = {tuple(each.costs.items()) for each in made.state.contests[0].rounds}
    assert not raced & {tuple(each.costs.items()) for each in confirming.rounds}
    assert all(set(each.order) == {PLAIN, "a"} for each in confirming.rounds)


def test_gains_of_different_dimensions_are_combined(planted: Make) -> None:
    made = planted({"a": 0.9, "a2": 0.93, "b": 0.8, "c": 1.02}).run()
    assert made.state.contests[1].names == ("b", "b+a")
    assert outcomes(made) == {
        **{"a": "dropped", "a2": "dropped", "b": "dropped", "c": "dropped"},
        **{"b+a": "winner"},
    }


def test_three_dimensions_are_combined(planted: Make) -> None:
    made = planted({"a": 0.9, "b": 0.8, "c": 0.95}).run()
    names = [contest.names for contest in made.state.contests[1:]]
    assert names == [("b", "b+a", "b+c"), ("b+a", "b+a+c")]
    assert result.judge(made).sentence.startswith("b+a+c takes 3")


def test_a_combination_that_gains_nothing_loses_to_the_single_setting(planted: Make) -> None:
    made = planted({"a": 0.9, "b": 0.8, "b+a": 0.81}).run()
    assert outcomes(made)["b"] == "winner"
    assert outcomes(made)["b+a"] == "dropped"


def test_without_a_gain_the_answer_is_leave_it(planted: Make) -> None:
    made = planted({"a": 1.0, "b": 1.001, "c": 1.4}).run()
    verdict = result.judge(made)
    assert verdict.outcome == LEAVE_IT
    assert verdict.sentence == "leave it: no candidate was 1 % better than the plain program"
    assert made.state.confirming is None


def test_what_cannot_be_built_or_differs_is_refused_by_name(planted: Make) -> None:
    made = planted(
        {"a": 0.5, "b": 0.6, "c": 0.9}, unbuilt={"a": "no compiler"}, fails={"b": 2}
    ).run()
    found = outcomes(made)
    assert found == {"a": "refused", "b": "refused", "c": "winner"}
    assert made.state.refused == {"a": "no compiler", "b": "its output is another"}
    assert not any("a" in each.costs for each in made.state.rounds())


def test_a_winner_whose_output_differs_while_it_is_confirmed_does_not_win(planted: Make) -> None:
    made = planted({"a": 0.9}, fails={"a": 7})
    # A race of one is over before its eighth round, so the failure is in a confirming round.
    found = made.run()
    assert len(found.state.contests[0].rounds) <= 7
    verdict = result.judge(found)
    assert verdict.outcome == LEAVE_IT
    assert "a led, but was refused: its output is another" in verdict.sentence


def test_if_all_are_refused_there_is_no_race(planted: Make) -> None:
    made = planted({"a": 0.5}, unbuilt={"a": "no compiler"}).run()
    assert made.state.rounds() == []
    assert "every promising candidate was refused" in result.judge(made).sentence


def test_without_promising_candidates_nothing_runs(planted: Make) -> None:
    tuning = planted({"a": 0.5})
    begun = tuning.begin()
    out = tuple(replace(entry, out="gains nothing") for entry in begun.entries)
    made = tuning.course(replace(begun, entries=out))
    made.run()
    assert made.track.ran == []
    assert "no candidate is predicted to gain 1 %" in result.judge(made).sentence


def test_a_part_that_adds_nothing_is_left_out(planted: Make) -> None:
    """`a` seems to gain, but together with `b` it does not."""
    for seed in range(6):
        tuning = planted({"a": 0.98, "b": 0.5, "b+a": 0.5})
        made = tuning.course(replace(tuning.begin(), seed=seed))
        made.run()
        assert made.state.contests[1].names == ("b", "b+a")
        assert outcomes(made)["b"] == "winner"


def test_a_budget_ends_the_race_and_leaves_time_to_confirm(planted: Make) -> None:
    made = planted({"a": 0.97, "b": 0.968}, budget=60.0, round_seconds=2.0).run()
    confirming = made.state.confirming
    assert confirming is not None
    assert race.FEWEST_CONFIRMING <= len(confirming.rounds) < race.MOST_CONFIRMING
    assert made.state.spent <= 60.0 + 2.0


def test_a_budget_that_is_too_small_for_confirming_gives_no_winner(planted: Make) -> None:
    made = planted({"a": 0.9}, budget=21.0, round_seconds=20.0).run()
    assert result.judge(made).outcome == LEAVE_IT
    assert "the budget ended" in result.judge(made).sentence


# ---- interruptions -------------------------------------------------------------------------------

TRUTH = {"a": 0.93, "a2": 0.95, "b": 0.9, "c": 1.0}


def comparable(found: State) -> State:
    """A state without what depends on the clock."""
    return replace(found, spent=0.0)


def test_a_tune_that_is_interrupted_anywhere_ends_as_if_it_was_not(planted: Make) -> None:
    whole = comparable(planted(TRUTH).run().state)
    saves = len(whole.rounds())
    generator = random.Random(5)
    for _ in range(6):
        tuning = planted(TRUTH, after_saving=generator.random() < 0.5)
        tuning.path.unlink(missing_ok=True)
        found = interrupted(tuning, generator, saves)
        assert comparable(found) == whole


def interrupted(tuning: Any, generator: random.Random, saves: int) -> State:
    """Interrupt and resume until the tune is finished; no round is lost or run twice."""
    found, done = tuning.begin(), 0
    while not found.finished:
        tuning.saves, tuning.stop_at = 0, generator.randrange(1, saves)
        with suppress(KeyboardInterrupt):
            tuning.course(found).run()
        if tuning.path.exists():
            found = state.load(tuning.path)
        assert len(found.rounds()) >= done
        done = len(found.rounds())
    return found


def test_a_finished_tune_is_not_run_again(planted: Make) -> None:
    tuning = planted(TRUTH)
    finished = tuning.run().state
    again = tuning.course(finished)
    again.run()
    assert again.state == finished
    assert again.track.ran == []
    assert outcomes(again) == outcomes(tuning.course(finished))
