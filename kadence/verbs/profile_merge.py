# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence profile merge`: merge the profiles of a parallel program's ranks into one."""

import argparse
from pathlib import Path

from kadence.base import printing
from kadence.profiler import rankfile


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the ranks' profiles and the merged one."""
    parser.add_argument("ranks", type=Path, nargs="+", metavar="RANK.kprof", help="in rank order")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="ALL.kprof")
    printing.add_json(parser, "print the numbers as JSON")


def execute(options: argparse.Namespace) -> int:
    """Read the profiles one after another, write, and print the numbers."""
    intervals = rankfile.merge(options.ranks, options.output)
    if options.json:
        printing.document({"ranks": len(options.ranks), "intervals": intervals})
    else:
        number = len(options.ranks)
        print(f"{intervals} intervals of {number} rank{'s' if number > 1 else ''}")
    return 0
