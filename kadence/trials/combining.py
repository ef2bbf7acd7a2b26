# SPDX-License-Identifier: GPL-2.0-or-later
"""The effect of an arm over several runs.

Runs differ by more than their blocks tell: another node, another hour. So a run's effect is taken
as drawn around the effect that is wanted. How much the runs differ is Paule and Mandel's estimate
(1982). The interval is that of Hartung and Knapp (2001) and of Sidik and Jonkman (2002), by
Student's t. DerSimonian and Laird's (1986) normal interval holds the truth too rarely if there are
few runs: with five that differ much, in 88 % of cases where 95 % are promised.

Few runs can agree by chance. So the interval is never narrower than the runs' own errors allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadence.base.statistics import CONFIDENCE
from kadence.phases.plan import trials
from kadence.phases.plan.trials import Effect

# A run with few blocks hardly knows its own error. What all runs know counts as so many blocks.
SHARED_BLOCKS = 10
HALVINGS = 60
NORMAL = 1.959964  # half the 95 % interval of a normal distribution, over its standard error

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Combined:
    """An effect over several runs."""

    effect: float
    own_error: float  # from the runs' own errors
    spread_error: float  # from how the runs differ; 0 for one run
    runs: int
    blocks: int

    def half(self, confidence: float = CONFIDENCE) -> float:
        """Half the width of the interval."""
        # Imported here because it takes a third of a second to load.
        from scipy.special import ndtri, stdtrit

        quantile = (1 + confidence) / 2
        if self.runs == 1:
            return float(stdtrit(max(self.blocks - 1, 1), quantile)) * self.own_error
        among = float(stdtrit(self.runs - 1, quantile)) * self.spread_error
        return max(float(ndtri(quantile)) * self.own_error, among)

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        half = self.half(confidence)
        return self.effect - half, self.effect + half

    def as_effect(self) -> Effect:
        """With the standard error that a normal distribution of the same interval has."""
        return trials.effect(self.effect, self.half() / NORMAL, self.blocks)


def combined(runs: Sequence[Effect]) -> Combined:
    """The effect over runs, of which there is at least one."""
    blocks = sum(run.blocks for run in runs)
    if len(runs) == 1:
        return Combined(runs[0].effect, runs[0].error, 0.0, 1, blocks)
    effects = np.array([run.effect for run in runs])
    own = _moderated(runs)
    weights = 1 / (own + _variance_among(effects, own))
    effect = float((weights * effects).sum() / weights.sum())
    squares = (weights * (effects - effect) ** 2).sum() / weights.sum()
    return Combined(
        effect=effect,
        own_error=float(np.sqrt(1 / (1 / own).sum())),
        spread_error=float(np.sqrt(squares / (len(runs) - 1))),
        runs=len(runs),
        blocks=blocks,
    )


def _moderated(runs: Sequence[Effect]) -> Floats:
    """The squares of the runs' errors, drawn towards what the runs have in common (Smyth 2004)."""
    blocks = np.array([run.blocks for run in runs], dtype=np.float64)
    of_block = np.array([run.error**2 for run in runs]) * blocks
    freedom = np.maximum(blocks - 1, 1)
    shared = (of_block * freedom).sum() / freedom.sum()
    moderated: Floats = (SHARED_BLOCKS * shared + freedom * of_block) / (SHARED_BLOCKS + freedom)
    return moderated / blocks


def _variance_among(effects: Floats, own: Floats) -> float:
    """The variance with which the weighted squares are as expected; 0 if they are less anyway."""

    def excess(variance: float) -> float:
        weights = 1 / (own + variance)
        mean = (weights * effects).sum() / weights.sum()
        return float((weights * (effects - mean) ** 2).sum()) - (len(effects) - 1)

    if excess(0.0) <= 0:
        return 0.0
    # With this variance alone, every weighted square is at most its share.
    low, high = 0.0, float(((effects - effects.mean()) ** 2).sum())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high
