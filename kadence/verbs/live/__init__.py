# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence live ACTION`: each action is a module here that defines configure() and execute()."""

import argparse

from kadence.base import actions

# action -> its line in `kadence live --help`.
ACTIONS = {
    "build": "build a unit, a C file with new versions of the kernel's functions, as a module",
    "layout": "copy the kernel's code that is hot for a command, packed, as a module",
    "install": "install a unit in the running kernel",
    "remove": "take a unit out of the running kernel",
    "list": "list the units that are installed",
    "status": "say which tasks take the units that are installed",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare one sub-command for each action."""
    actions.configure(parser, __name__, ACTIONS)


def execute(options: argparse.Namespace) -> int:
    """Execute the sub-command."""
    return actions.execute(options, __name__)
