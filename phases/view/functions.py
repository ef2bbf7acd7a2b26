# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions in which each phase spends its instructions."""

from collections import defaultdict

import numpy as np
from scipy import sparse

from kadence.phases import analysis
from kadence.phases.view.subject import Subject

MOST = 3  # functions named per phase
LEAST_SHARE = 0.005  # of the phase's instructions; a function with less is not worth a line

Shares = list[tuple[str, float]]


def hottest(subject: Subject) -> list[Shares]:
    """Returns the hottest functions of every phase with their shares, at least one per phase."""
    transition = np.zeros(subject.intervals, dtype=np.bool_)
    transition[[*subject.transitions, *subject.waiting]] = True
    phases = len(subject.document.phases)
    in_blocks = analysis.instructions_by_block(
        subject.profile, subject.assignment, transition, phases
    )
    return [_named(subject, row) for row in sparse.csr_matrix(in_blocks)]


def _named(subject: Subject, in_blocks: sparse.csr_matrix) -> Shares:
    shares: defaultdict[str, float] = defaultdict(float)
    total = float(in_blocks.data.sum()) or 1.0
    for block, spent in zip(in_blocks.indices.tolist(), in_blocks.data.tolist(), strict=True):
        shares[subject.profile.blocks[block].function or "unknown code"] += spent / total
    ordered = sorted(shares.items(), key=lambda item: (-round(item[1], 10), item[0]))
    worth = [item for item in ordered if item[1] >= LEAST_SHARE]
    return (worth or ordered)[:MOST]
