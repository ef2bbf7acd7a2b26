# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence live layout`: lay out a kernel's code for a command, without another kernel."""

import argparse
import sys
from pathlib import Path

from kadence.base import printing
from kadence.base.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the kernel, the module and the command."""
    printing.add_json(parser, "print what was made as JSON, on standard error")
    parser.add_argument(
        "--kernel",
        required=True,
        metavar="RELEASE",
        help="a kernel of Debian's of series 6.12, as `uname -r` prints it",
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="NAME.ko")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command")


def execute(options: argparse.Namespace) -> int:
    """Make the module, and say what it gains."""
    from kadence.positioned import making

    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise UsageError("no command to lay the kernel out for; name it after --")
    made = making.make(options.kernel, command, options.output)
    # The command took the place of this process, and with it standard output.
    if options.json:
        told = {"module": options.output, "not_worth_it": made.not_worth_it}
        found = {"before": made.before, "layout": made.layout, "after": made.after}
        printing.document(told | found, sys.stderr)
    else:
        print(making.summary(made, options.output, options.kernel), file=sys.stderr)
    return 0
