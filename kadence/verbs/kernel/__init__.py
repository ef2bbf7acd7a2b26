# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel ACTION`: each action is a module here that defines configure() and execute()."""

import argparse
import importlib

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
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for action, summary in ACTIONS.items():
        subparser = actions.add_parser(action, help=summary, description=summary)
        importlib.import_module(f"kadence.verbs.kernel.{action}").configure(subparser)


def execute(options: argparse.Namespace) -> int:
    """Execute the sub-command."""
    module = importlib.import_module(f"kadence.verbs.kernel.{options.action}")
    return int(module.execute(options))
