# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of a stream, and the counts that are taken back from them.

A program that counts itself derives some blocks' counts from other counters. Such a count is too
high while a thread is between two counters. If a row ends there and the block is never entered
again, the program notices the excess only at the thread's end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.profiler.format.profile import Block
from kadence.profiler.stream.callstream import Tally


@dataclass(frozen=True)
class Row:
    """One interval of one thread."""

    thread: int
    start: int
    blocks: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    instructions: npt.NDArray[np.int64]
    calls: tuple[Tally, ...]
    begun: int  # nanoseconds of processor time; 0 where intervals are of instructions


def take_back(rows: list[Row], places: Sequence[int], left: dict[int, int]) -> None:
    """Subtract `left`, counts by block, from the rows at these places, beginning with the last.

    No count becomes negative: what a forked child takes back may be in its parent's rows.
    """
    for place in reversed(places):
        left = {block: times for block, times in left.items() if times}
        if not left:
            break
        rows[place] = _less(rows[place], left)


def _less(row: Row, left: dict[int, int]) -> Row:
    """Return the row without as many of the `left` counts as it has; subtract these from `left`."""
    counts, instructions = row.counts.copy(), row.instructions.copy()
    for entry in np.flatnonzero(np.isin(row.blocks, list(left))).tolist():
        block, had = int(row.blocks[entry]), int(counts[entry])
        taken = min(had, left[block])
        counts[entry] -= taken
        instructions[entry] -= int(instructions[entry]) * taken // max(had, 1)
        left[block] -= taken
    stays = counts > 0
    return replace(
        row, blocks=row.blocks[stays], counts=counts[stays], instructions=instructions[stays]
    )


def of_blocks_that_ran(
    blocks: Sequence[Block], rows: Sequence[Row]
) -> tuple[list[Block], list[Row]]:
    """Return the blocks that occur in a row, and the rows with these blocks' new numbers."""
    used = np.zeros(len(blocks), dtype=np.bool_)
    for row in rows:
        used[row.blocks] = True
    number = np.cumsum(used) - 1
    kept = [block for block, ran in zip(blocks, used.tolist(), strict=True) if ran]
    return kept, [replace(row, blocks=number[row.blocks]) for row in rows]


def matrices(rows: Sequence[Row], blocks: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the rows' instructions and counts by block, as sparse matrices."""
    shape = (len(rows), blocks)
    none = np.zeros(0, dtype=np.int64)
    ends = np.cumsum([0, *(row.blocks.size for row in rows)])
    columns = np.concatenate([none, *(row.blocks for row in rows)])
    counts = np.concatenate([none, *(row.counts for row in rows)]).astype(np.float64)
    ran = np.concatenate([none, *(row.instructions for row in rows)]).astype(np.float64)
    return (
        sparse.csr_array((ran, columns, ends), shape=shape),
        sparse.csr_array((counts, columns.copy(), ends.copy()), shape=shape),
    )
