# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the statistics with published tables, scipy and simulated truth."""

import itertools

import numpy as np
import pytest
from scipy.stats import wilcoxon

from kadence.base import statistics


def test_median_interval_of_seven_is_all_of_them() -> None:
    # Of 7 ordered samples, [x1, x7] holds the median with probability 1 - 2/128, [x2, x6] with
    # probability 1 - 16/128.
    estimate = statistics.median([5, 1, 4, 2, 7, 3, 6])
    assert (estimate.value, estimate.low, estimate.high) == (4, 1, 7)
    assert estimate.confidence == pytest.approx(1 - 2 / 128)
    assert estimate.count == 7


# Count -> how many samples lie outside the 95 % interval at either end (Conover, table A3).
@pytest.mark.parametrize(
    ("count", "cut"), [(6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (15, 3), (20, 5), (25, 7), (30, 9)]
)
def test_median_interval_cuts_as_the_tables_say(count: int, cut: int) -> None:
    estimate = statistics.median(list(range(count)))
    assert (estimate.low, estimate.high) == (cut, count - 1 - cut)
    assert estimate.confidence >= 0.95


def test_too_few_samples_say_so() -> None:
    estimate = statistics.median([3.0, 1.0, 2.0])
    assert (estimate.value, estimate.low, estimate.high) == (2, 1, 3)
    assert estimate.confidence == pytest.approx(0.75)
    assert statistics.median([1.0]).confidence == 0
    with pytest.raises(ValueError, match="no samples"):
        statistics.median([])


# Count -> largest c with P(W <= c) <= 0.025 (Hollander and Wolfe, table A.4).
@pytest.mark.parametrize(("count", "cut"), [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (15, 25)])
def test_signed_rank_interval_cuts_as_the_tables_say(count: int, cut: int) -> None:
    differences = np.arange(count) ** 2 + 0.5
    pairs = itertools.combinations_with_replacement(differences, 2)
    means = sorted((one + other) / 2 for one, other in pairs)
    estimate = statistics.signed_rank_shift(differences)
    assert (estimate.low, estimate.high) == (means[cut], means[-1 - cut])


def test_a_difference_is_one_exactly_where_wilcoxons_test_says_so() -> None:
    generator = np.random.default_rng(7)
    verdicts = set()
    for shift in np.linspace(0, 0.03, 40):
        reference = generator.normal(1.0, 0.01, 9)
        samples = reference * np.exp(generator.normal(shift, 0.015, 9))
        ratio = statistics.paired_ratio(samples, reference)
        exact = wilcoxon(np.log(samples / reference), method="exact").pvalue
        assert statistics.differs(ratio) == (exact <= 0.05)
        verdicts.add(statistics.differs(ratio))
    assert verdicts == {True, False}


def test_pairing_sees_through_a_common_drift() -> None:
    drift = np.array([1.0, 1.3, 0.8, 2.0, 1.1, 0.9, 1.5])
    ratio = statistics.paired_ratio(0.97 * drift, drift)
    assert ratio.value == pytest.approx(0.97)
    assert statistics.differs(ratio)


def test_intervals_hold_the_truth_as_often_as_they_claim() -> None:
    generator = np.random.default_rng(1)
    trials = 2000
    medians = shifts = 0
    for _ in range(trials):
        skewed = statistics.median(generator.exponential(1.0, 7))
        medians += skewed.low <= np.log(2) <= skewed.high
        shift = statistics.signed_rank_shift(generator.normal(0.0, 1.0, 7))
        shifts += shift.low <= 0 <= shift.high
    # Three standard errors of shares of 2000 trials around 0.984 and 0.953.
    assert medians / trials == pytest.approx(1 - 2 / 128, abs=0.009)
    assert shifts / trials == pytest.approx(1 - 6 / 128, abs=0.015)


def test_equal_samples_do_not_differ() -> None:
    assert not statistics.differs(statistics.paired_ratio([1.0] * 7, [1.0] * 7))


def test_too_few_rounds_never_differ() -> None:
    assert not statistics.differs(statistics.paired_ratio([1.0] * 5, [2.0] * 5))


def test_unpaired_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="equally many"):
        statistics.paired_ratio([1.0], [1.0, 2.0])


def test_each_way_is_first_in_turn() -> None:
    assert [statistics.rotated("abc", number) for number in range(4)] == [
        list("abc"),
        list("bca"),
        list("cab"),
        list("abc"),
    ]


def test_an_estimate_reads_as_in_the_tables() -> None:
    estimate = statistics.Estimate(0.9749, 0.955, 0.98666, 0.95, 20)
    assert str(estimate) == "0.975 (0.955 to 0.987)"
