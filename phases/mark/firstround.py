# SPDX-License-Identifier: GPL-2.0-or-later
"""How often a loop was entered, from the block that holds its first round.

Nothing ends a superblock where a loop's rounds begin. So the first round belongs to a block that
begins before the loop, and all further rounds to a block that begins at the loop's top. Both end
at the same instruction:

    before   mov  xor         ┐ first: 2 + 3 instructions, once for each time it is entered
    top      add  cmp  jne    ┘ ┐ top: 3 instructions, once for every further round
                                ┘

The profile holds no lengths of blocks in bytes. But the instructions that `first` has beyond those
of `top` must fill the addresses between the two. That alone could be chance. The proof of a loop
is a block in it that ran exactly as often as the two together: in every round, including the
first. Where the top is the whole loop, the run reaches it right after the first round, and nothing
on the loop's lines runs more often.
"""

from bisect import bisect_left
from collections.abc import Sequence, Set

from kadence.phases.describe.source import Firings, Source

# In bytes, on x86_64: the largest mean length of instructions, and the padding before a top.
LONGEST_MEAN = 8
PADDING = 10
MOST_NESTED = 16  # loops whose first rounds can share a block


def entries(
    source: Source, own: Sequence[int], region: Sequence[int], symbol: Sequence[int]
) -> Firings | None:
    """Return a loop's entries per row from its blocks in one symbol; None if none shows.

    `own` holds the blocks on lines of this loop alone, `region` also those of the loops inside it.
    `symbol` holds the symbol's blocks in the order of addresses.
    """
    seen = set(source.totals[list(region)].tolist())
    for top in _possible_tops(source, own, region):
        before = _running_into(source, top, symbol)
        if before and min(before) < top:
            first = _proven(source, top, before, seen)
            if not first and own:
                first = _alone(source, top, before, region, symbol)
            if first:
                return source.fires(first)
    return None


def _possible_tops(source: Source, own: Sequence[int], region: Sequence[int]) -> list[int]:
    """Return blocks that may be the loop's top, the likeliest first.

    A block on the loop's own lines can also be the top of a loop around it, which runs less
    often. Where no block begins on these lines, the loop's top precedes those of the inner loops.
    """
    if own:
        return sorted(own, key=lambda number: (-source.totals[number], number))
    return sorted(region, key=lambda number: source.blocks[number].address)


def _running_into(source: Source, top: int, symbol: Sequence[int]) -> list[int]:
    """The blocks that begin before the top and end with it, the nearest first.

    Code is the same wherever the run enters it: of two blocks before the top, the first can reach
    the top only if the second does.
    """
    end = source.blocks[top]
    position = bisect_left(symbol, end.address, key=lambda number: source.blocks[number].address)
    found: list[int] = []
    for number in reversed(symbol[max(position - MOST_NESTED, 0) : position]):
        block = source.blocks[number]
        more = block.instructions - end.instructions
        apart = end.address - block.address
        if not 0 < more <= apart <= LONGEST_MEAN * more + PADDING:
            break
        found.append(number)
        end = block
    return found


def _proven(source: Source, top: int, before: list[int], seen: Set[float]) -> list[int]:
    """As many of the blocks before the top as some block of the loop confirms."""
    for count in range(1, len(before) + 1):
        rounds = source.totals[top] + source.totals[before[:count]].sum()
        if float(rounds) in seen:
            return before[:count]
    return []


def _alone(
    source: Source, top: int, before: list[int], region: Sequence[int], symbol: Sequence[int]
) -> list[int]:
    """All blocks before the top, if the top is the whole loop.

    Then the top follows the first round at once: no block of the symbol first ran between them.
    """
    totals = source.totals
    at_once = not any(min(before) < number < top for number in symbol if number not in before)
    most = all(totals[number] <= totals[top] for number in region)
    return before if at_once and most and totals[top] > totals[before].sum() else []
