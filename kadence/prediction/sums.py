# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows a prediction as a sum: how often a run asks for each kind of work, times its price.

Prices are nanoseconds of a kernel on this machine, or instructions that the lab counted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kadence.boot.costs import Costs
from kadence.prediction.demand import Demand, Item

LABEL_WIDTH, WIDTH = 44, 16
BOTH = (False, True)  # the plain program, the adapted one


@dataclass(frozen=True)
class Unit:
    """What prices are counted in, and how prices and sums are shown."""

    each: str
    whole: str
    per_price: float  # price units in the unit shown
    per_sum: float
    reference: str  # what the factor is relative to


SECONDS = Unit("{:,.2f} µs", "{:,.4f} s", 1e3, 1e9, "the plain program's time here")
INSTRUCTIONS = Unit("{:,.0f}", "{:,.0f}", 1.0, 1.0, "the plain program's instructions there")


@dataclass(frozen=True)
class Error:
    """How many times the predicted kernel time a measured run took here: the interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Sum:
    """The prediction for one kernel, of the plain and of the adapted program."""

    kernel: str  # its name, and how its prices are known
    prices: Costs
    asked: Demand
    base: float  # what the run takes where it was measured; computing there is as slow as here
    included: float = 0.0  # kernel time in `base`, by the same model
    unit: Unit = SECONDS
    rings: bool = True  # whether records go through rings there
    error: Error | None = None

    def charged(self, item: Item, *, adapted: bool) -> float:
        planned = adapted and (self.rings or item.is_fault)
        return item.nanoseconds(self.prices, adapted=planned) / self.unit.per_sum

    def kernel_time(self, *, adapted: bool) -> float:
        return sum(self.charged(item, adapted=adapted) for item in self.asked.items)

    def computing(self, wrong: float = 1.0) -> float:
        """All that no price is for, if all prices are wrong by a factor."""
        return max(self.base - wrong * self.included, 0.0)

    def total(self, *, adapted: bool, wrong: float = 1.0) -> float:
        return self.computing(wrong) + wrong * self.kernel_time(adapted=adapted)

    def factor(self, *, adapted: bool, wrong: float = 1.0) -> float:
        """The predicted time as a multiple of the plain program's here, or of its count there."""
        whole = self.total(adapted=False, wrong=wrong) if self.unit is INSTRUCTIONS else self.base
        return self.total(adapted=adapted, wrong=wrong) / max(whole, 1e-9)

    def lines(self) -> Iterator[str]:
        """A line for each kind of work, the sums, and the factors with their error."""
        yield _cells(f"{self.kernel}", "count", "each", "plain", "adapted")
        for item in self.asked.items:
            if item.count:
                yield self._line(item)
        shown = self.unit.whole.format
        yield _both("the kernel", (shown(self.kernel_time(adapted=each)) for each in BOTH))
        yield _both("computing and waiting", (shown(self.computing()) for _ in BOTH))
        yield _both("sum", (shown(self.total(adapted=each)) for each in BOTH))
        factors = (f"{self.factor(adapted=each):.3f}" for each in BOTH)
        yield _both(f"times {self.unit.reference}", factors)
        if self.error:
            ranges = (self._range(self.error, adapted=each) for each in BOTH)
            yield _both("with the error that was measured here", ranges)

    def _line(self, item: Item) -> str:
        price = item.nanoseconds(self.prices, adapted=False) / item.count / self.unit.per_price
        both = (self.unit.whole.format(self.charged(item, adapted=each)) for each in BOTH)
        return _cells(f"  {item.what}", f"{item.count:,}", self.unit.each.format(price), *both)

    def _range(self, error: Error, *, adapted: bool) -> str:
        found = sorted(self.factor(adapted=adapted, wrong=end) for end in (error.low, error.high))
        return f"{found[0]:.2f} to {found[1]:.2f}"


def _both(what: str, figures: Iterable[str]) -> str:
    return _cells(f"  {what}", "", "", *figures)


def _cells(first: str, *rest: str) -> str:
    return (f"{first:{LABEL_WIDTH}}" + "".join(f"{text:>{WIDTH}}" for text in rest)).rstrip()
