# SPDX-License-Identifier: GPL-2.0-or-later
"""Delta debugging against oracles whose culprits are known."""

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest

from kadence.kernel.repair import BudgetSpent, Outcome, repair

NAMES = [f"C{number}" for number in range(64)]


class Oracle:
    """Records the questions, and stops answering when its budget is spent."""

    def __init__(self, works: Callable[[frozenset[str]], bool], budget: int = 10_000) -> None:
        self.works = works
        self.budget = budget
        self.asked: list[frozenset[str]] = []

    def __call__(self, chosen: frozenset[str]) -> bool:
        if len(self.asked) >= self.budget:
            raise BudgetSpent
        self.asked.append(chosen)
        return self.works(chosen)


def needs(*culprits: str) -> Callable[[frozenset[str]], bool]:
    return lambda chosen: chosen.issuperset(culprits)


def halves(names: Sequence[str]) -> list[Sequence[str]]:
    middle = len(names) // 2
    return [names[:middle], names[middle:]]


@pytest.mark.parametrize("culprit", NAMES)
def test_one_culprit_is_found(culprit: str) -> None:
    oracle = Oracle(needs(culprit))
    found = repair([NAMES[:1], NAMES[1:8], NAMES[8:]], oracle)
    assert found.outcome is Outcome.MINIMAL
    assert found.put_back == (culprit,)
    # 3 batches, then the last of them alone, then at most both halves at each of 6 halvings.
    assert len(oracle.asked) <= 4 + 2 * 6


def test_the_first_batch_alone_costs_one_question() -> None:
    oracle = Oracle(needs("FUTEX"))
    found = repair([["FUTEX"], NAMES], oracle)
    assert found.put_back == ("FUTEX",)
    assert oracle.asked == [frozenset({"FUTEX"})]


@pytest.mark.parametrize("pair", [("C0", "C63"), ("C30", "C33"), ("C8", "C9"), ("C1", "C40")])
def test_a_pair_that_helps_only_together_is_found(pair: tuple[str, str]) -> None:
    found = repair(halves(NAMES), Oracle(needs(*pair)))
    assert found.outcome is Outcome.MINIMAL
    assert set(found.put_back) == set(pair)


def test_every_monotone_set_of_culprits_is_found_exactly() -> None:
    names = NAMES[:7]
    for size in range(1, len(names) + 1):
        for culprits in itertools.combinations(names, size):
            found = repair([names[:2], names[2:5], names[5:]], Oracle(needs(*culprits)))
            assert found.outcome is Outcome.MINIMAL
            assert sorted(found.put_back) == sorted(culprits)


def is_one_minimal(put_back: Iterable[str], works: Callable[[frozenset[str]], bool]) -> bool:
    kept = frozenset(put_back)
    return works(kept) and not any(works(kept - {one}) for one in kept)


def test_any_oracle_whatever_gives_a_set_that_works_and_needs_each_of_its_elements() -> None:
    names = NAMES[:10]
    for seed in range(300):
        source = random.Random(seed)
        answers = {
            frozenset(chosen): source.random() < 0.3
            for size in range(1, len(names) + 1)
            for chosen in itertools.combinations(names, size)
        }
        answers[frozenset()] = False
        found = repair(halves(names), Oracle(answers.__getitem__))
        if found.outcome is Outcome.MINIMAL:
            assert is_one_minimal(found.put_back, answers.__getitem__)
        else:
            assert found.outcome is Outcome.HOPELESS
            assert not answers[frozenset(names[:5])] and not answers[frozenset(names)]


def test_what_breaks_it_again_is_left_out() -> None:
    def works(chosen: frozenset[str]) -> bool:
        return "C3" in chosen and ("C9" not in chosen or "C10" in chosen)

    found = repair([NAMES[:2], NAMES[2:20]], Oracle(works))
    assert found.put_back == ("C3",)


def test_no_question_is_asked_twice() -> None:
    for culprits in itertools.combinations(NAMES[:8], 3):
        oracle = Oracle(needs(*culprits))
        repair(halves(NAMES[:8]), oracle)
        assert len(set(oracle.asked)) == len(oracle.asked)
        assert frozenset() not in oracle.asked


def test_nothing_helps() -> None:
    oracle = Oracle(lambda chosen: False)
    found = repair([NAMES[:4], NAMES[4:]], oracle)
    assert found.outcome is Outcome.HOPELESS
    assert not found.works and found.put_back == ()
    assert len(oracle.asked) == 2


def test_there_is_nothing_to_put_back() -> None:
    assert repair([], Oracle(needs())).outcome is Outcome.HOPELESS
    assert repair([[], []], Oracle(needs())).outcome is Outcome.HOPELESS


def test_the_budget_ends_before_it_works() -> None:
    found = repair([NAMES[:4], NAMES[4:8], NAMES[8:]], Oracle(needs("C20"), budget=2))
    assert found.outcome is Outcome.EXHAUSTED
    assert not found.works and found.put_back == ()


def test_the_budget_ends_while_it_is_made_smaller() -> None:
    for budget in range(1, 80):
        oracle = Oracle(needs("C5", "C50"), budget)
        found = repair([NAMES], oracle)
        assert found.works
        assert {"C5", "C50"} <= set(found.put_back)
        smallest = min(len(chosen) for chosen in oracle.asked if oracle.works(chosen))
        assert len(found.put_back) == smallest
    assert found.outcome is Outcome.MINIMAL


def test_a_candidate_in_two_batches_counts_once() -> None:
    oracle = Oracle(needs("C1"))
    assert repair([["C1"], ["C1", "C2"]], oracle).put_back == ("C1",)
    oracle = Oracle(needs("C2"))
    assert repair([["C1", "C1"], ["C1", "C2"]], oracle).put_back == ("C2",)
    assert oracle.asked[0] == frozenset({"C1"})


def test_who_wants_no_smaller_set_is_asked_for_none() -> None:
    oracle = Oracle(needs("C5"))
    found = repair([NAMES[:4], NAMES[4:8]], oracle, minimise=False)
    assert found.outcome is Outcome.WORKS
    assert found.put_back == (*NAMES[4:8], *NAMES[:4])
    assert len(oracle.asked) == 2
    assert repair([["C5"]], Oracle(needs("C5")), minimise=False).outcome is Outcome.MINIMAL


def test_a_batch_is_asked_for_when_those_before_it_failed() -> None:
    oracle = Oracle(needs("C1", "C9"))

    def batches() -> Iterator[list[str]]:
        yield ["C1"]
        assert oracle.asked == [frozenset({"C1"})]
        yield ["C9"]
        raise AssertionError("a third batch was asked for")

    assert set(repair(batches(), oracle).put_back) == {"C1", "C9"}
