# SPDX-License-Identifier: GPL-2.0-or-later
"""All commands of `kadence`, as their parsers declare them."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from kadence import cli

# argparse's words for what it declares itself.
HELP = "show this help and exit"


@dataclass(frozen=True)
class Option:
    """An option: its names, what it takes (None if nothing) and what it does."""

    names: tuple[str, ...]
    takes: str | None
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True)
class Command:
    """A command such as `kadence kernel build`. `words` are the operands and their help."""

    name: str
    summary: str
    usage: str
    words: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]
    epilog: str


def commands() -> Iterator[Command]:
    """Every verb, and every action of a verb, in the order of `kadence --help`."""
    for verb, parser in cli.parsers().items():
        actions = _actions_of(parser)
        if actions is None:
            yield _command(f"kadence {verb}", cli.VERBS[verb], parser)
            continue
        for action, (summary, own) in actions.items():
            yield _command(f"kadence {verb} {action}", summary, own)


def _actions_of(
    parser: argparse.ArgumentParser,
) -> dict[str, tuple[str, argparse.ArgumentParser]] | None:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            summaries = {each.dest: each.help or "" for each in action._choices_actions}
            return {name: (summaries[name], own) for name, own in action.choices.items()}
    return None


def _command(name: str, summary: str, parser: argparse.ArgumentParser) -> Command:
    formatter = parser._get_formatter()
    words, options = [], []
    for action in parser._actions:
        if action.help == argparse.SUPPRESS:
            continue
        told = HELP if isinstance(action, argparse._HelpAction) else _told(formatter, action)
        if action.option_strings:
            options.append(_option(action, told))
        else:
            words.append((_operand(action), told))
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    return Command(name, summary, usage, tuple(words), tuple(options), parser.epilog or "")


def _told(formatter: argparse.HelpFormatter, action: argparse.Action) -> str:
    return formatter._expand_help(action) if action.help else ""


def _option(action: argparse.Action, told: str) -> Option:
    choices = tuple(map(str, action.choices or ()))
    takes = None
    if action.nargs != 0:
        takes = _operand(action) if not choices or action.metavar else "|".join(choices)
    return Option(tuple(action.option_strings), takes, choices, told)


def _operand(action: argparse.Action) -> str:
    if isinstance(action.metavar, tuple):
        return " ".join(action.metavar)
    if action.metavar or not action.option_strings:
        return action.metavar or action.dest
    return action.dest.upper()
