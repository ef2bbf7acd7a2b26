# SPDX-License-Identifier: GPL-2.0-or-later
"""Sequential tests err no more often than they say, and find what is there; truth is simulated."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats

from kadence.base import sequential

ERROR = 0.05
LOOKS = 30
TRIALS = 250

Noise = Callable[[np.random.Generator, int], np.ndarray]
NOISES: dict[str, Noise] = {
    "normal": lambda generator, count: generator.normal(0.0, 1.0, count),
    "heavy tails": lambda generator, count: generator.standard_t(3, count),
    "some rounds disturbed": lambda generator, count: (
        generator.normal(0.0, 1.0, count) * np.where(generator.random(count) < 0.15, 8.0, 1.0)
    ),
    "two values": lambda generator, count: generator.choice([-1.0, 1.0], count),
}


def first_look(differences: np.ndarray, bound: float = 0.0, error: float = ERROR) -> int | None:
    """The number of samples after which the test first says that they lie below the bound."""
    for count in range(1, len(differences) + 1):
        if sequential.surely_below(differences[:count].tolist(), bound, error):
            return count
    return None


@pytest.mark.parametrize("noise", NOISES)
def test_looking_after_every_sample_errs_as_rarely_as_promised(noise: str) -> None:
    generator = np.random.default_rng(11)
    errs = sum(first_look(NOISES[noise](generator, LOOKS)) is not None for _ in range(TRIALS))
    # Three standard errors above the promise.
    assert errs / TRIALS <= ERROR + 3 * math.sqrt(ERROR * (1 - ERROR) / TRIALS)


def test_a_fixed_interval_would_err_more_often() -> None:
    """The reason for this module: a t-test after every sample is wrong far too often."""
    generator = np.random.default_rng(11)
    errs = 0
    for _ in range(TRIALS):
        samples = generator.normal(0.0, 1.0, LOOKS)
        looks = range(4, LOOKS + 1)
        errs += any(
            stats.ttest_1samp(samples[:count], 0.0, alternative="less").pvalue < ERROR
            for count in looks
        )
    assert errs / TRIALS > 2 * ERROR


@pytest.mark.parametrize(("effect", "most"), [(1.0, 30), (2.0, 12), (50.0, 5)])
def test_an_effect_is_found_in_few_samples(effect: float, most: int) -> None:
    generator = np.random.default_rng(3)
    looks = [first_look(generator.normal(-effect, 1.0, LOOKS), error=ERROR / 8) for _ in range(60)]
    found = [look for look in looks if look is not None and look <= most]
    assert len(found) >= 48


def test_the_bound_and_the_direction_count() -> None:
    samples = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 1.02, 0.98]
    assert sequential.surely_below(samples, 2.0, ERROR)
    assert not sequential.surely_below(samples, 1.0, ERROR)
    assert not sequential.surely_below(samples, 0.0, ERROR)
    assert sequential.surely_above(samples, 0.0, ERROR)
    assert not sequential.surely_above(samples, 2.0, ERROR)


def test_too_few_samples_say_nothing() -> None:
    for samples in ([], [-1.0], [-1.0, -1.0], [-1.0] * 4):
        assert not sequential.surely_below(samples, 0.0, ERROR / 8)
    assert sequential.span([], ERROR) == sequential.Span(-math.inf, math.inf)


def test_equal_samples_differ_from_no_bound_that_they_equal() -> None:
    assert not sequential.surely_below([0.0] * LOOKS, 0.0, ERROR)
    assert not sequential.surely_above([0.0] * LOOKS, 0.0, ERROR)


def test_a_span_holds_the_truth_at_all_looks_and_shrinks() -> None:
    generator = np.random.default_rng(5)
    missed, widths = 0, []
    for _ in range(60):
        samples = generator.normal(0.3, 1.0, LOOKS).tolist()
        spans = [sequential.span(samples[:count], ERROR) for count in (9, 16, LOOKS)]
        missed += not all(span.low <= 0.3 <= span.high for span in spans)
        widths.append([span.high - span.low for span in spans])
    assert missed <= 8
    assert np.median(widths, axis=0).tolist() == sorted(np.median(widths, axis=0), reverse=True)


def test_a_span_ends_where_the_test_begins_to_speak() -> None:
    samples = np.random.default_rng(9).normal(0.0, 1.0, 20).tolist()
    span = sequential.span(samples, ERROR)
    assert sequential.surely_below(samples, span.high + 1e-6, ERROR / 2)
    assert not sequential.surely_below(samples, span.high - 1e-6, ERROR / 2)
    assert sequential.surely_above(samples, span.low - 1e-6, ERROR / 2)


def test_the_mixture_is_the_likelihood_ratio_that_integration_gives() -> None:
    """The ratio of noncentral to central t densities, averaged over normal effects."""
    samples = np.array([-1.2, -0.3, -0.8, 0.1, -0.9])
    count = len(samples)
    t = math.sqrt(count) * samples.mean() / samples.std(ddof=1)

    def ratio(effect: float, spread: float) -> float:
        density = stats.nct.pdf(t, count - 1, effect * math.sqrt(count))
        return float(density * stats.norm.pdf(effect, scale=spread))

    found = []
    for spread in sequential.EFFECTS:
        area, _ = integrate.quad(ratio, -60, 60, args=(spread,), limit=400, points=[-1, 0, 1])
        found.append(area / stats.t.pdf(t, count - 1))
    assert math.exp(sequential._by_size(samples)) == pytest.approx(np.mean(found), rel=1e-3)


def test_a_bet_on_signs_at_most_doubles_the_capital() -> None:
    assert sequential._by_signs(np.full(10, -1.0)) <= 10 * math.log(2)
    assert sequential._by_signs(np.full(10, -1.0)) > 8 * math.log(2)
