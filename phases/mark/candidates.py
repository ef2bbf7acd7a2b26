# SPDX-License-Identifier: GPL-2.0-or-later
"""Places of the program where a marker could stand, and how often each fires in every interval.

A profile counts blocks of the final machine code. The compiler plugin inserts markers into the
source's functions and loops before inlining. Where a function kept its own entry, its firings are
counted there (`exact`). Otherwise they are estimated, and a place that cannot be estimated is
no candidate:

- An outermost loop of a function with an exact entry is entered once in each call.
- Any other loop is counted from its blocks (loops.py).
- An inlined function fires when its first outermost loop is entered. If it has no loop and has
  code on several lines, it fires as often as its most executed block.

The profile of a program that counted itself holds the source's own blocks: named.py.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence

from kadence.phases.describe.marking import FUNCTION_ENTRY
from kadence.phases.describe.source import Firings, Source, is_entry, same_file
from kadence.phases.mark import loops, named
from kadence.phases.mark.candidate import Candidate, of_function
from kadence.profiler.format.profile import COMPILED, Function, Loop, Profile

LAST_LINE = 1 << 31

# Functions of the start-up code, which is not compiled with the program.
START_UP = frozenset(
    {
        "",
        "_start",
        "_init",
        "_fini",
        "frame_dummy",
        "register_tm_clones",
        "deregister_tm_clones",
        "__do_global_dtors_aux",
    }
)


def candidates(profile: Profile) -> Iterator[Candidate]:
    """All places of the program's own functions that fired at least once."""
    source = Source(profile)
    if profile.backend == COMPILED:
        found = named.candidates(profile, source)
    elif profile.functions:
        found = _of_known_functions(profile, source)
    else:
        found = _of_symbols(source)
    return (candidate for candidate in found if candidate.fires.any())


def _of_symbols(source: Source) -> Iterator[Candidate]:
    """The functions of the program's own object, by symbol, if no wrapper built the program."""
    own = source.own_object()
    for name, numbers in source.by_function.items():
        entries = [
            number
            for number in numbers
            if is_entry(source.blocks[number]) and source.blocks[number].object == own
        ]
        if not entries or name in START_UP or source.has_pieces(numbers):
            continue
        block = source.blocks[entries[0]]
        yield Candidate(
            FUNCTION_ENTRY,
            name,
            block.file,
            block.line,
            None,
            None,
            True,
            min(entries),
            source.fires(entries),
        )


def _of_known_functions(profile: Profile, source: Source) -> Iterator[Candidate]:
    # A function in a header was compiled, and recorded, once for each translation unit.
    functions = list(dict.fromkeys(profile.functions))
    ends = _line_ends(functions)
    for function in functions:
        place = _Place(source, function, ends[function.file, function.line])
        yield from place.candidates()


def _line_ends(functions: Sequence[Function]) -> dict[tuple[str, int], int]:
    """Map each function to the line where the next function of its file begins."""
    starts: dict[str, set[int]] = defaultdict(set)
    for function in functions:
        starts[function.file].add(function.line)
    ends = {}
    for file, lines in starts.items():
        ordered = sorted(lines)
        for line in ordered:
            after = bisect_right(ordered, line)
            ends[file, line] = ordered[after] if after < len(ordered) else LAST_LINE
    return ends


class _Place:
    """A function of the program and its loops, as candidates."""

    def __init__(self, source: Source, function: Function, end: int) -> None:
        self.source, self.function, self.end = source, function, end
        own = [
            number
            for number in source.by_function.get(function.name, [])
            if not source.blocks[number].file
            or same_file(source.blocks[number].file, function.file)
        ]
        self.entries = [number for number in own if is_entry(source.blocks[number])]
        self.in_pieces = source.has_pieces(own)
        members = set(own)
        self.inlined = [
            number
            for number in source.of_lines(function.file, function.line, end)
            if number not in members
        ]

    def candidates(self) -> Iterator[Candidate]:
        calls = self._calls()
        if calls is not None:
            order = min(self.entries or self.inlined)
            yield of_function(self.function, None, not self.inlined, order, calls)
        for loop in self._distinct_loops():
            region = self._region(loop)
            entries = self._loop_entries(loop, region)
            if entries is not None:
                yield of_function(self.function, loop, False, min(region), entries)

    def _calls(self) -> Firings | None:
        """Calls per row, of the own body and of the inlined copies; None if not countable."""
        if self.in_pieces or not (self.entries or self.inlined):
            return None
        own = self.source.fires(self.entries)
        if not self.inlined:
            return own
        copies = self._calls_of_copies()
        return None if copies is None else own + copies

    def _calls_of_copies(self) -> Firings | None:
        outermost = [loop for loop in self._distinct_loops() if loop.depth == 1]
        if outermost:
            first = min(outermost, key=lambda loop: loop.line)
            return self._counted(first, set(self.inlined))
        if self.function.loops or not self._begins_blocks():
            return None
        totals = self.source.totals
        return self.source.fires([max(self.inlined, key=lambda block: (totals[block], -block))])

    def _begins_blocks(self) -> bool:
        """Whether the inlined copies can be counted by blocks that begin on the function's lines.

        A function on one line, such as a C++ accessor, is a few instructions in the middle of its
        callers' blocks, which have the callers' lines. A block begins on that line only by chance:
        counted so, LULESH's `qstop` had 60 firings, but it was called 175,000 times.
        """
        return len({self.source.blocks[number].line for number in self.inlined}) > 1

    def _loop_entries(self, loop: Loop, region: Sequence[int]) -> Firings | None:
        if not region:
            return None
        if loop.depth == 1 and self.entries and not self.inlined and not self.in_pieces:
            active = self.source.fires(region) > 0
            return loops.once_per_call(self.source.fires(self.entries), active, self.source.thread)
        return self._counted(loop, None)

    def _counted(self, loop: Loop, among: set[int] | None) -> Firings | None:
        header = self.source.of_lines(self.function.file, loop.line, loop.line + 1)
        region = self._region(loop)
        if among is not None:
            header = [number for number in header if number in among]
            region = [number for number in region if number in among]
        inner = {
            number
            for other in self._distinct_loops()
            if other.depth > loop.depth and other.line > loop.line
            for number in self._region(other)
        }
        own = [number for number in region if number not in inner]
        return loops.counted_entries(self.source, loops.LoopBlocks(header, own, region))

    def _distinct_loops(self) -> list[Loop]:
        """The loops within the function's lines; if loops share a line, only the outermost."""
        by_line: dict[int, Loop] = {}
        for loop in sorted(self.function.loops, key=lambda loop: (loop.depth, loop.index)):
            if self.function.line <= loop.line < self.end:
                by_line.setdefault(loop.line, loop)
        return list(by_line.values())

    def _region(self, loop: Loop) -> list[int]:
        """Blocks on the loop's lines, which end at the next loop that is not inside this one."""
        later = [
            other.line
            for other in self.function.loops
            if other.line > loop.line and other.depth <= loop.depth
        ]
        end = min([*later, self.end])
        return self.source.of_lines(self.function.file, loop.line, end)
