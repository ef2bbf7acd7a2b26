# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the rows in which a thread mostly waited for another thread.

A loop's behaviour decides, not its name. Two kinds of loops wait: loops that execute `pause` in
every short round, and loops in which no round changes what the next round reads (kbbv/waits.c).
In a program with one thread and no shared memory, such loops do not count as waiting.
"""

import numpy as np
import numpy.typing as npt

from kadence.profiler.format.profile import PAUSES, UNCHANGING, Block, Profile

# The blocks of a waiting loop lie within NEAR bytes of its `pause`, and a round executes at most
# LONGEST_ROUND instructions. libgomp's loops have 7 instructions, glibc's spin lock 5.
NEAR = 64
LONGEST_ROUND = 24
# A block of the loop runs at most this many times as often as the loop's `pause`.
MOST_RUNS = 2
# A row counts as waiting if at least this share of its instructions is in waiting loops.
MOSTLY = 0.5

Mask = npt.NDArray[np.bool_]


def rows(profile: Profile) -> Mask:
    """Return a mask of the rows in which a thread waited; all False if no row computed."""
    share = shares(profile)
    waited = share >= MOSTLY
    computed = (profile.instructions > 0) & ~waited
    return waited if computed.any() else np.zeros_like(waited)


def shares(profile: Profile) -> npt.NDArray[np.float64]:
    """Return, for each row, the share of its instructions in waiting loops."""
    blocks = loops(profile)
    if not blocks:
        return np.zeros(len(profile.instructions))
    lengths = np.array([profile.blocks[number].instructions for number in blocks], dtype=np.float64)
    waited = profile.counts[:, blocks].astype(np.float64) @ lengths
    # A share could exceed 1: an execution that leaves a block early has fewer instructions than
    # the block.
    return np.asarray(np.minimum(waited / np.maximum(profile.instructions, 1), 1.0))


def _has_others(profile: Profile) -> bool:
    facts = profile.facts
    return (facts.threads or 1) > 1 or bool(facts.shared_memory)


def loops(profile: Profile) -> list[int]:
    """Return the numbers of the blocks of waiting loops."""
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
