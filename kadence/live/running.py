# SPDX-License-Identifier: GPL-2.0-or-later
"""The units of the running kernel, which the driver shows below /sys/kernel/kadapt."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from kadence.base.errors import KadenceError, ToolError

UNITS = Path("/sys/kernel/kadapt/units")


@dataclass(frozen=True)
class Unit:
    """An installed unit."""

    name: str
    functions: list[str]


def installed() -> list[Unit]:
    """All units, by name."""
    if not UNITS.is_dir():
        raise ToolError(f"{UNITS} is missing; load a kadapt.ko that was built with units")
    folders = sorted(UNITS.iterdir())
    return [Unit(each.name, (each / "functions").read_text().split()) for each in folders]


def install(module: Path) -> None:
    """Load a unit's module, which installs the unit."""
    installed()
    if not module.is_file():
        raise KadenceError(f"there is no {module}; build it with `kadence live build`")
    _run("insmod", str(module), what=f"{module} was not installed")


def remove(name: str) -> None:
    """Remove a unit and unload its module."""
    names = [unit.name for unit in installed()]
    if name not in names:
        known = ", ".join(names) or "none"
        raise KadenceError(f"no unit {name} is installed; installed are: {known}")
    try:
        (UNITS / name / "installed").write_text("0")
    except OSError as error:
        raise KadenceError(
            f"unit {name} stays: {error.strerror}; the kernel's log says which task is inside"
        ) from error
    _run("rmmod", name, what=f"unit {name} is removed, but its module stays loaded")


def _run(*command: str, what: str) -> None:
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    if completed.returncode:
        said = completed.stderr.strip().splitlines()
        reason = said[-1] if said else f"status {completed.returncode}"
        raise ToolError(f"{what}: {reason}; the kernel's log says why")
