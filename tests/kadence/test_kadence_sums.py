# SPDX-License-Identifier: GPL-2.0-or-later
"""Predictions as sums, at given prices, and prices from what the lab counts."""

from dataclasses import replace

import pytest

from kadence.boot import costs
from kadence.boot.costs import Costs
from kadence.prediction import demand, lab_prices
from kadence.prediction.demand import Demand, Item
from kadence.prediction.sums import INSTRUCTIONS, Error, Sum

ASKED = Demand(
    (
        Item(demand.FAULTS, {costs.FAULT: 100_000}, 100_000, 100_000),
        Item(demand.TO["file"], {costs.WRITE: 100_000}, 100_000, 100_000),
    ),
    10**9,
)
HERE = Costs({costs.CALL: 100.0, costs.FAULT: 2000.0, costs.POPULATE: 500.0, costs.WRITE: 1000.0})


def test_the_sum_is_the_run_here_and_its_error_is_that_of_the_prices() -> None:
    """0.3 s of a second are the kernel's; populated pages cost a quarter, ringed records none."""
    here = Sum("here", HERE, ASKED, base=1.0, included=0.3)
    assert here.total(adapted=False) == pytest.approx(1.0)
    assert here.total(adapted=True) == pytest.approx(0.75)
    assert replace(here, rings=False).total(adapted=True) == pytest.approx(0.85)
    # Were all prices twice as high, of the second 0.6 s would be the kernel's.
    assert here.factor(adapted=True, wrong=2.0) == pytest.approx(0.5)
    lines = list(replace(here, error=Error(0.5, 2.0)).lines())
    assert lines[-1].split()[-3:] == ["0.50", "to", "0.88"]
    assert lines[1].split() == [
        "page",
        "faults",
        "100,000",
        "2.00",
        "µs",
        "0.2000",
        "s",
        "0.0500",
        "s",
    ]


def test_what_the_lab_counts_is_a_price_in_instructions() -> None:
    """Debian's kernel in docs/results/bench-lab.txt."""
    counted = {
        "getppid": 325.0,
        "page_small": 3713.0,
        "fork_exit": 167031.0,
        "context_switch": 5797.0,
        "write_16": 1694.0,
        "write_256": 1967.0,
        "write_1024": 2744.0,
        "read_16": 1353.0,
    }
    prices = lab_prices.of(counted)
    assert prices is not None
    assert prices.of(costs.FAULT) == 3713
    # The line through 256 and 1,024 bytes.
    assert prices.of(costs.WRITE) == pytest.approx(1967 - (2744 - 1967) / 768 * 192)
    assert prices.of(costs.WRITTEN_PAGE) == pytest.approx(2744 + (2744 - 1967) / 768 * 3072)
    one = demand.in_full(Demand((), 0), 1).items[0]
    assert one.nanoseconds(prices, adapted=False) == pytest.approx(5797 - 1694 - 1353)
    assert prices.of(costs.SIGNAL) == 325
    assert lab_prices.of({"boot_seconds": 0.2}) is None
    there = Sum("kernel", prices, ASKED, base=1e9, unit=INSTRUCTIONS)
    assert there.factor(adapted=False) == 1.0
    assert there.kernel_time(adapted=False) == pytest.approx(1e5 * (3713 + prices.of(costs.WRITE)))


def test_a_switch_is_charged_once() -> None:
    """The calls that wait are charged as calls, where switches are charged by themselves."""
    waits = Item("waits", {costs.WAIT: 10, costs.FORK: 1}, 11)
    asked = demand.in_full(Demand((waits,), 0), 5)
    assert asked.items[0].charges == {costs.CALL: 10, costs.FORK: 1}
    prices = Costs({costs.CALL: 1000.0, costs.WAIT: 3000.0})
    assert asked.items[1].nanoseconds(prices, adapted=False) == pytest.approx(5 * 2 * 2000)
    assert asked.calls == 11
