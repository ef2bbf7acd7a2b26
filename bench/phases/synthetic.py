# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes synthetic profiles, whose phases are known because the profile is made from them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.profiler.format.profile import Block, Profile

INTERVAL = 1_000_000
BLOCK_INSTRUCTIONS = 10
RARE_SHARE = 0.005

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Shape:
    """The properties of a synthetic run."""

    intervals: int
    blocks: int = 20_000
    per_interval: int = 300  # blocks that an interval runs.
    phases: int = 8  # the last phase is intermittent: 0.5 % of the intervals, each by itself.
    noise: float = 0.1  # relative noise of every block's share, normally distributed.
    drift: float = 0.1  # share of a phase's instructions that move to other blocks during the run.
    seed: int = 1


def labels_of(shape: Shape) -> Labels:
    """Returns the phase of every interval: visits of uneven length, and a scattered rare phase."""
    generator = np.random.default_rng(shape.seed)
    labels = np.empty(shape.intervals, dtype=np.int64)
    first, phase = 0, 0
    longest = max(shape.intervals // 12, 4)
    while first < shape.intervals:
        length = int(generator.integers(2, longest) ** generator.uniform(0.7, 1.0)) + 2
        labels[first : first + length] = phase % (shape.phases - 1)
        first, phase = first + length, phase + 1
    rare = max(int(shape.intervals * RARE_SHARE), 2)
    labels[np.linspace(2, shape.intervals - 3, rare).astype(np.int64)] = shape.phases - 1
    return labels


def make(shape: Shape, strip: int = 10_000) -> tuple[Profile, Labels]:
    """Returns the profile, and the phase of every interval."""
    labels = labels_of(shape)
    mixtures = _Mixtures(shape)
    parts = [
        mixtures.counts(labels, first, min(first + strip, shape.intervals))
        for first in range(0, shape.intervals, strip)
    ]
    counts = np.concatenate(parts)
    indices = mixtures.blocks[labels].ravel()
    indptr = np.arange(shape.intervals + 1) * shape.per_interval
    size = (shape.intervals, shape.blocks)
    data = counts.ravel()
    entered = sparse.csr_array((data.astype(np.float64), indices, indptr), size)
    ran = sparse.csr_array((data * float(BLOCK_INSTRUCTIONS), indices, indptr), size)
    instructions = counts.sum(axis=1, dtype=np.int64) * BLOCK_INSTRUCTIONS
    return Profile(
        interval=INTERVAL,
        vectors=ran,
        counts=entered,
        instructions=instructions,
        thread=np.ones(shape.intervals, dtype=np.int32),
        start=np.cumsum(instructions) - instructions,
        blocks=_blocks(shape.blocks),
        system_calls=(),
        argv=("synthetic",),
    ), labels


class _Mixtures:
    """The blocks that each phase runs, and how often: its mixture, noise and drift."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.generator = np.random.default_rng(shape.seed + 1)
        # All phases run a third of a phase's blocks, as if these belonged to libraries.
        common = shape.per_interval // 3
        own = shape.per_interval - common
        self.blocks = np.empty((shape.phases, shape.per_interval), dtype=np.int32)
        for phase in range(shape.phases):
            first = common + phase * own % (shape.blocks - shape.per_interval)
            self.blocks[phase] = np.r_[0:common, first : first + own]
        self.share = self.generator.dirichlet(np.ones(shape.per_interval), shape.phases)
        self.target = self.generator.dirichlet(np.ones(shape.per_interval), shape.phases)

    def counts(self, labels: Labels, first: int, end: int) -> npt.NDArray[np.uint32]:
        """Returns how often each interval enters its blocks, at least once each."""
        chosen = labels[first:end]
        progress = np.arange(first, end)[:, np.newaxis] / self.shape.intervals
        wandered = self.shape.drift / 2 * progress
        share = (1 - wandered) * self.share[chosen] + wandered * self.target[chosen]
        share *= 1 + self.shape.noise * self.generator.standard_normal(share.shape)
        entered = np.maximum(share, 0) * (INTERVAL / BLOCK_INSTRUCTIONS)
        return np.asarray(np.maximum(entered, 1).astype(np.uint32))


def _blocks(count: int) -> tuple[Block, ...]:
    return tuple(
        Block(
            address=0x400000 + 64 * number,
            instructions=BLOCK_INSTRUCTIONS,
            function=f"function_{number // 20}",
            file="synthetic.c",
            line=number,
            object="synthetic",
            entry=number % 20 == 0,
        )
        for number in range(count)
    )
