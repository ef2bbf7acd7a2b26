# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence live status`: say which tasks take the installed units."""

import argparse

from kadence.base import printing
from kadence.live import running


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the option for programs."""
    printing.add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """Print each unit and the tasks that take it now."""
    if options.json:
        printing.document({unit.name: running.status(unit) for unit in running.installed()})
        return 0
    for unit in running.installed():
        print(f"{unit.name:<24} {running.status(unit)}")
    return 0
