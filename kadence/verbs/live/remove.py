# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence live remove`: take a unit out of the running kernel."""

import argparse

from kadence.live import running


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the option for the unit."""
    parser.add_argument("unit", metavar="UNIT", help="its name, as `kadence live list` prints it")


def execute(options: argparse.Namespace) -> int:
    """Remove the unit and unload its module."""
    running.remove(options.unit)
    return 0
