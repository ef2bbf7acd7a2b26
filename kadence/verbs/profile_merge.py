# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence profile merge`: put the profiles of a parallel program's ranks into one."""

import argparse
import json
from pathlib import Path

from kadence.profiler import rankfile


def configure(parser: argparse.ArgumentParser) -> None:
    """The ranks' profiles, and that of all."""
    parser.add_argument("ranks", type=Path, nargs="+", metavar="RANK.kprof", help="in their order")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="ALL.kprof")
    parser.add_argument("--json", action="store_true", help="say as JSON what was read")


def execute(options: argparse.Namespace) -> int:
    """Read one after the other, write, say how much it was."""
    intervals = rankfile.merge(options.ranks, options.output)
    if options.json:
        print(json.dumps({"ranks": len(options.ranks), "intervals": intervals}))
    else:
        number = len(options.ranks)
        print(f"{intervals} intervals of {number} rank{'s' if number > 1 else ''}")
    return 0
