# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel gc`: remove what nothing can refer to any more."""

import argparse

from kadence.kconfig import collect


def configure(parser: argparse.ArgumentParser) -> None:
    """How much."""
    parser.add_argument("--all", action="store_true", help="every kernel and source")


def execute(options: argparse.Namespace) -> int:
    """Say what was removed."""
    removed = collect.collect(options.all)
    for path in removed:
        print(f"removed {path}")
    if not removed:
        print("nothing to remove")
    return 0
