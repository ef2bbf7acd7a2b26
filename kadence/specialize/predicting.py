# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence plan --predict`: the prediction for each kernel whose prices are known, as a sum."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from kadence.base.errors import KadenceError
from kadence.boot.costs import Costs
from kadence.boot.request import TARGETS
from kadence.kconfig.request import series
from kadence.kconfig.store import store
from kadence.kernel import kernel_figures
from kadence.prediction import explanation, lab_prices, prediction
from kadence.prediction.ceiling import Ceiling
from kadence.prediction.prediction import TITLES
from kadence.prediction.sums import INSTRUCTIONS, Error, Sum
from kadence.specialize import foresight
from kadence.specialize.explaining import Explanation

UM, X86_64 = TARGETS
OWN = "this machine's own kernel"
NOT_COUNTED = (
    "no kernel is priced in instructions: `kadence kernel diff --measure ID ID` counts an x86_64 "
    "kernel of the store in the lab"
)


def lines(of: Explanation) -> Iterator[str]:
    """The sums, and the error of the prediction."""
    yield f"predicted for `{' '.join(of.command)}`:"
    for each in sums(of.found):
        yield from each.lines()
    if not any(True for _ in _counted(of.found)):
        yield NOT_COUNTED
    yield f"error: {explanation.error(of.found)}"


def sums(found: Ceiling) -> Iterator[Sum]:
    """A sum for each kernel whose prices are known."""
    run = found.run
    here = Sum(
        f"{OWN} (prices {found.prices.known})",
        found.prices,
        found.demand,
        base=run.seconds - run.delayed,
        included=found.priced,
        rings=False,
        error=_error(found),
    )
    yield here
    if any(item.adapted and not item.is_fault for item in found.demand.items):
        yield replace(here, kernel=f"{OWN}, where the device answers", rings=True)
    for target in TARGETS:
        with suppress(KadenceError, OSError):
            there = foresight.costs_of(target, series.DEFAULT)
            if there is not None:
                yield _elsewhere(here, found, there, target)
    yield from _counted(found)


def _elsewhere(here: Sum, found: Ceiling, there: Costs, target: str) -> Sum:
    base, busy = here.base, found.run.own + found.run.kernel
    if target == UM:
        base = max(base, busy)  # all threads share one processor
    base *= prediction.slowdown(found.prices, there)
    name = f"{TITLES[target]} (prices {there.known})"
    return replace(here, kernel=name, prices=there, base=base, rings=True)


def _error(found: Ceiling) -> Error | None:
    """The measured kernel time as a multiple of the predicted time."""
    if not found.measured or found.priced <= 0:
        return None
    seconds = found.run.kernel_seconds
    return Error(seconds.low / found.priced, seconds.high / found.priced)


def _counted(found: Ceiling) -> Iterator[Sum]:
    """Sums in instructions, for the kernels that were counted in the lab."""
    for identifier in store.identifiers():
        with suppress(KadenceError, OSError):
            figures = kernel_figures.recall(store.load(identifier))
            prices = lab_prices.of(figures.values) if figures else None
            if prices is not None:
                name = f"kernel {identifier}, counted in the lab"
                base = float(found.demand.instructions)
                yield Sum(name, prices, found.demand, base, unit=INSTRUCTIONS)
