# SPDX-License-Identifier: GPL-2.0-or-later
"""The sources of units: their names, and the files that they are compiled with."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import KadenceError

NAME = re.compile(r"[a-z][a-z0-9_]{0,46}")
# Symbols that the macros of kadence/unit.h leave undefined, and what they stand for.
ORIGINAL = "kadence_original_"
FUNCTION = "kadence_function_"
# Functions that the macros make.
VARIANT, BEFORE = "kadence_variant_", "kadence_before_"
# The author's headers and Kbuild's flags, below include().
FILES = tuple(Path("kadence", name) for name in ("unit.h", "shadow.h", "caller.h", "unit.mk"))


def include() -> Path:
    """The folder from which units include kadence/unit.h."""
    return resources.home() / "kadapt/live/include"


def name_of(source: Path) -> str:
    """The unit's name; raises KadenceError if this is not the source of a unit."""
    if source.suffix != ".c" or not NAME.fullmatch(source.stem):
        raise KadenceError(
            f"{source} is not the source of a unit; its name must be small letters, digits and "
            "underscores, and end in .c"
        )
    if not source.is_file():
        raise KadenceError(f"there is no file {source}; name the source of a unit")
    return source.stem


def check(sources: Sequence[Path]) -> None:
    """Raise KadenceError if these cannot be units of one kernel."""
    names = [name_of(source) for source in sources]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise KadenceError(f"two units are named {twice}; rename the file of one")


def digests(sources: Sequence[Path]) -> dict[str, str]:
    """Name -> SHA-256 of the source and of what every unit is compiled with."""
    return {name_of(source): _digest(source) for source in sources}


def _digest(source: Path) -> str:
    shared = b"".join((include() / file).read_bytes() for file in FILES)
    return hashlib.sha256(source.read_bytes() + b"\0" + shared).hexdigest()
