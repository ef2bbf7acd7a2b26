# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence live list`: list the units that are installed."""

import argparse

from kadence.base import printing
from kadence.live import running


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the option for programs."""
    printing.add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """Print each unit, who takes it, and the functions that it replaces."""
    if options.json:
        printing.document(list(running.installed()))
        return 0
    for unit in running.installed():
        print(f"{unit.name:<24} {unit.kind:<10} {', '.join(unit.functions)}")
    return 0
