# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions in which each phase spends its instructions."""

from collections import defaultdict

import numpy as np
from scipy import sparse

from kadence.phases.view.subject import Subject

MOST = 3  # that are named
LEAST_SHARE = 0.005  # of the phase's instructions; what has less is not worth a line

Shares = list[tuple[str, float]]


def hottest(subject: Subject) -> list[Shares]:
    """For every phase its hottest functions with their share, one at least."""
    rows = np.setdiff1d(np.arange(subject.intervals), subject.transitions)
    instructions = subject.profile.instructions[rows].astype(np.float64)
    by_phase = sparse.csr_matrix(
        (instructions, (subject.assignment[rows], rows)),
        shape=(len(subject.raw["phases"]), subject.intervals),
    )
    in_blocks = np.zeros((by_phase.shape[0], subject.normalised.shape[1]))
    for strip, vectors in subject.normalised.strips():
        in_blocks += (by_phase[:, strip] @ vectors).toarray()
    return [_named(subject, row) for row in sparse.csr_matrix(in_blocks)]


def _named(subject: Subject, in_blocks: sparse.csr_matrix) -> Shares:
    shares: defaultdict[str, float] = defaultdict(float)
    total = float(in_blocks.data.sum()) or 1.0
    for block, spent in zip(in_blocks.indices.tolist(), in_blocks.data.tolist(), strict=True):
        shares[subject.profile.blocks[block].function or "unknown code"] += spent / total
    ordered = sorted(shares.items(), key=lambda item: (-round(item[1], 10), item[0]))
    worth = [item for item in ordered if item[1] >= LEAST_SHARE]
    return (worth or ordered)[:MOST]
