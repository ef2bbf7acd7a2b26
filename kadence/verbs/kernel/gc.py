# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel gc`: remove kernels and files that are superseded, damaged or left over."""

import argparse

from kadence.base import printing
from kadence.kconfig.store import collect


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    printing.add_json(parser)
    parser.add_argument("--all", action="store_true", help="remove every kernel and source")


def execute(options: argparse.Namespace) -> int:
    """Remove them, and print their paths."""
    removed = collect.collect(options.all)
    if options.json:
        printing.document({"removed": list(removed)})
        return 0
    for path in removed:
        print(f"removed {path}")
    if not removed:
        print("nothing to remove")
    return 0
