# SPDX-License-Identifier: GPL-2.0-or-later
"""A plan: which policy for which phase, and why."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kadence.base import artefact
from kadence.notebook import frames

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Plan:
    """A plan. `raw` is the whole artefact."""

    path: Path
    raw: dict[str, Any]

    def policies(self) -> "pandas.DataFrame":
        """A row for each phase: its quantum (0: the kernel's own), and the evidence."""
        rows = (
            (policy["phase"], policy["name"], policy["quantum_ns"], policy["evidence"])
            for policy in self.raw["policies"]
        )
        return frames.of_rows(rows, ("phase", "name", "quantum_ns", "evidence"))

    def markers(self) -> "pandas.DataFrame":
        """A row for each place in the program that announces a phase."""
        names = ("phase", "kind", "function", "file", "line", "expected_fires", "evidence")
        rows = ([marker[name] for name in names] for marker in self.raw["markers"])
        return frames.of_rows(rows, names)

    def sites(self) -> "pandas.DataFrame":
        """A row for each place whose calls are adapted: `what` is io or memory."""
        rows = (
            (what, site["phase"], site["function"], site["file"], ", ".join(site["calls"]),
             site["evidence"])
            for what in ("io", "memory")
            for site in self.raw[what]["sites"]
        )  # fmt: skip
        return frames.of_rows(rows, ("what", "phase", "function", "file", "calls", "evidence"))

    def refused(self) -> "pandas.DataFrame":
        """A row for each policy that was considered and not planned, and why."""
        rows = ((each["phase"], each["what"], each["reason"]) for each in self.raw["refused"])
        return frames.of_rows(rows, ("phase", "what", "reason"))


def read_plan(path: str | Path) -> Plan:
    """Read a P.plan.json."""
    return Plan(Path(path), artefact.read(Path(path), artefact.PLAN))
