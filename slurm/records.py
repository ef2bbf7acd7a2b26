# SPDX-License-Identifier: GPL-2.0-or-later
"""The records that epilogs keep of a job: one for each node, with an entry for each task.

An entry joins the notes of a task, of Slurm's plugin and of libkadapt (docs/artefacts-jobs.md). A
killed task leaves less, and the folder with the notes is the user's. So readers trust no entry.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.base import artefact
from kadence.base.errors import UsageError
from kadence.measurement.measure import KERNEL_NAMES, MACHINE

SUFFIX = ".trials"
PLAIN = "none"  # target of a command that ran unadapted on the node's own kernel
PHASE_COUNTS = (
    *("entries", "time_ns", "voluntary_switches", "involuntary_switches"),
    *("minor_faults", "major_faults", "populated_bytes"),
)
IO_COUNTS = ("appends", "bytes")


@dataclass(frozen=True)
class Task:
    """One task's entry."""

    node: str
    entry: Mapping[str, Any]

    @property
    def name(self) -> str:
        """`STEP.TASK`."""
        return f"{self._text('step', '?')}.{self._text('task', '?')}"

    @property
    def command(self) -> str:
        return self._text("command", "?")

    @property
    def arguments(self) -> tuple[str, ...] | None:
        """The command's arguments; None if they were not kept."""
        words = self.entry.get("arguments")
        return tuple(printable(str(word)) for word in words) if isinstance(words, list) else None

    @property
    def target(self) -> str:
        return self._text("target", "?")

    @property
    def is_adapted(self) -> bool:
        return self.entry.get("program") == "adapted"

    @property
    def why(self) -> str:
        return self._text("why", "")

    @property
    def kernel(self) -> str:
        """The kernel that the task ran on."""
        identifier = self._text("kernel", "")
        if self.target == PLAIN:
            return KERNEL_NAMES[MACHINE]
        return f"{self.target} {identifier}".rstrip()

    @property
    def ending(self) -> str:
        """Its status, or the signal that ended it; empty if Slurm's plugin left no note."""
        number = self.number("signal")
        return f"signal {number:.0f}" if number else self._text("status", "")

    @property
    def seconds(self) -> float | None:
        """The time from its start to its end, a guest's boot included; None if unknown."""
        whole = self.number("task_seconds")
        taken = whole if whole is not None else self.sum("boot_seconds", "wall_seconds")
        return taken if taken is not None and taken > 0 else None

    def number(self, key: str) -> float | None:
        value = self.entry.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        return float(value) if math.isfinite(value) else None

    def sum(self, *keys: str) -> float | None:
        """The sum of these numbers; None if one is missing."""
        found = [self.number(key) for key in keys]
        known = [value for value in found if value is not None]
        return sum(known) if len(known) == len(found) else None

    def phases(self) -> dict[int, dict[str, int]]:
        """libkadapt's counters by phase, summed over the task's processes."""
        sums: dict[int, dict[str, int]] = {}
        for process in self._processes():
            for phase in _list(process.get("phases")):
                counted = sums.setdefault(_count(phase, "phase"), dict.fromkeys(PHASE_COUNTS, 0))
                for name in PHASE_COUNTS:
                    counted[name] += _count(phase, name)
        return sums

    def io(self) -> dict[str, int]:
        """Counts of records that took no system call; empty for a program without rings."""
        found = [p["io"] for p in self._processes() if isinstance(p.get("io"), dict)]
        return {name: sum(_count(io, name) for io in found) for name in IO_COUNTS if found}

    def complaints(self) -> list[str]:
        """Lines of the guest's log that a healthy kernel would not write."""
        found = self.entry.get("complaints")
        return [printable(str(line)) for line in found] if isinstance(found, list) else []

    def _processes(self) -> list[Mapping[str, Any]]:
        return _list(self.entry.get("counters"))

    def _text(self, key: str, default: str) -> str:
        value = self.entry.get(key)
        return default if value is None else printable(str(value))


def printable(text: str) -> str:
    """Replace unprintable characters, so that a task's text cannot control a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _list(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _count(entry: Mapping[str, Any], key: str) -> int:
    value = entry.get(key)
    return value if isinstance(value, int) else 0


@dataclass(frozen=True)
class Job:
    """All records of a job."""

    identifier: str
    records: Sequence[Mapping[str, Any]]
    trials: Sequence[Path] = ()  # files of the steps, a file for each step and node

    def tasks(self) -> list[Task]:
        """All tasks, in order of steps and tasks."""
        found = [
            Task(str(record.get("node")), entry)
            for record in self.records
            for entry in _list(record.get("steps"))
        ]
        return sorted(found, key=lambda task: (_natural(task.name), task.node))

    def sentences(self, key: str) -> list[str]:
        """Refusals or notices, each once, with the nodes that reported it."""
        nodes: dict[str, list[str]] = {}
        for record in self.records:
            sentence = record.get(key)
            if isinstance(sentence, str) and sentence:
                nodes.setdefault(sentence, []).append(str(record.get("node")))
        return [f"{', '.join(where)}: {printable(said)}" for said, where in nodes.items()]

    def bundles(self) -> list[Mapping[str, Any]]:
        """The different bundles that its records name."""
        found = {
            json.dumps(record["bundle"], sort_keys=True): record["bundle"]
            for record in self.records
            if isinstance(record.get("bundle"), dict)
        }
        return list(found.values())


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in name.split(".")]


def read(identifier: str, folder: Path) -> Job:
    """The records of a job; UsageError with one sentence if there are none."""
    if not re.fullmatch(r"[0-9]+", identifier):
        raise UsageError(
            f"{identifier!r} is not a job's number; for an array's tasks see `sacct -o JobIDRaw`"
        )
    paths = _paths(identifier, folder)
    found = [path for path in paths if path.suffix == ".json"]
    if not found:
        raise UsageError(
            f"there is no record of job {identifier} in {folder}; either it has not ended, or it "
            "had no bundle, or its records are elsewhere (--records)"
        )
    trials = [path for path in paths if path.suffix == SUFFIX]
    return Job(identifier, [artefact.read(path, artefact.RECORD) for path in found], trials)


def _paths(identifier: str, folder: Path) -> list[Path]:
    try:
        found = sorted((folder / identifier).iterdir())
    except FileNotFoundError:
        return []
    except PermissionError as error:
        raise UsageError(f"the records of job {identifier} are another user's") from error
    return [path for path in found if not path.name.startswith(".")]
