# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence profile import`: make a profile from basic-block vectors that another tool wrote."""

import argparse
from pathlib import Path

from kadence.base import printing
from kadence.profiler import frequencies


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the file and the profile."""
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE.bb",
        help="vectors that exp-bbv, PinPoints, gem5 or QEMU wrote for SimPoint; may be gzipped",
    )
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="P.kprof")
    printing.add_json(parser, "print the numbers as JSON")


def execute(options: argparse.Namespace) -> int:
    """Read, write, and print the numbers of intervals and blocks."""
    profile = frequencies.import_text(options.file, options.output)
    intervals, blocks = len(profile.instructions), len(profile.blocks)
    if options.json:
        printing.document({"intervals": intervals, "blocks": blocks})
    else:
        print(f"{intervals} intervals of {blocks} blocks")
    return 0
