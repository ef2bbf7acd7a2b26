# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel ACTION`: each action is a module here that defines configure() and execute()."""

import argparse

from kadence.base import actions

# action -> its line in `kadence kernel --help`.
ACTIONS = {
    "build": "build a kernel into the store",
    "list": "list the kernels in the store",
    "trace": "find which kernel code a program runs, and which symbols configure it",
    "needs": "find the needs of a command and of all processes that it starts",
    "tailor": "build a kernel for one program and prove it on the program",
    "explain": "explain why a symbol is on or off",
    "diff": "show the differences of two kernels",
    "show": "print the manifest of a kernel",
    "gc": "remove kernels and files that are superseded, damaged or left over",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare one sub-command for each action."""
    actions.configure(parser, __name__, ACTIONS)


def execute(options: argparse.Namespace) -> int:
    """Execute the sub-command."""
    return actions.execute(options, __name__)
