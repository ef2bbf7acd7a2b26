# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics of a few noisy samples: medians, paired differences, and their confidence intervals.

Both intervals are exact for small samples and assume nothing about the distribution's shape. The
interval of a median uses order statistics (Conover, Practical Nonparametric Statistics, 3.2).
Paired differences use Hodges and Lehmann's estimator with Wilcoxon's signed-rank interval
(Hollander and Wolfe, Nonparametric Statistical Methods, 3.2 and 3.3). The interval of a counted
share is Wilson's (Brown, Cai and DasGupta, Statistical Science 16, 2001).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95

Way = TypeVar("Way")


@dataclass(frozen=True)
class Estimate:
    """A value and the interval that holds the truth with at least this confidence."""

    value: float
    low: float
    high: float
    confidence: float  # the interval's true one; lower than requested if samples are too few
    count: int

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def median(samples: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """The median with the narrowest symmetric interval of order statistics that suffices."""
    # Imported here, because SciPy takes half a second to load and few commands have samples.
    from scipy.stats import binom

    ordered = np.sort(np.asarray(samples, dtype=float))
    count = len(ordered)
    if count == 0:
        raise ValueError("no samples")
    # Cutting k samples at each end leaves out the median with probability 2 P(B <= k).
    cut = 0
    while cut + 1 <= (count - 1) // 2 and 1 - 2 * binom.cdf(cut + 1, count, 0.5) >= confidence:
        cut += 1
    coverage = max(0.0, 1 - 2 * float(binom.cdf(cut, count, 0.5)))
    return Estimate(
        float(np.median(ordered)), float(ordered[cut]), float(ordered[-1 - cut]), coverage, count
    )


def share(part: float, whole: float, confidence: float = CONFIDENCE) -> Estimate:
    """The share of a count, if each of the `whole` was counted by chance. Of nothing: 0 to 1."""
    if whole <= 0:
        return Estimate(0.0, 0.0, 1.0, confidence, 0)
    found = part / whole
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (found + z * z / (2 * whole)) / (1 + z * z / whole)
    spread = np.sqrt(found * (1 - found) / whole + (z / (2 * whole)) ** 2) * z / (1 + z * z / whole)
    # Rounding must not exclude the share itself.
    low, high = min(float(middle - spread), found), max(float(middle + spread), found)
    return Estimate(found, max(low, 0.0), min(high, 1.0), confidence, int(whole))


def paired_ratio(
    samples: Sequence[float], reference: Sequence[float], confidence: float = CONFIDENCE
) -> Estimate:
    """The ratio of the samples to the reference, round by round.

    Sample i and reference i were taken in the same round, so a slow drift of the machine affects
    both and cancels out.
    """
    if len(samples) != len(reference):
        raise ValueError("paired samples must be equally many")
    logarithms = np.log(np.asarray(samples, dtype=float)) - np.log(
        np.asarray(reference, dtype=float)
    )
    shift = signed_rank_shift(logarithms, confidence)
    return Estimate(
        float(np.exp(shift.value)),
        float(np.exp(shift.low)),
        float(np.exp(shift.high)),
        shift.confidence,
        shift.count,
    )


def signed_rank_shift(
    differences: npt.NDArray[np.float64] | Sequence[float], confidence: float = CONFIDENCE
) -> Estimate:
    """The median of the pairwise means of the differences, with Wilcoxon's interval."""
    values = np.asarray(differences, dtype=float)
    count = len(values)
    if count == 0:
        raise ValueError("no samples")
    means = _pairwise_means(values)
    tail = np.cumsum(_signed_rank_distribution(count))
    cut = 0
    while cut + 1 <= (len(means) - 1) // 2 and 1 - 2 * tail[cut + 1] >= confidence:
        cut += 1
    coverage = max(0.0, 1 - 2 * float(tail[cut]))
    return Estimate(
        float(np.median(means)), float(means[cut]), float(means[-1 - cut]), coverage, count
    )


def centre(differences: Sequence[float]) -> float:
    """The median of the pairwise means alone, without its interval."""
    return float(np.median(_pairwise_means(np.asarray(differences, dtype=float))))


def _pairwise_means(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    first, second = np.triu_indices(len(values))
    return np.sort((values[first] + values[second]) / 2)


def _signed_rank_distribution(count: int) -> npt.NDArray[np.float64]:
    """The probability of each sum of ranks, if each rank counts with probability one half."""
    chances = np.zeros(count * (count + 1) // 2 + 1)
    chances[0] = 1.0
    for rank in range(1, count + 1):
        shifted = np.zeros_like(chances)
        shifted[rank:] = chances[:-rank]
        chances = (chances + shifted) / 2
    return chances


def rotated(ways: Sequence[Way], number: int) -> list[Way]:
    """The ways of a round, which begins with another one each time."""
    first = number % len(ways)
    return [*ways[first:], *ways[:first]]


def differs(ratio: Estimate, confidence: float = CONFIDENCE) -> bool:
    """Whether a ratio differs from 1 with this confidence."""
    return ratio.confidence >= confidence and not ratio.low <= 1.0 <= ratio.high
