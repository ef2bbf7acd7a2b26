# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence completion`: print a shell's completion."""

import argparse

from kadence.manual import completion
from kadence.manual.commands import commands


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the shell."""
    parser.add_argument(
        "shell",
        choices=sorted(completion.SHELLS),
        help="the shell; for bash, ~/.local/share/bash-completion/completions/kadence is a place",
    )


def execute(options: argparse.Namespace) -> int:
    """Print the completion."""
    print(completion.script(options.shell, list(commands())), end="")
    return 0
