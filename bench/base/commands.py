# SPDX-License-Identifier: GPL-2.0-or-later
"""Kadence's own commands, which need not be on PATH."""

import os
import sys
from pathlib import Path

from kadence.base import resources

KADENCE = Path(sys.executable).parent / "kadence"


def environment() -> dict[str, str]:
    """This process's environment, in which PATH begins with kadence and the compiler wrappers."""
    folders = [KADENCE.parent, resources.home() / "build/bin", os.environ["PATH"]]
    return os.environ | {"PATH": os.pathsep.join(map(str, folders))}
