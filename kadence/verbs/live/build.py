# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence live build`: build a unit for one kernel."""

import argparse
from pathlib import Path

from kadence.base import printing
from kadence.live.build import build


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the source, the kernel and the module."""
    printing.add_json(parser)
    parser.add_argument("source", type=Path, metavar="UNIT.c")
    parser.add_argument(
        "--kernel",
        required=True,
        metavar="RELEASE",
        help="a kernel of Debian's, as `uname -r` prints it",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="UNIT.ko", help="(default: UNIT.ko)")


def execute(options: argparse.Namespace) -> int:
    """Build the module and say what it replaces."""
    built = build(options.source, options.kernel)
    output = options.output or Path(options.source.with_suffix(".ko").name)
    built.write(output)
    if options.json:
        functions = {"replaced": built.replaced, "unexported": built.unexported}
        printing.document({"module": output, "kernel": options.kernel} | functions)
        return 0
    print(f"{output}: for {options.kernel}; replaces {', '.join(built.replaced)}")
    if built.unexported:
        print(f"uses, though the kernel does not export them: {', '.join(built.unexported)}")
    return 0
