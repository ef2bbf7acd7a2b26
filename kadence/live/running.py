# SPDX-License-Identifier: GPL-2.0-or-later
"""The units of the running kernel.

Those for phases are the driver's, those for everybody are live patches, and copies are modules with
positioned code (kadapt/live/positioned).
"""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base.errors import KadenceError, ToolError
from kadence.live import livepatches

UNITS = Path("/sys/kernel/kadapt/units")
MODULES = Path("/sys/module")
NOTES = Path("/sys/kernel/notes")  # they name the build
ENTERED = "parameters/kadence_entered"  # of a module with copies
PHASES, EVERYBODY, COPIES = "phases", "everybody", "copies"


@dataclass(frozen=True)
class Unit:
    """A unit that is installed."""

    name: str
    kind: str  # PHASES, EVERYBODY or COPIES
    functions: list[str]


def installed() -> list[Unit]:
    """All units, by name."""
    patches = livepatches.installed().items()
    units = [Unit(name, EVERYBODY, functions) for name, functions in patches]
    return sorted(units + _of_driver() + _copies(), key=lambda unit: unit.name)


def _copies() -> list[Unit]:
    return [
        Unit(place.parents[1].name, COPIES, [f"entered at {place.read_text().strip()} functions"])
        for place in MODULES.glob(f"*/{ENTERED}")
    ]


def _of_driver() -> list[Unit]:
    if not UNITS.is_dir():
        return []
    return [
        Unit(folder.name, PHASES, (folder / "functions").read_text().split())
        for folder in UNITS.iterdir()
        if (folder / "installed").read_text().strip() == "1"
    ]


def status(unit: Unit) -> str:
    """Which tasks take the unit now."""
    if unit.kind == EVERYBODY:
        return livepatches.status(unit.name)
    if unit.kind == COPIES:
        return "taken by everybody"
    try:
        takers = (UNITS / unit.name / "takers").read_text().splitlines()
    except PermissionError:
        raise ToolError("only root sees which tasks take a unit; run this as root") from None
    words = [line.partition(" ") for line in takers]
    tasks = ", ".join(f"{pid} ({name})" for pid, _, name in words)
    return f"taken by task {tasks}" if tasks else "taken by no task"


def install(module: Path, parameters: Sequence[str] = ()) -> None:
    """Load a unit's module with parameters NAME=VALUE, which installs the unit."""
    if not module.is_file():
        raise KadenceError(
            f"there is no {module}; make it with `kadence live build` or `kadence live layout`"
        )
    _require_driver(module)
    _require_same_kernel(module)
    _run("insmod", str(module), *parameters, what=f"{module} was not installed")
    livepatches.wait(module.stem, left=livepatches.ORIGINALS)


def _require_driver(module: Path) -> None:
    """Raise ToolError if this is a unit for phases and the kernel has no driver for it."""
    if not UNITS.is_dir() and b"kadapt_unit_install" in module.read_bytes():
        raise ToolError(f"{UNITS} is missing; load a kadapt.ko that was built with units")


def _require_same_kernel(module: Path) -> None:
    """Raise ToolError if the module copies the code of another build of a kernel."""
    content = module.read_bytes()
    if Path(ENTERED).name.encode() in content and NOTES.read_bytes() not in content:
        raise ToolError(
            f"{module} has copies of another kernel's code, or of another build's; make it anew "
            "with `kadence live layout`"
        )


def remove(name: str) -> None:
    """Remove a unit and unload its module, unless the kernel was built with the unit."""
    units = {unit.name: unit for unit in installed()}
    if name not in units:
        known = ", ".join(units) or "none"
        raise KadenceError(f"no unit {name} is installed; installed are: {known}")
    if units[name].kind == EVERYBODY:
        livepatches.disable(name)
    elif units[name].kind == PHASES:
        _remove_from_driver(name)
    if _is_module(name):
        _run("rmmod", name, what=f"unit {name} is removed, but its module stays loaded")


def _remove_from_driver(name: str) -> None:
    try:
        (UNITS / name / "installed").write_text("0")
    except OSError as error:
        raise KadenceError(
            f"unit {name} stays: {error.strerror}; the kernel's log says which task is inside"
        ) from error


def _is_module(name: str) -> bool:
    """Loaded modules have a state; parts of the kernel have not."""
    return (MODULES / name / "initstate").exists()


def _run(*command: str, what: str) -> None:
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    if completed.returncode:
        said = completed.stderr.strip().splitlines()
        reason = said[-1] if said else f"status {completed.returncode}"
        raise ToolError(f"{what}: {reason}; the kernel's log says why")
