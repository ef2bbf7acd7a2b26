# SPDX-License-Identifier: GPL-2.0-or-later
"""The effect of an arm in one run, from its blocks.

The estimate is Huber's: the value with which the differences, each limited to its block's bound,
sum to 0 (Huber 1964). It is the one that libkadapt decides by (kadapt/lib/decide/evidence.c).

The processes of a parallel program toss the same coins, and their blocks happen together. What
disturbs one often disturbs all. So the standard error lets the blocks of one number vary together
(Liang and Zeger 1986).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadence.phases.plan import trials
from kadence.phases.plan.trials import Effect

WIDEST = 2.0  # effects are looked for up to this, as libkadapt does
HALVINGS = 24
SIGMAS_OF_BOUND = 1.5  # for normal noise, as libkadapt chooses bounds

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Blocks:
    """The blocks of one arm in one run."""

    differences: Floats
    bounds: Floats
    numbers: npt.NDArray[np.int64]  # the place of each block in its process


def joined(processes: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Blocks:
    """The blocks of several processes: the differences and the bounds of each."""
    return Blocks(
        np.array([one for differences, _ in processes for one in differences], dtype=np.float64),
        np.array([one for _, bounds in processes for one in bounds], dtype=np.float64),
        np.array([n for differences, _ in processes for n in range(len(differences))], dtype=int),
    )


def effect_of(blocks: Blocks) -> Effect | None:
    """The effect with its standard error; None without blocks.

    One block has no error of its own. Its bound tells how much plain visits differ.
    """
    moments = int(blocks.numbers.max(initial=-1)) + 1
    if moments < 1:
        return None
    centre = _centre(blocks)
    error = (
        _error(blocks, centre, moments)
        if moments > 1
        else float(np.median(blocks.bounds)) / SIGMAS_OF_BOUND
    )
    return trials.effect(centre, error, blocks.numbers.size)


def _residuals(blocks: Blocks, effect: float) -> Floats:
    limited: Floats = np.clip(blocks.differences - effect, -blocks.bounds, blocks.bounds)
    return limited


def _centre(blocks: Blocks) -> float:
    """The sum falls as the effect rises. Where it is 0 on a stretch, the end nearest to 0."""
    sign = -1 if _residuals(blocks, 0.0).sum() < 0 else 1
    low, high = 0.0, WIDEST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if sign * _residuals(blocks, sign * middle).sum() > 0:
            low = middle
        else:
            high = middle
    return sign * high


def _error(blocks: Blocks, effect: float, moments: int) -> float:
    """The root of the squares of sums, over the residuals within their bounds (Huber 1981, 6.6)."""
    residuals = _residuals(blocks, effect)
    sums = np.bincount(blocks.numbers, weights=residuals)
    within = max(int((np.abs(blocks.differences - effect) < blocks.bounds).sum()), 1)
    return float(np.sqrt((sums**2).sum() * moments / (moments - 1))) / within
