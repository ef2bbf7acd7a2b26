# SPDX-License-Identifier: GPL-2.0-or-later
"""The phases of a program's run."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kadence.base import artefact
from kadence.notebook import frames
from kadence.phases.artefact import document

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Phases:
    """The phases of a run, and the phase of each interval. `raw` is the whole artefact."""

    path: Path
    found: document.Document
    raw: dict[str, Any]

    @property
    def program(self) -> tuple[str, ...]:
        """The command that was profiled."""
        return self.found.program

    def assignment(self) -> npt.NDArray[np.int64]:
        """The phase of each interval: shape (intervals,)."""
        return np.asarray(self.found.intervals.assignment, dtype=np.int64)

    def phases(self) -> "pandas.DataFrame":
        """A row for each phase: its kind, its share of all instructions, and what is hottest."""
        rows = (
            (
                phase["id"],
                phase["kind"],
                phase["weight"],
                phase["intervals"],
                phase["representative"],
                phase["hottest"][0]["function"],
            )
            for phase in self.raw["phases"]
        )
        names = ("phase", "kind", "instructions_share", "intervals", "representative", "hottest")
        return frames.of_rows(rows, names)

    def boundaries(self) -> "pandas.DataFrame":
        """A row for each interval with which a phase begins, and the phases around the boundary.

        `before` is missing where a thread begins.
        """
        rows = (
            (boundary["row"], boundary["from"], boundary["to"])
            for boundary in self.raw["boundaries"]
        )
        return frames.of_rows(rows, ("interval", "before", "after"))

    def ranks(self) -> "pandas.DataFrame":
        """A row for each interval of each rank of a parallel program: the rank and the phase.

        A program of one process has the rank 0 only.
        """
        assignment = self.assignment()
        alone = [{"first_row": 0, "intervals": len(assignment)}]
        rows = (
            (rank, interval, assignment[part["first_row"] + interval])
            for rank, part in enumerate(self.raw["ranks"] or alone)
            for interval in range(part["intervals"])
        )
        return frames.of_rows(rows, ("rank", "interval", "phase"))


def read_phases(path: str | Path) -> Phases:
    """Read a P.phases.json."""
    raw = artefact.read(Path(path), artefact.PHASES)
    return Phases(Path(path), document.parse(raw, Path(path)), raw)
