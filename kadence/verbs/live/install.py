# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence live install`: install a unit in the running kernel."""

import argparse
from pathlib import Path

from kadence.live import running


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the option for the module."""
    parser.add_argument("module", type=Path, metavar="UNIT.ko")


def execute(options: argparse.Namespace) -> int:
    """Load the module, which installs its unit."""
    running.install(options.module)
    return 0
