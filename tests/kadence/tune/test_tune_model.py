# SPDX-License-Identifier: GPL-2.0-or-later
"""Predictions for runs whose work and prices are planted, and what a race costs at most."""

from types import SimpleNamespace
from typing import Any

import pytest

from kadence.base.errors import UsageError
from kadence.boot import costs
from kadence.boot.costs import Costs
from kadence.phases.describe.memory import PAGE_BYTES
from kadence.prediction.demand import Demand, Item
from kadence.prediction.prediction import Timed
from kadence.tune import candidates, conditions, cost, model, race, shares
from kadence.tune.candidates import Candidate, Effect, KernelWish
from kadence.tune.model import Market, Predicted
from kadence.tune.state import Entry

OWN = Costs(
    {
        **{costs.COMPUTE: 1.0, costs.CALL: 100.0, costs.MAP: 2000.0},
        **{costs.FAULT: 800.0, costs.FREE: 200.0},
    }
)
UM = Costs({costs.COMPUTE: 1.0, costs.CALL: 20_000.0, costs.FAULT: 59_800.0, costs.MAP: 20_000.0})
SECOND = Timed(1.0, 1.0)


def run(
    faults: int = 0, maps: int = 0, peak: int = 0, plan: Any = None, device: bool = False
) -> shares.Run:
    document: Any = SimpleNamespace(memory=SimpleNamespace(peak_resident_bytes=peak))
    items = (
        Item("page faults", {costs.FAULT: faults}, faults),
        Item("calls that map or unmap memory", {costs.MAP: maps}, maps),
    )
    asked = Demand(tuple(item for item in items if item.count), 10**9)
    code = {shares.OWN_CODE: 0.9, shares.ALLOCATOR: 0.25}
    return shares.Run(document, asked, plan, SECOND, OWN, code, device, 2000.0)


def predicted(effects: tuple[Effect, ...], of: shares.Run, **setting: Any) -> Predicted | None:
    setting = setting or {"environment": {"X": "1"}}
    candidate = Candidate("c", "allocator", "s", effects=effects, **setting)
    market = Market(of.demand, of.timed, OWN, {"um": UM})
    return model.predict(candidate, shares.of(of), market)


def test_shares_are_counts_at_prices() -> None:
    found = shares.of(run(faults=100_000, maps=50_000, peak=30_000 * PAGE_BYTES))
    assert found[shares.FAULTS].value == pytest.approx(0.1)
    assert found[shares.AGAIN].value == pytest.approx(0.07)
    assert found[shares.MAPS].value == pytest.approx(0.1)
    assert found[shares.KERNEL].value == pytest.approx(0.2)
    assert found[shares.ALLOCATOR].value == 0.25
    assert found[shares.TICKS].value == pytest.approx(100 * 2000e-9)
    assert "100,000 at 1.00 µs" in found[shares.FAULTS].told


def test_every_work_of_the_list_has_a_share() -> None:
    assert set(shares.of(run())) == set(shares.WORKS)


@pytest.mark.parametrize(("pages", "share"), [(0, 0.0), (2048, 0.0), (4096, 0.5), (20_480, 0.9)])
def test_memory_is_spread_beyond_what_translations_cover(pages: int, share: float) -> None:
    found = shares.of(run(peak=pages * PAGE_BYTES))
    assert found[shares.SPREAD].value == pytest.approx(share)


def test_a_prediction_is_what_is_left_of_each_work() -> None:
    effects = (
        Effect(shares.FAULTS, (0.0, 0.5, 1.5)),
        Effect(shares.ALLOCATOR, (0.6, 1.0, 1.0)),
    )
    found = predicted(effects, run(faults=200_000))
    assert found is not None
    assert (found.low, found.ratio, found.high) == pytest.approx((0.7, 0.9, 1.1))
    assert found.is_promising


def test_what_saves_nothing_is_not_promising() -> None:
    found = predicted((Effect(shares.FAULTS, (0.0, 0.5, 1.0)),), run(faults=9_000))
    assert found is not None and found.low == pytest.approx(0.991)
    assert not found.is_promising


@pytest.mark.parametrize(("faults", "factor"), [(1_000, 1.059), (100_000, 6.9)])
def test_another_kernel_is_predicted_by_its_prices(faults: int, factor: float) -> None:
    found = predicted((), run(faults=faults), kernel=KernelWish("um"))
    assert found is not None
    assert found.ratio == pytest.approx(factor)
    assert found.high == pytest.approx(factor / 0.52)
    # At best the kernel's work is free there; computing is not quicker.
    assert found.low >= 1 - faults * 1e-6


def test_a_kernel_without_known_costs_is_not_predicted() -> None:
    assert predicted((), run(), kernel=KernelWish("x86_64")) is None


KEEPING = {"treatments": ["keep"]}


@pytest.mark.parametrize(
    ("plan", "device", "changes"),
    [
        (None, True, False),
        ({"sites": [], "quanta": 0}, False, False),
        ({"sites": [KEEPING], "quanta": 0}, False, True),
        ({"sites": [{"treatments": ["populate"]}], "quanta": 0}, False, False),
        ({"sites": [{"treatments": ["populate"]}], "quanta": 0}, True, True),
        ({"sites": [], "quanta": 5}, False, False),
        ({"sites": [], "quanta": 5}, True, True),
    ],
)
def test_whether_a_plan_changes_anything_here(plan: Any, device: bool, changes: bool) -> None:
    body = plan and {
        "memory": {"sites": plan["sites"]},
        "policies": [{"quantum_ns": plan["quanta"]}],
        "io": {"sites": []},
    }
    assert shares.plan_changes(body, device) == changes


@pytest.mark.parametrize(
    ("function", "file", "allocates"),
    [
        ("malloc", "/lib/x86_64-linux-gnu/libc.so.6", True),
        ("_int_free", "/lib/x86_64-linux-gnu/libc.so.6", True),
        ("__libc_calloc", "/lib/x86_64-linux-gnu/libc.so.6", True),
        ("_int_malloc.part.0", "/lib/x86_64-linux-gnu/libc.so.6", True),
        ("_Znwm", "/lib/x86_64-linux-gnu/libstdc++.so.6", True),
        ("malloc", "/home/me/program", False),
        ("memcpy", "/lib/x86_64-linux-gnu/libc.so.6", False),
        ("", "", False),
    ],
)
def test_functions_of_the_allocator(function: str, file: str, allocates: bool) -> None:
    assert shares._allocates(function, file) == allocates


# ---- costs ---------------------------------------------------------------------------------------


def entries(*ratios: float) -> tuple[list[Entry], list[Candidate]]:
    made = [Candidate(f"c{number}", "compiler", "s", flags="-O3") for number in range(len(ratios))]
    return [
        Entry(f"c{number}", Predicted(ratio, ratio / 2, ratio * 2, ""), "")
        for number, ratio in enumerate(ratios)
    ], made


def test_the_cost_is_an_upper_limit() -> None:
    listed, made = entries(0.5, 0.5)
    found = cost.of(listed, made, 2.0, 10.0)
    # Three contestants in every round of a race, and what precedes it.
    assert found.runs >= 3 * race.MOST_ROUNDS + 2 * race.MOST_CONFIRMING
    assert found.seconds >= 2.0 * (3 * race.MOST_ROUNDS + 2 * race.MOST_CONFIRMING)
    assert found.builds >= 2 and found.build_seconds == found.builds * 10.0
    assert "and the time of the builds" not in str(found)
    assert "and the time of the builds" in str(cost.of(listed, made, 2.0, 0.0))


def test_nothing_costs_nothing() -> None:
    assert "nothing to build" in str(cost.of([Entry("a", None, "no")], [], 1.0, 1.0))


def test_a_small_budget_keeps_what_gains_most() -> None:
    listed, made = entries(0.9, 0.5, 0.7, 1.2)
    kept = cost.within(45.0, listed, made, 1.0)
    assert [entry.name for entry in kept if not entry.out] == ["c1", "c2"]
    assert {entry.out for entry in kept if entry.out} == {"the budget is too small for it"}
    assert cost.within(1e6, listed, made, 1.0) == listed
    assert cost.least(kept, made, 1.0) <= 45.0


def test_a_budget_for_nothing_is_refused() -> None:
    listed, made = entries(0.9)
    with pytest.raises(UsageError, match="a budget of 5 s is too small: one run takes 1 s"):
        cost.within(5.0, listed, made, 1.0)


def test_kernels_go_first_if_the_budget_is_small() -> None:
    listed, made = entries(0.9, 0.8)
    made[1] = Candidate("c1", "kernel", "s", kernel=KernelWish("um"))
    kept = cost.within(200.0, listed, made, 1.0)
    assert [entry.name for entry in kept if not entry.out] == ["c0"]


def test_the_listed_candidates_can_all_be_predicted() -> None:
    known = {"needs": conditions.KNOWN, "work": shares.WORKS}
    of = run(faults=200_000, maps=1_000, peak=1 << 30)
    market = Market(of.demand, of.timed, OWN, {"um": UM, "x86_64": OWN})
    for each in candidates.read(candidates.FILE, known):
        found = model.predict(each, shares.of(of), market)
        assert found is not None and 0 < found.low <= found.ratio <= found.high, each.name
