# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows in which a thread mostly spun: it waited for another, and computed nothing.

By behaviour, not by name. Two kinds of loops wait: those that execute `pause` in every short round,
and those of which no round changes what the next one reads (kbbv/waits.c). Neither says anything
where there is nobody to wait for.
"""

import numpy as np
import numpy.typing as npt

from kadence.profiler.profile import PAUSES, UNCHANGING, Block, Profile

# A loop that waits has its blocks within so many bytes of `pause`, and so many instructions a
# round: 7 of libgomp's, 5 of a lock of glibc's.
NEAR = 64
LONGEST_ROUND = 24
# A block of the loop runs about as often as its `pause`.
MOST_RUNS = 2
# From this share of its instructions on a row is waiting.
MOSTLY = 0.5

Mask = npt.NDArray[np.bool_]


def rows(profile: Profile) -> Mask:
    """The rows in which a thread waited."""
    share = shares(profile)
    waited = share >= MOSTLY
    computed = (profile.instructions > 0) & ~waited
    return waited if computed.any() else np.zeros_like(waited)


def shares(profile: Profile) -> npt.NDArray[np.float64]:
    """Of each row, the share of its instructions in loops that wait."""
    blocks = loops(profile)
    if not blocks:
        return np.zeros(len(profile.instructions))
    lengths = np.array([profile.blocks[number].instructions for number in blocks], dtype=np.float64)
    waited = profile.counts[:, blocks].astype(np.float64) @ lengths
    # A block that is left early has fewer instructions than its length.
    return np.asarray(np.minimum(waited / np.maximum(profile.instructions, 1), 1.0))


def _has_others(profile: Profile) -> bool:
    facts = profile.facts
    return int(facts.get("threads", 1)) > 1 or bool(facts.get("shared_memory", False))


def loops(profile: Profile) -> list[int]:
    """The blocks of loops that wait."""
    if not _has_others(profile):
        return []
    ran = np.asarray(profile.counts.sum(axis=0), dtype=np.float64).ravel()
    found = {
        number
        for number, block in enumerate(profile.blocks)
        if block.waits & UNCHANGING and ran[number] > 0
    }
    pausing = [
        number
        for number, block in enumerate(profile.blocks)
        if block.waits & PAUSES and ran[number] > 0
    ]
    for pause in pausing:
        loop = [
            number
            for number, block in enumerate(profile.blocks)
            if 0 < ran[number] <= MOST_RUNS * ran[pause] and _is_near(block, profile.blocks[pause])
        ]
        spent = sum(ran[number] * profile.blocks[number].instructions for number in loop)
        if spent <= LONGEST_ROUND * ran[pause]:
            found.update(loop)
    return sorted(found)


def _is_near(block: Block, pause: Block) -> bool:
    return (
        abs(block.address - pause.address) <= NEAR
        and block.object == pause.object
        and block.function == pause.function
    )
