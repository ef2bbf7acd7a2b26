# SPDX-License-Identifier: GPL-2.0-or-later
"""Predicts the cost of each candidate as a multiple of the plain run's, before anything is built.

A setting leaves a part of some kinds of work (candidates.toml). A kernel other than this machine's
own is predicted as by `kadence specialize`: so many calls and faults at that kernel's prices.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kadence.boot.costs import MEASURED, Costs
from kadence.measurement.measure import ADAPTED
from kadence.prediction import prediction
from kadence.prediction.demand import Demand
from kadence.prediction.prediction import TITLES, Timed
from kadence.tune.candidates import Candidate
from kadence.tune.shares import Shares

# A smaller gain is not looked for: it would take hundreds of runs, and the next update of the C
# library may take it away again.
LEAST_GAIN = 0.01
# What was measured, as multiples of what was predicted, for 27 programs on User-Mode Linux
# (docs/results/corpus.txt): the least, and the most.
KERNEL_ERROR = (1 / 1.52, 1 / 0.52)
LEAST_RATIO = 0.01


@dataclass(frozen=True)
class Predicted:
    """A candidate's predicted cost as a multiple of the plain run's, with its error."""

    ratio: float
    low: float  # at best
    high: float  # at worst
    why: str  # the figures

    @property
    def is_promising(self) -> bool:
        """Whether the candidate may gain enough to be worth a race."""
        return self.low <= 1 - LEAST_GAIN


@dataclass(frozen=True)
class Market:
    """The prices of all kernels, and the demand at these prices."""

    demand: Demand
    timed: Timed
    own: Costs
    others: Mapping[str, Costs]  # target -> costs; a target without known costs is missing


def predict(candidate: Candidate, shares: Shares, market: Market) -> Predicted | None:
    """Predict; None if the costs of the candidate's kernel are not known."""
    setting = setting_of(candidate, shares)
    return setting if candidate.kernel is None else _on_kernel(candidate, setting, market)


def setting_of(candidate: Candidate, shares: Shares) -> Predicted:
    """The prediction of a setting, whatever the kernel."""
    at = [1.0, 1.0, 1.0]
    told = []
    for effect in candidate.effects:
        share = shares[effect.work]
        told.append(share.told)
        at = [value - share.value * (1 - left) for value, left in zip(at, effect.left, strict=True)]
    low, ratio, high = (max(value, LEAST_RATIO) for value in at)
    return Predicted(ratio, low, high, "; ".join(told))


def _on_kernel(candidate: Candidate, setting: Predicted, market: Market) -> Predicted | None:
    target = candidate.target
    if target not in market.others:
        return None
    found = prediction.predict(
        market.demand, market.timed, market.own, market.others[target], target
    )
    factor = found.factor if candidate.program == ADAPTED else found.plain_factor
    least, most = KERNEL_ERROR
    # No kernel makes the program's own computing quicker.
    asked = prediction.charged(market.demand, market.own, adapted=False)
    computing = max(1 - asked / market.timed.seconds, 0.0)
    known = "" if found.known == MEASURED else ", at prices that are estimated without a kernel"
    why = (
        f"{market.demand.calls:,} system calls and {market.demand.faults:,} page faults under "
        f"{TITLES[target]}{known}"
    )
    return Predicted(
        factor * setting.ratio,
        max(factor * least, computing) * setting.low,
        factor * most * setting.high,
        "; ".join(filter(None, (why, setting.why))),
    )
