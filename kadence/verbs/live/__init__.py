# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence live ACTION`: each action is a module here that defines configure() and execute()."""

import argparse
import importlib

# action -> its line in `kadence live --help`.
ACTIONS = {
    "build": "build a unit, a C file with new versions of the kernel's functions, as a module",
    "install": "install a unit in the running kernel",
    "remove": "take a unit out of the running kernel",
    "list": "list the units that are installed",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare one sub-command for each action."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for action, summary in ACTIONS.items():
        subparser = actions.add_parser(action, help=summary, description=summary)
        importlib.import_module(f"kadence.verbs.live.{action}").configure(subparser)


def execute(options: argparse.Namespace) -> int:
    """Execute the sub-command."""
    module = importlib.import_module(f"kadence.verbs.live.{options.action}")
    return int(module.execute(options))
