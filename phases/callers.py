# SPDX-License-Identifier: GPL-2.0-or-later
"""Which functions of the program write, or read, in a phase, as far as a profile of blocks tells.

The profile counts how often the C library's functions were entered, interval by interval,
but not from where. A call is in a block, and what follows it begins another, which cannot run more
often than the function was called; so functions are taken whose blocks ran about as often as the
calls, in the intervals that have calls. Too many are taken rather than too few: in a function
without such a call there is nothing to redirect.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadence.phases import io_calls
from kadence.phases.segmentation import Segmentation
from kadence.phases.source import FunctionLines, base_name, main_object, own_blocks
from kadence.profiler.profile import Block, Profile

# A block that runs in less than this share of the calls is no place to look at.
SMALLEST_SHARE = 0.05

Counts = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Direction:
    """To write, or to read: how that shows in a profile."""

    names: frozenset[str]  # of the C library's functions
    stream_marks: tuple[str, ...]  # what streams call theirs (mangled names)


WRITING = Direction(
    io_calls.WRITING,
    ("basic_filebuf", "basic_ostream", "stdio_filebuf", "__ostream", "_gfortran_st_wri"),
)
# What C's own streams write is redirected by name; what they read is not.
READING = Direction(
    io_calls.READING,
    ("basic_filebuf", "basic_istream", "stdio_filebuf", "_gfortran_st_rea", "_IO_file_read"),
)


@dataclass(frozen=True, order=True)
class Place:
    """A function of the program; where its symbol is all that is known, without the rest."""

    function: str
    file: str = ""
    cfg_checksum: str = ""

    def described(self) -> dict[str, object]:
        """As the phases artefact has it."""
        return {
            "function": self.function,
            "file": self.file or None,
            "cfg_checksum": self.cfg_checksum or None,
        }


@dataclass(frozen=True)
class Callers:
    """What wrote, or read, in one phase."""

    calls: dict[str, int]  # of the C library's functions
    functions: dict[Place, int]  # how often a block of it ran
    streams: bool  # streams whose calls are not redirected by name were among them

    def described(self) -> dict[str, object]:
        """As the phases artefact has it."""
        return {
            "calls": [{"name": name, "count": count} for name, count in sorted(self.calls.items())],
            "functions": [
                place.described() | {"count": count}
                for place, count in sorted(self.functions.items())
            ],
            "streams": self.streams,
        }


def of_phases(profile: Profile, segmentation: Segmentation, direction: Direction) -> list[Callers]:
    """The callers of every phase."""
    finder = _Finder(profile, direction)
    return [
        finder.of_rows(np.flatnonzero((segmentation.assignment == phase) & finder.busy))
        for phase in range(len(segmentation.representatives))
    ]


class _Finder:
    def __init__(self, profile: Profile, direction: Direction) -> None:
        self._profile = profile
        self._stream_marks = direction.stream_marks
        self._lines = FunctionLines(profile.functions)
        self._own = own_blocks(profile, main_object(profile.blocks))
        own = set(self._own)
        self._calling = {
            number: name
            for number, block in enumerate(profile.blocks)
            if block.entry and number not in own
            for name in [io_calls.library_name(block.function)]
            if name is not None and name in direction.names
        }
        made = profile.counts[:, list(self._calling)].sum(axis=1)
        self.busy = np.asarray(made).ravel() > 0  # by interval

    def of_rows(self, rows: npt.NDArray[np.int64]) -> Callers:
        """What called in these intervals, all of which have calls."""
        if len(rows) == 0:
            return Callers({}, {}, False)
        ran = np.asarray(self._profile.counts[rows].sum(axis=0), dtype=np.float64).ravel()
        calls: defaultdict[str, int] = defaultdict(int)
        for number, name in self._calling.items():
            if ran[number] > 0:
                calls[name] += int(ran[number])
        total = sum(calls.values())
        return Callers(
            calls=dict(calls),
            functions=self._functions(ran, SMALLEST_SHARE * total, total + len(rows)),
            streams=self._has_streams(ran, SMALLEST_SHARE * total),
        )

    def _functions(self, ran: Counts, least: float, most: float) -> dict[Place, int]:
        found: dict[Place, int] = {}
        for number in self._own:
            if least <= ran[number] <= most:
                place = self._function_of(self._profile.blocks[number])
                if place is not None:
                    found[place] = max(found.get(place, 0), int(ran[number]))
        return found

    def _has_streams(self, ran: Counts, least: float) -> bool:
        return any(
            ran[number] >= least and any(mark in block.function for mark in self._stream_marks)
            for number, block in enumerate(self._profile.blocks)
        )

    def _function_of(self, block: Block) -> Place | None:
        """By the line, because what was inlined has another function's symbol."""
        for known in self._lines.at(block.file, block.line):
            return Place(known.name, known.file, known.cfg_checksum)
        # The file of the line need not be that of the function: it may be a header's.
        return Place(base_name(block.function)) if block.function else None
