# SPDX-License-Identifier: GPL-2.0-or-later
"""How often, and when, a loop was entered, from the counts of its blocks.

Of a loop's machine code, a profile shows the block that ends a round (the latch, on the
header's line) and the block that begins the next round (the top). Whichever way the compiler
rotated the loop, the difference of their counts is the number of times the loop was entered. In

    preheader; do { top … latch } while (more)

the first round begins in the preheader's block, so the top is counted once less for each entry. In

    jump to latch; do { top … latch } while (more)

the latch is counted once more. Since the top follows the latch at once, the difference shows
when the loop is left. The loop was entered where it first ran after its previous exit.

Not seen: loops whose body is a single block (top and latch are one), and a second copy of the
loop inlined in the same function. The count is too low where a block is skipped in fewer rounds
than there are entries: that block is taken for the top.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadence.phases.describe.source import Firings, Source
from kadence.phases.mark import firstround

Active = npt.NDArray[np.bool_]
Threads = npt.NDArray[np.int32]


@dataclass(frozen=True)
class LoopBlocks:
    """The executed blocks of a loop, by their lines."""

    header: Sequence[int]  # on the header's line
    own: Sequence[int]  # on the lines of this loop alone
    region: Sequence[int]  # on its lines and those of the loops inside it


def counted_entries(source: Source, loop: LoopBlocks) -> Firings | None:
    """Return the loop's entries per row, summed over its copies in different functions.

    The result is None if one of the copies cannot be counted.
    """
    headers, owns = _by_symbol(source, loop.header), _by_symbol(source, loop.own)
    entries = np.zeros(len(source.thread))
    for symbol, region in _by_symbol(source, loop.region).items():
        counted = firstround.entries(source, owns[symbol], region, source.by_symbol[symbol])
        if counted is None and headers[symbol]:
            counted = _from_latch_and_top(source, headers[symbol], region)
        if counted is None:
            return None
        entries += counted
    return entries if entries.any() else None


def _from_latch_and_top(
    source: Source, header: Sequence[int], region: Sequence[int]
) -> Firings | None:
    totals = source.totals
    latch = max(header, key=lambda block: (totals[block], -block))
    tops = [block for block in region if totals[block] < totals[latch]]
    if not tops:
        return None
    # Whichever way the loop was rotated, its top first runs after its latch.
    top = max(tops, key=lambda block: (totals[block], block > latch, -block))
    # A block that runs less often than the top may lie before or after the loop.
    inside = [block for block in region if totals[block] >= totals[top]]
    surplus = source.fires([latch]) - source.fires([top])
    return where_entered(surplus, source.fires(inside) > 0, source.thread)


def once_per_call(calls: Firings, active: Active, thread: Threads) -> Firings:
    """Return the entries of an outermost loop: one in each call of its function.

    The entry lies in the first row, from the call's own row on, that shows the loop.
    """
    entries = np.zeros_like(calls)
    waiting = 0.0
    for row in np.flatnonzero((calls > 0) | active).tolist():
        if row == 0 or thread[row] != thread[row - 1]:
            waiting = 0.0
        waiting += calls[row]
        if active[row]:
            entries[row], waiting = waiting, 0.0
    return entries


def _by_symbol(source: Source, numbers: Sequence[int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for number in numbers:
        found[source.blocks[number].function].append(number)
    return found


def where_entered(surplus: Firings, active: Active, thread: Threads) -> Firings:
    """Return a loop's entries per row.

    `surplus` counts its exits in the rows where it was left; `active` marks the rows that show it.
    """
    entries = np.zeros_like(surplus)
    for number in np.unique(thread):
        rows = np.flatnonzero(thread == number)
        left = _times_left(surplus[rows])
        entries[rows] = _entered(left, active[rows])
    return entries


def _times_left(surplus: Firings) -> Firings:
    """How often the loop was left in each row.

    A row that ends between latch and top shows one exit too many, until the next row is counted.
    So each row takes the lowest cumulative sum from that row on.
    """
    settled = np.minimum.accumulate(np.cumsum(surplus)[::-1])[::-1]
    return np.diff(np.maximum(settled, 0.0), prepend=0.0)


def _entered(left: Firings, active: Active) -> Firings:
    """Move each exit of the loop to the row of its entry."""
    entries = np.zeros_like(left)
    rests = _rests(left, active)
    running = False  # entered, and not yet left
    for row in np.flatnonzero(((left > 0) | active) & ~rests).tolist():
        if not running:
            entries[row] += 1
        # Each further exit in this row belongs to an entry in this row.
        entries[row] += max(left[row] - 1, 0.0)
        running = left[row] == 0
    return entries


def _rests(left: Firings, active: Active) -> Active:
    """Rows that hold only the rest of a last round; the row before ended within that round."""
    rests: Active = active & (left == 0)
    rests[1:] &= left[:-1] > 0
    rests[:1] = False
    rests[:-1] &= ~active[1:]
    return rests
