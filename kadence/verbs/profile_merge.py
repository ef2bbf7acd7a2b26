# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence profile merge`: merge the profiles of a parallel program's ranks into one."""

import argparse
import json
from pathlib import Path

from kadence.profiler import rankfile


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the ranks' profiles and the merged one."""
    parser.add_argument("ranks", type=Path, nargs="+", metavar="RANK.kprof", help="in rank order")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="ALL.kprof")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")


def execute(options: argparse.Namespace) -> int:
    """Read the profiles one after another, write, and print the numbers."""
    intervals = rankfile.merge(options.ranks, options.output)
    if options.json:
        print(json.dumps({"ranks": len(options.ranks), "intervals": intervals}))
    else:
        number = len(options.ranks)
        print(f"{intervals} intervals of {number} rank{'s' if number > 1 else ''}")
    return 0
