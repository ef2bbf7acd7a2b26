# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence live layout`: lay out a kernel's code for a command, without another kernel."""

import argparse
import sys
from pathlib import Path

from kadence.base.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the kernel, the module and the command."""
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
    print(making.summary(made, options.output, options.kernel), file=sys.stderr)
    return 0
