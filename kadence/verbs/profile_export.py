# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence profile export`: write a profile's basic-block vectors as SimPoint reads them."""

import argparse
import json
from pathlib import Path

from kadence.profiler import frequencies, kprof


def configure(parser: argparse.ArgumentParser) -> None:
    """The profile, and the file."""
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
        help="where to write; a gzip where the name ends in .gz",
    )
    parser.add_argument(
        "--thread", type=int, metavar="N", help="of this thread only (default: thread after thread)"
    )
    parser.add_argument("--json", action="store_true", help="say as JSON what was written")


def execute(options: argparse.Namespace) -> int:
    """Read, write, say how much it was."""
    written = frequencies.export_text(
        kprof.read(options.simpoint), options.output, thread=options.thread
    )
    if options.json:
        print(json.dumps({"intervals": written.intervals, "empty": written.empty}))
        return 0
    left_out = f", without {written.empty} in which nothing ran" if written.empty else ""
    print(f"{written.intervals} intervals{left_out}")
    return 0
