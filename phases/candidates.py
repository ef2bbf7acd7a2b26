# SPDX-License-Identifier: GPL-2.0-or-later
"""Places of the program where a marker could stand, and how often each fires in every interval.

A profile counts superblocks of the final machine code, markers are inserted in the source's
functions and loops before inlining. Where a function kept its own entry, its firings are
counted there (`exact`). Otherwise they are estimated from the lines of debug information:

- a function that was inlined fires as often as the least executed block of its first line
  that ran;
- a loop of depth 1 fires at most once in each call of its function: at its first sign of life
  after an entry that was counted;
- any other loop fires as often as the least executed block of its header line, because at
  -O2 the block that leads into a loop carries that line.

An estimate is too high where no block of its own leads into a loop, and too low where the
header line also has a block for a rare case (the remainder of a vectorised loop).
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.profiler.profile import Block, Function, Loop, Profile

FUNCTION_ENTRY = "function_entry"
LOOP_PREHEADER = "loop_preheader"

# What GCC appends to the clones of a function.
CLONE_SUFFIX = re.compile(r"\.(?:constprop|isra|part|cold|lto_priv)(?:\.\d+)?")
# Clones that are a piece of the function, whose entry is not the function's.
PIECE_SUFFIX = re.compile(r"\.(?:part|cold)(?:\.\d+)?")

# Functions of the start-up code, which no compilation of the program can mark.
START_UP = frozenset(
    [
        "_start",
        "_init",
        "_fini",
        "frame_dummy",
        "register_tm_clones",
        "deregister_tm_clones",
        "__do_global_dtors_aux",
        "__libc_csu_init",
        "__libc_csu_fini",
    ]
)

Firings = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    """A place for a marker; `order` is when the run first came there, in blocks."""

    kind: str
    function: str
    file: str
    line: int
    loop: int | None
    cfg_checksum: str | None
    exact: bool
    order: int
    fires: Firings  # per row


def candidates(profile: Profile) -> Iterator[Candidate]:
    """All places of the program's own functions that fired at least once."""
    source = _Source(profile)
    found = _of_known_functions(profile, source) if profile.functions else _of_symbols(source)
    return (candidate for candidate in found if candidate.fires.any())


def base_name(symbol: str) -> str:
    """The function a symbol was cloned from."""
    return CLONE_SUFFIX.sub("", symbol)


def same_file(left: str, right: str) -> bool:
    """Whether one path can be the other seen from another directory."""
    first, second = PurePosixPath(left).parts, PurePosixPath(right).parts
    shared = min(len(first), len(second))
    return shared > 0 and first[-shared:] == second[-shared:]


class _Source:
    """The executed blocks of a profile, by function and by line."""

    def __init__(self, profile: Profile) -> None:
        self.blocks: Sequence[Block] = profile.blocks
        self.thread = profile.thread
        self.counts = sparse.csc_matrix(profile.counts, dtype=np.float64)
        self.totals = np.asarray(self.counts.sum(axis=0)).ravel()
        self.by_function: dict[str, list[int]] = defaultdict(list)
        by_file: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number in np.flatnonzero(self.totals > 0).tolist():
            block = self.blocks[number]
            self.by_function[base_name(block.function)].append(number)
            if block.file:
                by_file[PurePosixPath(block.file).name].append((block.line, number))
        self._by_file = {name: sorted(lines) for name, lines in by_file.items()}

    def fires(self, numbers: Iterable[int]) -> Firings:
        """How often any of these blocks was entered, per row."""
        columns = self.counts[:, list(numbers)]
        return np.asarray(columns.sum(axis=1), dtype=np.float64).ravel()

    def of_lines(self, file: str, first: int, end: int) -> list[int]:
        """Executed blocks that begin on a line of this file, from `first` up to before `end`."""
        lines = self._by_file.get(PurePosixPath(file).name, [])
        span = lines[bisect_left(lines, (first, -1)) : bisect_left(lines, (end, -1))]
        return [number for _, number in span if same_file(self.blocks[number].file, file)]

    def least_executed(self, numbers: Sequence[int]) -> int:
        return min(numbers, key=lambda number: (self.totals[number], number))


def _of_symbols(source: _Source) -> Iterator[Candidate]:
    """For a program that no wrapper built: the functions of its own object, by symbol."""
    own = _own_object(source)
    for name, numbers in source.by_function.items():
        entries = [number for number in numbers if _is_entry(source.blocks[number])]
        mine = bool(entries) and source.blocks[entries[0]].object == own
        if not mine or not name or name in START_UP or _has_pieces(source, numbers):
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


def _own_object(source: _Source) -> str | None:
    """The object that `main` is in: the program itself."""
    mains = source.by_function.get("main") or source.by_function.get("MAIN__") or []
    return source.blocks[mains[0]].object if mains else None


def _is_entry(block: Block) -> bool:
    return block.entry and not PIECE_SUFFIX.search(block.function)


def _has_pieces(source: _Source, numbers: Iterable[int]) -> bool:
    """Whether a part of the function was inlined, so that its entry does not see every call."""
    return any(".part" in source.blocks[number].function for number in numbers)


def _of_known_functions(profile: Profile, source: _Source) -> Iterator[Candidate]:
    ends = _line_ends(profile.functions)
    for function in profile.functions:
        end = ends[function.file, function.line]
        entry = _entry_of(source, function, end)
        if entry is not None:
            yield entry
        yield from _loops_of(source, function, end, entry)


def _line_ends(functions: Sequence[Function]) -> dict[tuple[str, int], int]:
    """Where the lines of each function end at the latest: where the next one of its file begins."""
    starts: dict[str, set[int]] = defaultdict(set)
    for function in functions:
        starts[function.file].add(function.line)
    ends = {}
    for file, lines in starts.items():
        ordered = sorted(lines)
        for line in ordered:
            after = bisect_right(ordered, line)
            ends[file, line] = ordered[after] if after < len(ordered) else 1 << 31
    return ends


def _entry_of(source: _Source, function: Function, end: int) -> Candidate | None:
    own = [
        number
        for number in source.by_function.get(function.name, [])
        if not source.blocks[number].file
        or same_file(source.blocks[number].file, function.file)
        or source.blocks[number].entry
    ]
    entries = [number for number in own if _is_entry(source.blocks[number])]
    members = set(own)
    inlined = [
        number
        for number in source.of_lines(function.file, function.line, end)
        if number not in members
    ]
    if _has_pieces(source, own):
        return None
    if not inlined:
        return _entry(function, True, entries, source.fires(entries)) if entries else None
    # The lines came out of the index in rising order.
    first_line = source.blocks[inlined[0]].line
    copy = source.least_executed(
        [number for number in inlined if source.blocks[number].line == first_line]
    )
    return _entry(function, False, [*entries, copy], source.fires([*entries, copy]))


def _entry(function: Function, exact: bool, blocks: Sequence[int], fires: Firings) -> Candidate:
    return Candidate(
        FUNCTION_ENTRY,
        function.name,
        function.file,
        function.line,
        None,
        function.cfg_checksum,
        exact,
        min(blocks),
        fires,
    )


def _loops_of(
    source: _Source, function: Function, end: int, entry: Candidate | None
) -> Iterator[Candidate]:
    seen_lines: set[int] = set()
    for loop in sorted(function.loops, key=lambda loop: (loop.depth, loop.index)):
        # Of loops on one line the debug information shows only the outermost.
        if loop.line in seen_lines or not function.line <= loop.line < end:
            continue
        seen_lines.add(loop.line)
        numbers = source.of_lines(function.file, loop.line, loop.line + 1)
        if numbers:
            yield _preheader(source, function, loop, numbers, entry)


def _preheader(
    source: _Source,
    function: Function,
    loop: Loop,
    numbers: Sequence[int],
    entry: Candidate | None,
) -> Candidate:
    fires = source.fires([source.least_executed(numbers)])
    if loop.depth == 1 and entry is not None and entry.exact:
        fires = _once_per_entry(entry.fires, source.fires(numbers) > 0, source.thread)
    return Candidate(
        LOOP_PREHEADER,
        function.name,
        function.file,
        loop.line,
        loop.index,
        function.cfg_checksum,
        False,
        min(numbers),
        fires,
    )


def _once_per_entry(
    entries: Firings, active: npt.NDArray[np.bool_], thread: npt.NDArray[np.int32]
) -> Firings:
    """Let every entry of the function fire in the first row, from there on, that shows the loop."""
    fires = np.zeros_like(entries)
    waiting = 0.0
    for row in np.flatnonzero((entries > 0) | active).tolist():
        if row == 0 or thread[row] != thread[row - 1]:
            waiting = 0.0
        waiting += entries[row]
        if active[row]:
            fires[row], waiting = waiting, 0.0
    return fires
