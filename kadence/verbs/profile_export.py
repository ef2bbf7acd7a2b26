# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence profile export`: write a profile's basic-block vectors in SimPoint's format."""

import argparse
from pathlib import Path

from kadence.base import printing
from kadence.profiler import frequencies, kprof


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the profile and the file."""
    parser.add_argument(
        "--simpoint",
        required=True,
        type=Path,
        metavar="P.kprof",
        help="the profile to write in SimPoint's format",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        type=Path,
        metavar="FILE.bb",
        help="the file; compressed by gzip if its name ends in .gz",
    )
    parser.add_argument(
        "--thread", type=int, metavar="N", help="only this thread (default: one after another)"
    )
    printing.add_json(parser, "print the number of intervals as JSON")


def execute(options: argparse.Namespace) -> int:
    """Read, write, and print the number of intervals."""
    written = frequencies.export_text(
        kprof.read(options.simpoint), options.output, thread=options.thread
    )
    if options.json:
        printing.document({"intervals": written.intervals, "empty": written.empty})
        return 0
    left_out = f", without {written.empty} empty ones" if written.empty else ""
    print(f"{written.intervals} intervals{left_out}")
    return 0
