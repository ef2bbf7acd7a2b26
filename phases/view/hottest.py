# SPDX-License-Identifier: GPL-2.0-or-later
"""The blocks in which each interval spent most of its instructions."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.phases.find.vectors import Normalised

MOST = 10
LARGEST_TABLE = 2_000_000  # blocks that the page can hold
STRIP = 4096  # rows sorted at a time, which bounds the memory used

# A key holds a share and its block's number in one integer. No two keys are equal, so every machine
# sorts them alike. Among equal shares the lower block number comes first.
BLOCK_BITS = 28
SHARE_UNITS = 10**10

Keys = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Hottest:
    """Row i has the blocks of interval i, the hottest first. -1 fills short rows."""

    blocks: npt.NDArray[np.int64]
    shares: npt.NDArray[np.float64]


def hottest(normalised: Normalised) -> Hottest:
    """Returns the hottest blocks of every interval: `MOST`, or fewer if the page lacks room."""
    count = normalised.shape[0]
    kept = max(1, min(MOST, LARGEST_TABLE // count))
    strips = (normalised[first : first + STRIP] for first in range(0, count, STRIP))
    keys = np.vstack([_largest(_keys(strip), kept) for strip in strips])
    filled = keys >= 0
    mask = (1 << BLOCK_BITS) - 1
    return Hottest(
        blocks=np.where(filled, mask - (keys & mask), -1),
        shares=np.where(filled, (keys >> BLOCK_BITS) / SHARE_UNITS, 0.0),
    )


def _keys(strip: sparse.csr_matrix) -> Keys:
    """Returns one row of keys for each row of the strip, filled up with -1."""
    lengths = np.diff(strip.indptr)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    position = np.arange(len(owner)) - np.repeat(strip.indptr[:-1], lengths)
    keys = np.full((len(lengths), max(MOST, lengths.max(initial=0))), -1, dtype=np.int64)
    units = np.rint(strip.data * SHARE_UNITS).astype(np.int64)
    keys[owner, position] = (units << BLOCK_BITS) + ((1 << BLOCK_BITS) - 1 - strip.indices)
    return keys


def _largest(keys: Keys, kept: int) -> Keys:
    return np.sort(np.partition(keys, -kept, axis=1)[:, -kept:], axis=1)[:, ::-1]
