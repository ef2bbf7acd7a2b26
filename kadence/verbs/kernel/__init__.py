# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel ACTION`: each action is a module here with configure() and execute()."""

import argparse
import importlib

# action -> what `kadence kernel --help` says of it.
ACTIONS = {
    "build": "build a kernel into the store",
    "list": "the kernels in the store",
    "trace": "learn which kernel code a program runs, and what configures it",
    "needs": "see what a command and all that it starts ask of a kernel",
    "tailor": "make a kernel for one program and prove it on that",
    "explain": "why a symbol is on or off",
    "diff": "what two kernels differ in",
    "show": "what is in a kernel, and why",
    "gc": "remove what is superseded, damaged or left over",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """One sub-command for each thing to do with kernels."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for action, summary in ACTIONS.items():
        subparser = actions.add_parser(action, help=summary, description=summary)
        importlib.import_module(f"kadence.verbs.kernel.{action}").configure(subparser)


def execute(options: argparse.Namespace) -> int:
    """Do what the sub-command says."""
    module = importlib.import_module(f"kadence.verbs.kernel.{options.action}")
    return int(module.execute(options))
