# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence profile show`: print what a profile contains."""

import argparse
from pathlib import Path

from kadence.base import printing
from kadence.profiler import kprof, summary


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("profile", type=Path, metavar="P.kprof")
    printing.add_json(parser, "print all of it as JSON")


def execute(options: argparse.Namespace) -> int:
    """Print the profile."""
    found = summary.document(kprof.read(options.profile))
    if options.json:
        printing.document(found)
    else:
        print(summary.text(found))
    return 0
