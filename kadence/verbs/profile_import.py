# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence profile import`: take basic-block vectors that another tool wrote as a profile."""

import argparse
import json
from pathlib import Path

from kadence.profiler import frequencies


def configure(parser: argparse.ArgumentParser) -> None:
    """The file, and the profile."""
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE.bb",
        help="vectors as exp-bbv, PinPoints, gem5 and QEMU write them for SimPoint; or a gzip",
    )
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="P.kprof")
    parser.add_argument("--json", action="store_true", help="say as JSON what was read")


def execute(options: argparse.Namespace) -> int:
    """Read, write, say how much it was."""
    profile = frequencies.import_text(options.file, options.output)
    intervals, blocks = len(profile.instructions), len(profile.blocks)
    if options.json:
        print(json.dumps({"intervals": intervals, "blocks": blocks}))
    else:
        print(f"{intervals} intervals of {blocks} blocks")
    return 0
