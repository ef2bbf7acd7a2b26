# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides, round after round, which candidates stay in the race; runs nothing itself.

A round runs the plain program and every candidate that is left once, in random order. What counts
is the logarithm of a candidate's cost over that of another in the same round, so that a slow drift
of the machine cancels out. A candidate is dropped as soon as it surely does not cost LEAST_GAIN
less than the leader, or than the plain program. It may be compared with as many others as there are
candidates, and each comparison may err with a share of ERROR. So the chance is at most ERROR that a
race ever drops a candidate that is better than all others by LEAST_GAIN (Maron and Moore, 1994,
with the bounds of base/sequential.py).

A race of combinations has an incumbent: the setting that they extend. It stays until another is
surely better, and wins if none is. So a combination wins only by what each of its parts adds.

The race only selects. The figure of a winner comes from rounds that were run afterwards, of the
winner and the plain program alone. One candidate is confirmed, and those rounds took no part in its
selection, so their interval needs no correction for the other candidates.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kadence.base import sequential, statistics
from kadence.base.statistics import CONFIDENCE, Estimate
from kadence.measurement.measure import PLAIN
from kadence.tune.model import LEAST_GAIN

ERROR = 1 - CONFIDENCE
MOST_ROUNDS = 30
FEWEST_CONFIRMING, MOST_CONFIRMING = 8, 40
# Of the confirming rounds' normal distribution: the interval's end, and nine tenths of the power.
NEEDED_DEVIATIONS = 1.96 + 1.28
EFFICIENCY = 0.955  # of Wilcoxon's test on normal noise
DEVIATIONS_OF_MEDIAN = 1.4826  # a standard deviation in median absolute deviations
PESSIMISM = 0.8  # the gain of the best of several is usually smaller than it looks

Costs = Mapping[str, float]  # what one round cost, by name; PLAIN is always there


@dataclass(frozen=True)
class Standing:
    """The state of a race after some rounds."""

    names: tuple[str, ...]  # all candidates that began
    left: tuple[str, ...]
    dropped: Mapping[str, str]  # name -> the candidate that it surely does not beat, or PLAIN
    leader: str  # PLAIN, or the one of `left` that seems to cost least
    settled: bool  # more rounds would change nothing
    incumbent: str = PLAIN

    @property
    def error(self) -> float:
        """The chance with which one comparison may err."""
        return ERROR / max(len(self.names), 1)

    @property
    def choice(self) -> str:
        """Who would win now."""
        return self.incumbent if self.incumbent in self.left else self.leader


def begun(names: Sequence[str], incumbent: str = PLAIN) -> Standing:
    """A race without rounds."""
    return Standing(tuple(names), tuple(names), {}, PLAIN, not names, incumbent)


def replayed(names: Sequence[str], rounds: Sequence[Costs], incumbent: str = PLAIN) -> Standing:
    """The state after these rounds, whenever they were run."""
    standing = begun(names, incumbent)
    for count in range(1, len(rounds) + 1):
        standing = after(standing, rounds[:count])
    return standing


def after(standing: Standing, rounds: Sequence[Costs]) -> Standing:
    """The state after the last of these rounds."""
    left = [name for name in standing.left if name in rounds[-1]]
    leader = _leader(left, rounds)
    dropped = dict(standing.dropped)
    for name in left:
        better = _beaten_by(name, leader, standing, rounds)
        if better is not None:
            dropped[name] = better
    left = [name for name in left if name not in dropped]
    alone = len(left) == 1 and gains_surely(left[0], standing, rounds)
    return replace(
        standing,
        left=tuple(left),
        dropped=dropped,
        leader=_leader(left, rounds),
        settled=not left or alone or len(rounds) >= MOST_ROUNDS,
    )


def _beaten_by(name: str, leader: str, standing: Standing, rounds: Sequence[Costs]) -> str | None:
    """The first that a candidate surely does not beat; None if it stays in the race."""
    incumbent = standing.incumbent
    for other in dict.fromkeys((PLAIN, incumbent, leader)):
        if other == name or (other != PLAIN and other not in standing.left):
            continue
        # The incumbent need not be better than others, but none may be better than the incumbent.
        margin = 0.0 if name == incumbent and other != PLAIN else LEAST_GAIN
        bound = math.log(1 - margin)
        if sequential.surely_above(logarithms(rounds, name, other), bound, standing.error):
            return other
    return None


def _leader(left: Sequence[str], rounds: Sequence[Costs]) -> str:
    """The candidate that seems to cost least, or PLAIN."""
    ratios = {name: seeming(rounds, name) for name in left}
    best = min(ratios, key=ratios.__getitem__, default=PLAIN)
    return best if ratios.get(best, 1.0) < 1 else PLAIN


def seeming(rounds: Sequence[Costs], name: str) -> float:
    """A candidate's cost as a multiple of the plain one's; 1 if it is not known."""
    found = logarithms(rounds, name, PLAIN)
    return math.exp(statistics.centre(found)) if found else 1.0


def gains_surely(name: str, standing: Standing, rounds: Sequence[Costs]) -> bool:
    """Whether a candidate surely costs less than the plain program."""
    return sequential.surely_below(logarithms(rounds, name, PLAIN), 0.0, standing.error)


def logarithms(rounds: Sequence[Costs], name: str, other: str) -> list[float]:
    """The logarithms of the ratios of two costs, in the rounds that have both."""
    return [
        math.log(costs[name] / costs[other]) for costs in rounds if name in costs and other in costs
    ]


def ratio(rounds: Sequence[Costs], name: str, error: float) -> Estimate | None:
    """A candidate's cost as a multiple of the plain one's, with an interval for all looks."""
    found = logarithms(rounds, name, PLAIN)
    if not found:
        return None
    span = sequential.span(found, error)
    middle = statistics.centre(found)
    low, high = (math.exp(end) if math.isfinite(end) else end for end in (span.low, span.high))
    return Estimate(math.exp(middle), max(low, 0.0), high, 1 - error, len(found))


# ---- confirming ----------------------------------------------------------------------------------


def confirming_rounds(rounds: Sequence[Costs], name: str) -> int:
    """How many fresh rounds will probably show the gain that the race has seen."""
    found = np.array(logarithms(rounds, name, PLAIN))
    spread = DEVIATIONS_OF_MEDIAN * float(np.median(np.abs(found - np.median(found))))
    gain = PESSIMISM * -statistics.centre(found.tolist())
    if gain <= 0:
        return MOST_CONFIRMING
    needed = (NEEDED_DEVIATIONS * spread / gain) ** 2 / EFFICIENCY
    return min(max(math.ceil(needed), FEWEST_CONFIRMING), MOST_CONFIRMING)


def confirmed(rounds: Sequence[Costs], name: str) -> Estimate:
    """The ratio to the plain program in the confirming rounds."""
    return statistics.paired_ratio(
        [costs[name] for costs in rounds], [costs[PLAIN] for costs in rounds]
    )


def wins(found: Estimate) -> bool:
    """Whether the confirming rounds show a gain."""
    return found.value < 1 and statistics.differs(found)
