# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence live status`: say which tasks take the installed units."""

import argparse

from kadence.live import running


def configure(parser: argparse.ArgumentParser) -> None:
    """There are no options."""


def execute(options: argparse.Namespace) -> int:
    """Print each unit and the tasks that take it now."""
    for unit in running.installed():
        print(f"{unit.name:<24} {running.status(unit)}")
    return 0
