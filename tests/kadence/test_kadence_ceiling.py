# SPDX-License-Identifier: GPL-2.0-or-later
"""The ceiling of programs whose calls, faults and waiting are known by construction."""

from dataclasses import replace
from typing import Any

import pytest
from known import CALLS, NAPS, PAGES, Known

from kadence.base.statistics import Estimate
from kadence.boot import costs
from kadence.boot.costs import Costs
from kadence.measurement.shares import Shares
from kadence.phases.artefact import document
from kadence.phases.artefact.document import Document
from kadence.prediction import ceiling, demand, explanation, unadapted, worth
from kadence.prediction.ceiling import Ceiling, Row
from kadence.prediction.demand import Demand, Item

# A page costs 2 µs from its first touch to its end.
PRICES = Costs(
    {costs.CALL: 1000.0, costs.FAULT: 1800.0, costs.FREE: 200.0}
    | {costs.POPULATE: 500.0, costs.WAIT: 3000.0}
)


@pytest.fixture(scope="module")
def of(known: Known) -> Document:
    return document.load(known.phases)


def run_of(own: float, kernel: float, waited: float = 0.0, **changes: Any) -> Shares:
    """What a run took, measured exactly."""
    whole = own + kernel + waited
    share, most = (
        Estimate(each / whole, each / whole, each / whole, 0.95, 7)
        for each in (kernel, kernel + waited)
    )
    found = Shares(7, whole, 0.0, whole, own, kernel, 0.0, 0.0, PAGES + 100.0, share, most)
    return replace(found, **changes)


def ceiling_of(of: Document, run: Shares | None) -> Ceiling:
    return ceiling.find(of, demand.of(of, None), PRICES, run)


def busiest(found: Ceiling, column: str) -> Row:
    return max(found.rows, key=lambda row: float(getattr(row, column)))


# ---- phases --------------------------------------------------------------------------------------


def test_each_phase_has_its_own_calls_and_faults(of: Document) -> None:
    exact = (CALLS * 1000 + PAGES * 2000) / 1e9
    found = ceiling_of(of, run_of(own=0.5, kernel=exact + 0.001))
    calling, touching = busiest(found, "calls"), busiest(found, "faults")
    assert calling.phase is not None and touching.phase is not None
    assert calling.phase != touching.phase
    # The intervals at the phases' ends, which also depend on the environment's length, hold both.
    assert 0.85 * CALLS <= calling.calls / 1000e-9 <= 1.01 * CALLS
    assert 0.85 * PAGES <= touching.faults / 2000e-9 <= 1.01 * PAGES
    assert calling.faults < 0.1 * touching.faults
    assert touching.calls < 0.1 * calling.calls
    assert sum(row.calls for row in found.rows) == pytest.approx(CALLS * 1000e-9, rel=0.01)
    assert sum(row.faults for row in found.rows) == pytest.approx(PAGES * 2000e-9, rel=0.01)
    # Loading the program takes some calls and pages, in no phase or the first.
    assert found.priced == pytest.approx(exact, rel=0.02)


def test_the_rows_are_the_run(of: Document) -> None:
    run = run_of(own=0.5, kernel=0.3, waited=0.2, voluntary_switches=30, involuntary_switches=5)
    found = ceiling_of(of, run)
    whole = sum(row.seconds for row in found.rows) + found.unexplained
    assert whole == pytest.approx(1.0)
    assert sum(row.own for row in found.rows) == pytest.approx(0.5)


def test_waiting_is_of_the_phase_that_sleeps(of: Document) -> None:
    run = run_of(own=0.5, kernel=0.2, waited=0.3, voluntary_switches=NAPS)
    found = ceiling_of(of, run)
    sleeping = busiest(found, "waiting")
    assert 0.25 <= sleeping.waiting <= 0.3 + 1e-9
    # A switch costs two calls that wait, without what a call costs.
    switches = sum(row.switches for row in found.rows)
    assert switches == pytest.approx(NAPS * 2 * (3000 - 1000) / 1e9)
    assert sleeping not in (busiest(found, "calls"), busiest(found, "faults"))


def test_involuntary_switches_are_of_all_phases(of: Document) -> None:
    found = ceiling_of(of, run_of(own=0.5, kernel=0.2, involuntary_switches=1000))
    rows = [row for row in found.rows if row.phase is not None]
    assert all(row.switches > 0 for row in rows)
    assert sum(row.switches for row in found.rows) == pytest.approx(1000 * 4000e-9)


# ---- prices and what was measured ----------------------------------------------------------------


def test_what_no_price_explains_is_shown(of: Document) -> None:
    found = ceiling_of(of, run_of(own=0.5, kernel=0.5))
    assert found.scale == 1.0
    assert found.unexplained == pytest.approx(0.5 - found.priced, abs=1e-4)
    assert found.is_off
    assert "too little" in explanation.error(found)


def test_the_measured_time_bounds_the_rows(of: Document) -> None:
    """The prices ask for 0.14 s, and 0.05 s were measured."""
    found = ceiling_of(of, run_of(own=0.5, kernel=0.05))
    assert sum(row.kernel for row in found.rows) == pytest.approx(0.05)
    assert found.priced == pytest.approx(0.14, rel=0.02)
    assert "too much; the table's shares are scaled down" in explanation.error(found)


def test_prices_within_the_measurements_error_are_left_as_they_are(of: Document) -> None:
    wide = Estimate(0.2, 0.1, 0.4, 0.95, 7)
    found = ceiling_of(of, run_of(own=0.4, kernel=0.1, kernel_share=wide))
    assert (found.scale, found.is_off) == (1.0, False)
    assert "no difference can be told" in explanation.error(found)


def test_pages_that_came_in_bulk_cost_what_that_costs(of: Document) -> None:
    """With huge pages the run has 100 faults; the other pages came in bulk."""
    found = ceiling_of(of, run_of(own=0.5, kernel=0.5, minor_faults=100))
    touched = sum(row.faults for row in found.rows)
    assert touched == pytest.approx((100 * 2000 + (of.memory.faults - 100) * 500) / 1e9, rel=0.01)


def test_without_a_run_the_ceiling_is_a_guess(of: Document) -> None:
    found = ceiling_of(of, None)
    assert not found.measured
    assert "no run of it was measured" in explanation.sentence(found)
    assert "only a measured run can show" in explanation.error(found)
    assert sum(row.seconds for row in found.rows) == pytest.approx(found.run.seconds, rel=0.01)


def test_a_profile_without_a_kernel_has_only_the_measured_sums(of: Document) -> None:
    unseen = replace(
        of,
        backend_name="compiled",
        transfers=(),
        memory=replace(of.memory, faults=0, file_pages=0),
        phases=tuple(
            replace(phase, transfers=(), memory=replace(phase.memory, faults=0))
            for phase in of.phases
        ),
    )
    found = ceiling_of(unseen, run_of(own=0.5, kernel=0.1))
    assert found.unexplained == pytest.approx(0.1, rel=0.01)
    told = list(explanation.notes(found, unseen, of.program))
    assert any("nobody saw its system calls" in note for note in told)


# ---- what would take it --------------------------------------------------------------------------


def plan_of(**changes: Any) -> dict[str, Any]:
    return {
        "policies": [{"phase": 0, "quantum_ns": 0}],
        "io": {"mode": "off", "reason": "not wanted", "sites": []},
        "memory": {"mode": "default", "reason": None, "sites": [], "ahead": []},
        "refused": [],
    } | changes


def of_items(*items: Item, run: Shares) -> Ceiling:
    """A ceiling whose prices explain all but 0.02 s."""
    rows = (Row(0, "compute", run.own, run.kernel - 0.02, 0.0, 0.0, run.waited),)
    return Ceiling(run, Demand(items, 0), PRICES, run.kernel, 1.0, rows)


def test_what_takes_most_is_said_first_with_what_the_plan_takes() -> None:
    """100,000 faults at 2 µs are a fifth of a second; populated, 90,000 of them cost 0.5 µs."""
    faults = Item(demand.FAULTS, {costs.FAULT: 100_000, costs.FREE: 100_000}, 100_000, 90_000)
    calls = Item("other system calls", {costs.CALL: 10_000}, 10_000)
    few = Item("signals", {costs.SIGNAL: 10}, 10)
    found = of_items(calls, few, faults, run=run_of(own=0.7, kernel=0.21, waited=0.09))
    refused = [{"phase": 0, "what": "memory", "reason": "f: sparse", "count": 10_000}]
    told = worth.takers(found, plan_of(refused=refused))
    assert [taker.what for taker in told] == [
        demand.FAULTS,
        worth.WAITING,
        worth.OTHER_KERNEL,
        "other system calls",
    ]
    assert told[0].share == pytest.approx(0.2)
    assert told[0].planned == pytest.approx(90_000 * 1500e-9)
    assert "13.5 %" in told[0].how and "f: sparse" in told[0].how
    assert unadapted.NOTHING_ELSE in told[3].how


def test_switches_are_taken_by_a_long_quantum_or_the_reason_is_told() -> None:
    item = demand.in_full(Demand((), 0), 10_000).items[0]
    found = of_items(item, run=run_of(own=0.5, kernel=0.5))
    policy = {"phase": 0, "quantum_ns": 5_000_000_000}
    planned = worth.takers(found, plan_of(policies=[policy, policy | {"phase": 2}]))
    assert "gives phases 0, 2 a long quantum" in next(
        taker.how for taker in planned if taker.what == demand.SWITCHES
    )
    refused = [{"phase": 0, "what": "long quantum", "reason": "threads spin"}]
    told = worth.takers(found, plan_of(refused=refused))
    assert any("threads spin" in taker.how for taker in told)
