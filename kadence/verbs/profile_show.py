# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence profile show`: print what a profile contains."""

import argparse
import json
from pathlib import Path

from kadence.profiler import kprof, summary


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("profile", type=Path, metavar="P.kprof")
    parser.add_argument("--json", action="store_true", help="print all of it as JSON")


def execute(options: argparse.Namespace) -> int:
    """Print the profile."""
    found = summary.document(kprof.read(options.profile))
    if options.json:
        print(json.dumps(found, indent=1, allow_nan=False))
    else:
        print(summary.text(found))
    return 0
