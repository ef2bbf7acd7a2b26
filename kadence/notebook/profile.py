# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile: basic-block vectors, system calls and memory by interval."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.notebook import frames
from kadence.phases.find import vectors
from kadence.profiler import kprof
from kadence.profiler.format import profile as recorded

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Profile:
    """A profile in memory. Row i of everything is interval i, thread after thread."""

    path: Path
    recorded: recorded.Profile

    @property
    def program(self) -> tuple[str, ...]:
        """The command that was profiled."""
        return self.recorded.argv

    def vectors(self) -> sparse.csr_array:
        """Instructions by interval and block: intervals x blocks, integers."""
        return self.recorded.vectors.tocsr()

    def distances(self, rows: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.float64]:
        """Manhattan distances between intervals whose vectors are scaled to sum 1.

        Shape n x n, without unit, 0 (the same) to 2 (nothing in common). `rows` chooses intervals:
        all n x n numbers of a long profile do not fit into memory.
        """
        normalised = vectors.Normalised.of(self.recorded)
        return vectors.among(normalised[slice(None) if rows is None else rows])

    def intervals(self) -> "pandas.DataFrame":
        """A row for each interval: its thread, where it begins, its length, and its calls."""
        found = self.recorded
        calls = np.zeros(len(found.instructions), dtype=np.int64)
        moved = np.zeros_like(calls)
        for call in found.system_calls:
            calls[call.interval] += call.count
            moved[call.interval] += call.bytes
        return frames.of_columns(
            {
                "interval": np.arange(len(calls)),
                "thread": found.thread,
                "start_instructions": found.start,
                "instructions": found.instructions,
                "system_calls": calls,
                "transferred_bytes": moved,
            }
        )

    def blocks(self) -> "pandas.DataFrame":
        """A row for each basic block: where it is, its length, and what it executed in all."""
        whole = np.asarray(self.vectors().sum(axis=0)).ravel()
        rows: list[tuple[Any, ...]] = [
            (number, block.function, block.file, block.line, block.object, block.instructions)
            for number, block in enumerate(self.recorded.blocks)
        ]
        names = ("block", "function", "file", "line", "object", "length_instructions")
        return frames.of_rows(rows, names).assign(instructions=whole)

    def system_calls(self) -> "pandas.DataFrame":
        """A row for each kind of call in an interval: its name, descriptor, number and bytes."""
        rows = (
            (call.interval, call.name, call.descriptor, call.count, call.bytes)
            for call in self.recorded.system_calls
        )
        return frames.of_rows(
            rows, ("interval", "name", "descriptor", "calls", "transferred_bytes")
        )

    def touched_pages(self) -> "pandas.DataFrame":
        """A row for each mapping in an interval: the pages that were touched first there."""
        memory = self.recorded.memory
        rows = (
            (touch.interval, touch.mapping, memory.mappings[touch.mapping].kind, touch.pages)
            for touch in memory.touches
        )
        return frames.of_rows(rows, ("interval", "mapping", "kind", "touched_pages"))


def read_profile(path: str | Path) -> Profile:
    """Read a P.kprof."""
    return Profile(Path(path), kprof.read(Path(path)))
