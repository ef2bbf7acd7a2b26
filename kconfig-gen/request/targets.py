# SPDX-License-Identifier: GPL-2.0-or-later
"""The targets that kernels are built for; the rows are in targets.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kadence.base.errors import UsageError

FOLDER = Path(__file__).resolve().parent
DEFAULT = "um"


@dataclass(frozen=True)
class Target:
    """How to run Kbuild for one target, and which file it produces."""

    name: str
    summary: str
    make_variables: dict[str, str]
    kconfig_variables: dict[str, str]
    generic_goals: list[str]  # make goals of the generic configuration, in order
    smallest_goal: str  # make goal of the smallest configuration
    image_goal: str
    image: str  # below the build folder
    executable: bool  # the image is an ELF executable, to be stripped.
    traceable: bool  # programs can be traced on its kernels
    checkable: bool  # KASAN, KCSAN and two processors work on its kernels.
    mitigations: bool  # its kernels have defences against other users of the processor.
    default_hz: int  # 0: each kind of kernel has its own
    boot_needs: str  # below Kadence's home
    planted_flags: str  # of objects in which places for units are planted
    build_bytes: int  # the most disk space that a build takes


@cache
def known() -> dict[str, Target]:
    """Every target of targets.toml."""
    rows = tomllib.loads((FOLDER / "targets.toml").read_text(encoding="utf-8"))
    return {name: Target(name=name, **row) for name, row in rows.items()}


def get(name: str) -> Target:
    """The target of that name, or an error that lists the known ones."""
    if name not in known():
        raise UsageError(f"target {name!r} is not known; choose from {', '.join(known())}")
    return known()[name]
