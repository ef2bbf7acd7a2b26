# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence site ACTION`: each action is a module here that defines configure() and execute()."""

import argparse

from kadence.base import actions

# action -> its line in `kadence site --help`.
ACTIONS = {
    "build": "build and sign, as administrator, what a bundle needs on a node",
    "units": "list the units of the nodes' kernels, install one or remove one",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare one sub-command for each action."""
    actions.configure(parser, __name__, ACTIONS)


def execute(options: argparse.Namespace) -> int:
    """Execute the sub-command."""
    return actions.execute(options, __name__)
