# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel trace`: find which kernel code a program runs, and which symbols configure it."""

import argparse
import os
from pathlib import Path

from kadence.base.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the output and the command."""
    parser.add_argument("-o", dest="output", type=Path, required=True, metavar="P.ktrace.json")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command")


def execute(options: argparse.Namespace) -> int:
    """Trace, write, and print a summary."""
    from kadence.kernel import tracing

    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise UsageError("no command to trace; name it after --")
    if not os.access(options.output.parent, os.W_OK):
        raise UsageError(f"cannot write {options.output}; choose another place with -o")
    tracing.write(options.output, tracing.trace(command, stand_in=True))
    return 0
