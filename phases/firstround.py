# SPDX-License-Identifier: GPL-2.0-or-later
"""How often a loop was entered, from the block that holds its first round.

A superblock runs on through the place where a loop's rounds begin, for nothing ends it there:
so the first round belongs to a block that begins before the loop, and all further rounds to one
that begins at the loop's top. Both end at the same instruction:

    before   mov  xor         ┐ first: 2 + 3 instructions, once for each time it is entered
    top      add  cmp  jne    ┘ ┐ top: 3 instructions, once for every further round
                                ┘

The profile has no lengths in bytes, but that of what the first has more than the top: its
instructions must fill the addresses between the two. That alone could be chance. What proves a
loop is a block in it that ran exactly as often as the two together: in every round, the first
included. Where the top is all of the loop, it is met right after the first round, and nothing
on the loop's lines runs more often.
"""

from bisect import bisect_left
from collections.abc import Sequence, Set

from kadence.phases.source import Firings, Source

# In bytes, on x86_64: what instructions have at most on average, and what aligns a loop's top.
LONGEST_MEAN = 8
PADDING = 10
MOST_NESTED = 16  # loops whose first rounds can share a block


def entries(
    source: Source, own: Sequence[int], region: Sequence[int], symbol: Sequence[int]
) -> Firings | None:
    """Entries per row of the loop that has these blocks in one symbol, or None if none shows.

    `own` are those on lines of this loop alone, `region` those of the loops inside it, too;
    `symbol` is in the order of addresses.
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
    """The likeliest first.

    A block on the loop's own lines can also be the top of a loop around it, which runs less
    often. Where no block begins there, the loop's top comes before those of the loops inside.
    """
    if own:
        return sorted(own, key=lambda number: (-source.totals[number], number))
    return sorted(region, key=lambda number: source.blocks[number].address)


def _running_into(source: Source, top: int, symbol: Sequence[int]) -> list[int]:
    """The blocks that begin before the top and end with it, the nearest first.

    Code is the same wherever it is entered: of two blocks before the top, the first can reach
    it only if the second does.
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
    """All blocks before the top, if the top is all of the loop.

    Then it follows the first round at once, and nothing of the symbol is met between them.
    """
    totals = source.totals
    at_once = not any(min(before) < number < top for number in symbol if number not in before)
    most = all(totals[number] <= totals[top] for number in region)
    return before if at_once and most and totals[top] > totals[before].sum() else []
