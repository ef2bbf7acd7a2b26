# SPDX-License-Identifier: GPL-2.0-or-later
"""The executed blocks of a profile, found by function and by line of the source."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.profiler.format.profile import Block, Function, Profile

# What GCC appends to the clones of a function.
CLONE_SUFFIX = re.compile(r"\.(?:constprop|isra|part|cold|lto_priv)(?:\.\d+)?")
# Clones that are a piece of the function, whose entry is not the function's.
PIECE_SUFFIX = re.compile(r"\.(?:part|cold)(?:\.\d+)?")

STRIP = 1 << 22  # entries that are added up at a time

Firings = npt.NDArray[np.float64]


def base_name(symbol: str) -> str:
    """The function a symbol was cloned from."""
    return CLONE_SUFFIX.sub("", symbol)


def same_file(left: str, right: str) -> bool:
    """Whether one path can be the other seen from another directory."""
    first, second = PurePosixPath(left).parts, PurePosixPath(right).parts
    shared = min(len(first), len(second))
    return shared > 0 and first[-shared:] == second[-shared:]


def is_entry(block: Block) -> bool:
    """Whether a function begins with this block (and not only a piece of one)."""
    return block.entry and not PIECE_SUFFIX.search(block.function)


class FunctionLines:
    """Finds the functions that contain a line of the source.

    Templates bring thousands of functions and blocks. So functions are grouped by file name, to
    avoid a search of all of them and repeated splitting of paths for each block.
    """

    def __init__(self, functions: Iterable[Function]) -> None:
        self._by_name: defaultdict[str, list[Function]] = defaultdict(list)
        for function in sorted(functions, key=_line):
            self._by_name[PurePosixPath(function.file).name].append(function)
        self._by_file: dict[str, list[Function]] = {}

    def at(self, file: str, line: int) -> list[Function]:
        """The functions that contain this line; instances of one template share their lines."""
        if file not in self._by_file:
            alike = self._by_name[PurePosixPath(file).name]
            self._by_file[file] = [known for known in alike if same_file(known.file, file)]
        functions = self._by_file[file]
        before = functions[: bisect_right(functions, line, key=_line)]
        return before[bisect_left(before, before[-1].line, key=_line) :] if before else []


def _line(function: Function) -> int:
    return function.line


def main_object(blocks: Iterable[Block]) -> str | None:
    """The object that `main` is in: the program itself."""
    found = {base_name(block.function): block.object for block in reversed(list(blocks))}
    return found.get("main") or found.get("MAIN__")


def own_blocks(profile: Profile, own: str | None) -> list[int]:
    """The blocks of the program: in its object, or in the functions or files it was built from.

    The blocks of an inlined function have another symbol, and those of a static library another
    file.
    """
    names = {function.name for function in profile.functions}
    files = {PurePosixPath(function.file).name for function in profile.functions}
    return [
        number
        for number, block in enumerate(profile.blocks)
        if block.object == own
        or base_name(block.function) in names
        or PurePosixPath(block.file).name in files
    ]


def _totals(counts: sparse.csr_array) -> npt.NDArray[np.float64]:
    """Column sums, strip by strip: converted to floats at once, the matrix would be too large."""
    totals = np.zeros(counts.shape[1])
    for first in range(0, counts.nnz, STRIP):
        part = slice(first, first + STRIP)
        totals += np.bincount(counts.indices[part], counts.data[part], minlength=len(totals))
    return totals


class Source:
    """The executed blocks, by place. A block is identified by its number in the profile."""

    def __init__(self, profile: Profile) -> None:
        self.blocks: Sequence[Block] = profile.blocks
        self.thread = profile.thread
        self.totals = _totals(profile.counts)
        self.by_function: dict[str, list[int]] = defaultdict(list)
        by_file: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number in np.flatnonzero(self.totals > 0).tolist():
            block = self.blocks[number]
            self.by_function[base_name(block.function)].append(number)
            if block.file:
                by_file[PurePosixPath(block.file).name].append((block.line, number))
        self._by_file = {name: sorted(lines) for name, lines in by_file.items()}
        self._column, self._counts = self._own_columns(profile)
        self.by_symbol: dict[str, list[int]] = defaultdict(list)
        for number in sorted(self._column, key=lambda number: self.blocks[number].address):
            if self.totals[number] > 0:
                self.by_symbol[self.blocks[number].function].append(number)

    def _own_columns(self, profile: Profile) -> tuple[dict[int, int], sparse.csc_array]:
        """The column of each block that a marker could be counted at, and these columns' counts.

        The other columns, mostly of libraries, would double the size.
        """
        wanted = own_blocks(profile, self.own_object())
        column = {number: position for position, number in enumerate(wanted)}
        return column, profile.counts[:, wanted].tocsc()

    def fires(self, numbers: Iterable[int]) -> Firings:
        """How often any of these blocks was entered, per row."""
        columns = self._counts[:, [self._column[number] for number in numbers]]
        return np.asarray(columns.sum(axis=1), dtype=np.float64).ravel()

    def of_lines(self, file: str, first: int, end: int) -> list[int]:
        """Executed blocks that begin on a line of this file, from `first` up to before `end`."""
        lines = self._by_file.get(PurePosixPath(file).name, [])
        span = lines[bisect_left(lines, (first, -1)) : bisect_left(lines, (end, -1))]
        return [number for _, number in span if same_file(self.blocks[number].file, file)]

    def has_pieces(self, numbers: Iterable[int]) -> bool:
        """Whether GCC inlined a part of the function, so that its entry misses some calls."""
        return any(".part" in self.blocks[number].function for number in numbers)

    def own_object(self) -> str | None:
        """The object that `main` is in: the program itself."""
        return main_object(self.blocks)
