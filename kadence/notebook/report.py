# SPDX-License-Identifier: GPL-2.0-or-later
"""A report: what `kadence specialize` measured."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kadence.base import artefact
from kadence.notebook import frames

if TYPE_CHECKING:
    import pandas

ENDS = ("effect", "low", "high")


@dataclass(frozen=True)
class Report:
    """A report. `raw` is the whole artefact, and `verdict` its first sentence."""

    path: Path
    raw: dict[str, Any]

    @property
    def verdict(self) -> str:
        """What was gained, in one sentence."""
        return str(self.raw["verdict"]["sentence"])

    def measurements(self) -> "pandas.DataFrame":
        """A row for each run: the kernel, the program (plain or adapted), and its figures.

        Times end with _s, memory with _bytes; switches and faults are numbers.
        """
        rows = [
            {"kernel": cell["kernel"], "program": cell["program"], "round": number}
            | {_with_unit(name): values[number] for name, values in cell["samples"].items()}
            for cell in self.raw["cells"]
            for number in range(len(cell["samples"]["seconds"]))
        ]
        names = list(rows[0]) if rows else ["kernel", "program", "round"]
        return frames.of_rows(([row[name] for name in names] for row in rows), names)

    def comparisons(self) -> "pandas.DataFrame":
        """A row for each comparison: ratios of times with the ends of their intervals."""
        names = ("effect", "ratio", "ratio_low", "ratio_high", "confidence", "says")
        rows = (
            (each["effect"], *_interval(each["seconds"]), each["seconds"]["says"])
            for each in self.raw["comparisons"]
        )
        return frames.of_rows(rows, names)

    def trials(self) -> "pandas.DataFrame":
        """A row for each policy that the runs tried, on each kernel.

        `time_ratio` is the phase's time with the policy over its plain time, with the ends of the
        95 % interval; missing where nothing was measured.
        """
        kept = ("policy", "level", "phase", "outcome", "blocks", "runs", "says", "why")
        rows = (
            (kernel["kernel"], *(arm[name] for name in kept), *(_ratio(arm[end]) for end in ENDS))
            for kernel in (self.raw.get("trials") or {}).get("kernels", [])
            for arm in kernel["arms"]
        )
        ratios = ("time_ratio", "time_ratio_low", "time_ratio_high")
        return frames.of_rows(rows, ("kernel", *kept, *ratios))


def _ratio(effect: float | None) -> float | None:
    """An effect is the logarithm of this ratio."""
    return None if effect is None else math.exp(effect)


def _interval(found: dict[str, Any]) -> tuple[Any, ...]:
    return found["value"], found["low"], found["high"], found["confidence"]


def _with_unit(name: str) -> str:
    """The artefact's `seconds` are those of the whole run."""
    named = "run_seconds" if name == "seconds" else name
    return f"{named.removesuffix('seconds')}s" if named.endswith("seconds") else named


def read_report(path: str | Path) -> Report:
    """Read a report.json."""
    return Report(Path(path), artefact.read(Path(path), artefact.REPORT))
