# SPDX-License-Identifier: GPL-2.0-or-later
"""What this machine lacks, and the command that installs it."""

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.base.finding import Finding
from kadence.boot import memory
from kadence.prediction import machine, memory_costs

# For a kernel's build tree with its objects, and its source tree (measured: 1.9 GB).
BUILD_BYTES = 3 * 1024**3
# With less memory a guest boots, but most programs do not fit.
GUEST_BYTES = 256 * 1024**2


def examine(build: bool = False) -> Iterator[Finding]:
    """Examine everything, in the order in which a user would fix it.

    With `build`, build a kernel to start a guest with if there is none.
    """
    with (Path(__file__).parent / "doctor.toml").open("rb") as file:
        needs = tomllib.load(file)["need"]
    for need in needs:
        if resources.is_checkout() or not need.get("builds"):
            yield _examine_need(need)
    yield _examine_space(resources.cache_directory(), BUILD_BYTES, "kernels are built there")
    yield _examine_guest_memory()
    yield machine.processors()
    yield memory_costs.examine()
    yield from machine.guests(build)


def _examine_need(need: dict[str, Any]) -> Finding:
    subject = need.get("program") or need["file"]
    if "program" in need:
        present = shutil.which(subject) is not None
    elif subject.startswith("build/"):
        present = (resources.home() / subject).exists()
    else:
        present = any(Path(each).exists() for each in (subject, need.get("instead", subject)))
    if "package" in need:
        remedy = f"apt-get install {need['package']}"
    else:
        remedy = resources.remedy(subject.removeprefix("build/"))
    return Finding(subject, need["why"], present, "" if present else remedy)


def _existing(path: Path) -> Path:
    return next(parent for parent in (path, *path.parents) if parent.exists())


def _examine_space(path: Path, wanted: int, why: str) -> Finding:
    free = shutil.disk_usage(_existing(path)).free
    subject = f"{wanted >> 20} MiB free in {path}"
    remedy = f"only {free >> 20} MiB are free: make room, or set KADENCE_CACHE to another place"
    return Finding(subject, why, free >= wanted, "" if free >= wanted else remedy)


def _examine_guest_memory() -> Finding:
    """Check memory and the place of the file behind it with the code that starts guests."""
    subject = f"{GUEST_BYTES >> 20} MiB of memory for a guest"
    try:
        memory.choose(GUEST_BYTES)
    except KadenceError as error:
        return Finding(subject, "programs run under User-Mode Linux", False, str(error))
    place, otherwise = memory.place()
    why = f"in {place}" + (f", not {otherwise}" if otherwise else "")
    return Finding(subject, f"programs run under User-Mode Linux; {why}", True)
