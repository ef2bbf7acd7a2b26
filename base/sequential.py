# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether noisy differences surely lie below a bound, judged after every new one.

An interval for a fixed number of samples is wrong if somebody looks after each sample and stops
when it suits: every look is another chance to err. The tests here bound the chance to err once
over all looks together. Both are test martingales: capital that bets against the bound. If the
differences do not lie below it, the capital ever reaches 1 / error with at most the chance
`error` (Ville's inequality). Each test may make half of the allowed errors.

- The bets on signs assume only that a difference is as likely above its centre as below it, by the
  same amount (de la Peña, 1999; Howard, Ramdas, McAuliffe and Sekhon, 2021, lemma 3). The order of
  runs in a round is random, so this holds for two programs that cost the same. Each difference at
  most doubles the capital.
- The t-mixture assumes normal noise of unknown size (Lai, 1976; Pérez-Ortiz, Lardy, de Heide and
  Grünwald, 2022). It needs five differences, not nine, where an effect is many times the noise.

What it gets wrong: the t-mixture may err more often than it says if the noise has only two values.
Of these, the first five are equal and of one sign with a chance of 1 in 32.
"""

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# Stakes of the bets on signs: shares of the capital, per typical difference. Their mean is used,
# because nobody knows which stake is best before the differences are seen.
STAKES = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0])
LARGEST_STAKE = 0.999  # a lost bet must leave something
# Standard deviations of the effect, in those of the noise, that the t-mixture expects.
EFFECTS = (1.0, 10.0)
FEWEST = 5  # samples that show the size of the noise
STEPS = 40  # that halve the place of an interval's end


@dataclass(frozen=True)
class Span:
    """An interval that holds the centre of the differences at all looks together."""

    low: float
    high: float


def surely_below(differences: Sequence[float], bound: float, error: float) -> bool:
    """Whether the centre of the differences is below the bound; errs with this chance at most."""
    shifted = np.asarray(differences, dtype=float) - bound
    needed = math.log(2 / error)
    return max(_by_signs(shifted), _by_size(shifted)) >= needed


def surely_above(differences: Sequence[float], bound: float, error: float) -> bool:
    """Likewise for a centre above the bound."""
    return surely_below([-each for each in differences], -bound, error)


def span(differences: Sequence[float], error: float) -> Span:
    """All bounds that the differences are surely neither below nor above."""
    values = list(map(float, differences))
    mirrored = [-each for each in values]
    return Span(-_end(mirrored, error / 2), _end(values, error / 2))


def _end(values: Sequence[float], error: float) -> float:
    """The least bound that the values surely lie below; infinite if there are too few values."""
    centre = float(np.median(values)) if values else 0.0
    reach = max((abs(each - centre) for each in values), default=0.0) or abs(centre) or 1.0
    far = centre + 64 * reach
    if not surely_below(values, far, error):
        return math.inf
    near = centre
    for _ in range(STEPS):
        middle = (near + far) / 2
        if surely_below(values, middle, error):
            far = middle
        else:
            near = middle
    return far


def _by_signs(values: npt.NDArray[np.float64]) -> float:
    """The logarithm of the capital after a bet on each value's being negative."""
    sizes = np.abs(values)
    scales = np.array(_running_medians(sizes.tolist()))
    shares = np.divide(sizes, scales, out=np.zeros_like(sizes), where=scales > 0)
    stakes = np.minimum(np.tanh(np.outer(STAKES, shares)), LARGEST_STAKE)
    capitals = np.log1p(-np.sign(values) * stakes).sum(axis=1)
    return _log_mean(capitals)


def _running_medians(sizes: Sequence[float]) -> list[float]:
    """The median of the sizes so far. A size tells nothing about its sign, so a bet may use it."""
    ordered: list[float] = []
    medians = []
    for size in sizes:
        bisect.insort(ordered, size)
        half = len(ordered) // 2
        medians.append((ordered[half] + ordered[~half]) / 2)
    return medians


def _by_size(values: npt.NDArray[np.float64]) -> float:
    """The logarithm of the likelihood ratio of a mixture of effects to none, for a mean below 0."""
    count = len(values)
    if count < FEWEST or (mean := float(values.mean())) >= 0:
        return -math.inf
    squares = float(((values - mean) ** 2).sum())
    ratio = count * mean * mean / squares if squares > 0 else math.inf  # t² / (count - 1)
    return _log_mean(np.array([_gain(count, ratio, effect) for effect in EFFECTS]))


def _gain(count: int, ratio: float, effect: float) -> float:
    wider = 1 + count * effect * effect
    if math.isinf(ratio):
        return (count - 1) / 2 * math.log(wider)
    return count / 2 * (math.log1p(ratio) - math.log1p(ratio / wider)) - math.log(wider) / 2


def _log_mean(logarithms: npt.NDArray[np.float64]) -> float:
    most = float(logarithms.max())
    return most + math.log(float(np.exp(logarithms - most).mean()))
