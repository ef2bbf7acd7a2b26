# SPDX-License-Identifier: GPL-2.0-or-later
"""A task's note for the epilog: how the task ran, and what it used by the guest's counters."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kadence import boot
from kadence.base import artefact
from kadence.base.errors import ArtefactError
from kadence.slurm.manifest import KernelFile
from kadence.slurm.task import Step

# Longer arguments are not kept: a job may have thousands of tasks.
LONGEST_ARGUMENTS = 16 << 10
MEASURED = (
    "boot_seconds",
    "wall_seconds",
    "user_seconds",
    "system_seconds",
    "voluntary_switches",
    "involuntary_switches",
    "minor_faults",
    "major_faults",
    "max_resident_bytes",
)


def of(
    step: Step, kernel: KernelFile | None, result: boot.Result | None, why: str
) -> dict[str, Any]:
    """Build a note. `kernel` is None for a command that ran plain or not at all; `why` says why."""
    body: dict[str, Any] = {
        "step": step.task.step,
        "task": step.task.number,
        "command": step.command[0],
        "arguments": _arguments(step.command[1:]),
        "target": "none" if kernel is None else "um",
        "program": "adapted" if kernel is not None and step.is_adapted() else "plain",
        "kernel": kernel.id if kernel is not None else None,
        "why": why,
    }
    if result is not None:
        body |= _used(result)
    return body


def _arguments(words: list[str]) -> list[str] | None:
    return words if sum(len(word) + 1 for word in words) <= LONGEST_ARGUMENTS else None


def _used(result: boot.Result) -> dict[str, Any]:
    """The result's figures. As in the plugin's note, the status is 128 beside a signal."""
    return {
        "status": result.status if result.signal is None else 128,
        "signal": result.signal or 0,
        **{name: getattr(result, name) for name in MEASURED},
        "complaints": boot.complaints(result.log),
    }


def leave(path: Path, body: Mapping[str, Any]) -> None:
    """Write a note. If that fails, there is no note: the job's own work must not fail for it."""
    try:
        artefact.write(path, artefact.STEP, None, [], dict(body))
    except (ArtefactError, ValueError):
        return
