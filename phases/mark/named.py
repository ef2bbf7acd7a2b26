# SPDX-License-Identifier: GPL-2.0-or-later
"""Places of a program that counted itself: its blocks are named as the compiler will find them.

A block's name is its function, the checksum of that function's CFG, and its index there, given
before anything was inlined. So source lines are not needed. A function is entered as often as the
block that begins it, and a loop as often as the block that leads into it, wherever they were
inlined. If that block may also skip the loop, the place fires then, too: the marker stands before
the decision.

The counts may include a block that a thread was about to run when the interval ended. So, in a run
of several intervals, a place may have one firing too many in each thread.

A block that leads only into a loop often just sets a variable to a constant; then the compiler may
leave nothing of it to count. But a loop's header is entered only from that block or from the
latches, so the counts of header and latches give that block's count.

These are no candidates: functions that begin with a loop, loops that are entered from several
blocks, and blocks of which two counts differ.
"""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from kadence.phases.describe.source import Firings, Source
from kadence.phases.mark import loops
from kadence.phases.mark.candidate import Candidate, of_function
from kadence.profiler.format.profile import Function, Loop, Profile

Name = tuple[str, str, str, int | None]  # function, file, checksum, index


def candidates(profile: Profile, source: Source) -> Iterator[Candidate]:
    """The entries of the program's functions and the blocks before their loops."""
    by_name: dict[Name, list[int]] = defaultdict(list)
    for numbers in source.by_function.values():
        for number in numbers:
            block = source.blocks[number]
            by_name[block.function, block.file, block.checksum, block.index].append(number)
    # A function in a header was compiled, and recorded, once for each translation unit.
    for function in dict.fromkeys(profile.functions):
        yield from _Named(source, by_name, function).candidates()


class _Named:
    """A function of the program, as blocks of its CFG."""

    def __init__(self, source: Source, by_name: dict[Name, list[int]], function: Function) -> None:
        self.source, self.function = source, function
        name = (function.name, function.file, function.cfg_checksum)
        self.numbers = {
            index: by_name[*name, index] for index in self._wanted() if (*name, index) in by_name
        }

    def candidates(self) -> Iterator[Candidate]:
        # If one block leads into several loops, the outermost is entered first.
        ordered = sorted(self.function.loops, key=lambda loop: (loop.depth, loop.index))
        behind = {loop.before: loop for loop in reversed(ordered) if loop.latches}
        for loop in (None, *ordered):
            block = self.function.entry if loop is None else loop.before
            fires = None if block is None else self._fires(block, behind.get(block))
            if block is not None and fires is not None:
                order = min(min(numbers) for numbers in self.numbers.values())
                yield of_function(self.function, loop, True, order, fires, block)

    def _wanted(self) -> set[int | None]:
        found = {self.function.entry}
        for loop in self.function.loops:
            found |= {loop.before, loop.header, *loop.latches}
        return found

    def _fires(self, block: int, behind: Loop | None) -> Firings | None:
        """How often a block was entered, by its own count and by the count of the loop behind it.

        None if neither count exists, or if the two differ: then a copy lost one of them.
        """
        own = self._counted(block) if block in self.numbers else None
        if behind is None or not all(latch in self.numbers for latch in behind.latches):
            return own
        told = self._entries(behind)
        return told if own is None or self._are_alike(own.sum(), told.sum()) else None

    def _are_alike(self, one: float, other: float) -> bool:
        return abs(one - other) <= len(np.unique(self.source.thread))

    def _counted(self, block: int | None) -> Firings:
        return self.source.fires(self.numbers.get(block, []))

    def _entries(self, loop: Loop) -> Firings:
        """How often a loop was entered: its rounds, less those that follow another round.

        Counts derived from other counts may be ahead by one in each thread, for the block that it
        is about to run, and so may their sum. If the rows where the loop began to run give as many
        entries, these are used.
        """
        rounds = self._counted(loop.header)
        again = np.sum([self._counted(latch) for latch in loop.latches], axis=0)
        thread = self.source.thread
        active = again > 0
        found = np.where(active, loops.where_entered(rounds - again, active, thread), 0.0)
        if self._are_alike(found.sum(), rounds.sum() - again.sum()):
            return found
        return _never_less(rounds - again, thread)


def _never_less(surplus: Firings, thread: npt.NDArray[np.int32]) -> Firings:
    """What each row adds to its thread's largest sum so far; a row may end between two counts."""
    added = np.zeros_like(surplus)
    for number in np.unique(thread):
        rows = thread == number
        most = np.maximum.accumulate(np.cumsum(surplus[rows]))
        # The thread's end bounds the sum: by then everything is counted.
        added[rows] = np.diff(np.clip(most, 0.0, surplus[rows].sum()), prepend=0.0)
    return added
