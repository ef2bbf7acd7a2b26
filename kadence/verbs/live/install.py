# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence live install`: install a unit in the running kernel."""

import argparse
from pathlib import Path

from kadence.live import running


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the module and its parameters."""
    parser.add_argument("module", type=Path, metavar="UNIT.ko")
    parser.add_argument(
        "parameters",
        nargs="*",
        metavar="NAME=VALUE",
        help="set a parameter that the unit declares with module_param()",
    )


def execute(options: argparse.Namespace) -> int:
    """Load the module, which installs its unit."""
    running.install(options.module, options.parameters)
    return 0
