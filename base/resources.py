# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of the built and shipped parts; a checkout and an installation have the same layout."""

import os
import tomllib
from pathlib import Path

from kadence.base.errors import ToolError


def home() -> Path:
    """The tree that holds `build/` and `kadapt/`: $KADENCE_HOME, else this package's tree."""
    named = os.environ.get("KADENCE_HOME")
    return Path(named) if named else Path(__file__).resolve().parent.parent


def is_checkout() -> bool:
    """Whether Kadence's own source is there, from which `make` can build parts."""
    return (home() / "Makefile").exists()


def built(relative: str) -> Path:
    """The path of a built file below `build/`; if it is missing, the error says how to get it."""
    path = home() / "build" / relative
    if not path.exists():
        raise ToolError(f"{path} is missing; {remedy(relative)}")
    return path


def remedy(relative: str) -> str:
    """How to get a file below `build/`: from make in a checkout, elsewhere from a package."""
    if is_checkout():
        return f"run `make {target_of(relative)}` in {home()}"
    package = _first("package", relative) or "kadence"
    return f"install package {package}, or all of Kadence from its source: make install"


def target_of(relative: str) -> str:
    """The Makefile's target that builds a file below `build/`."""
    return _first("part", relative) or "build"


def _first(table: str, relative: str) -> str | None:
    """The name in the first row of a table of parts.toml that has this file."""
    rows = tomllib.loads((Path(__file__).parent / "parts.toml").read_text(encoding="utf-8"))
    for row in rows[table]:
        if any(relative == file or relative.startswith(f"{file}/") for file in row["files"]):
            return str(row["name"])
    return None


def cache_directory() -> Path:
    """The folder that keeps kernels, sources and other files that can be rebuilt."""
    named = os.environ.get("KADENCE_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kadence"
