# SPDX-License-Identifier: GPL-2.0-or-later
"""Verbs with actions, as `kadence kernel build`: each action is a module of the verb's package.

Such a module defines configure(parser) and execute(options), like a verb.
"""

import argparse
import importlib
from collections.abc import Mapping


def configure(parser: argparse.ArgumentParser, package: str, actions: Mapping[str, str]) -> None:
    """Declare one sub-command for each action; `actions` has their lines in --help."""
    subparsers = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for action, summary in actions.items():
        subparser = subparsers.add_parser(action, help=summary, description=summary)
        importlib.import_module(f"{package}.{action}").configure(subparser)


def execute(options: argparse.Namespace, package: str) -> int:
    """Execute the action that the command line names."""
    module = importlib.import_module(f"{package}.{options.action}")
    return int(module.execute(options))
