# SPDX-License-Identifier: GPL-2.0-or-later
"""The `kadence` command: finds the verb, runs it, and reports an error in one sentence."""

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NoReturn, TextIO, cast

from kadence.base import terminal
from kadence.base.errors import KadenceError, UsageError
from kadence.base.version import VERSION

# verb -> its line in `kadence --help`. Each verb is a module of kadence.verbs that defines
# configure(parser) and execute(arguments) -> exit status. It is imported only when the user calls
# it. If a verb has two words, an underscore joins them in the module's name.
VERBS = {
    "profile": "run a program and record its basic-block vectors, system calls and memory",
    "profile import": "make a profile from basic-block vectors that another tool wrote",
    "profile export": "write a profile's basic-block vectors in SimPoint's format",
    "profile merge": "merge the profiles of a parallel program's ranks into one",
    "profile show": "print what a profile contains",
    "phases": "find the phases in a profile",
    "view": "show the phases, or timelines of nodes, as an interactive page, a figure or a trace",
    "compare": "check whether a program does the same kinds of work on several inputs",
    "plan": "decide how to adapt each phase, and where the program announces it",
    "learn": "fold what runs found out about their policies into the plan",
    "kernel": "build, list and remove kernels",
    "run": "run a command under a kernel",
    "lab": "run a command in a guest whose clock counts instructions",
    "observe": "count what the kernel's functions do for a command, in a guest",
    "live": "build units of the running kernel's functions, install and remove them",
    "specialize": "take a program from source to a measured report",
    "tune": "try settings that cannot change inside a run, and keep what surely gains",
    "key": "make a key that signs bundles",
    "bundle": "pack a program and its kernel into one signed file for a batch job",
    "site": "build what a cluster's nodes may run; its administrator signs it",
    "report": "report what a batch job gained from its kernel",
    "doctor": "report what is missing on this machine, and start a guest of each target",
    "completion": "print the completion for bash, zsh or fish",
}

# Options before the verb: names and help.
COMMON = (
    (("-q", "--quiet"), "print no progress and no hints"),
    (("-v", "--verbose"), "print the commands that are run"),
    (("--version",), "print the version and exit"),
)


# Verbs that take `-- COMMAND`, but do not require it.
OPTIONAL_COMMAND = frozenset({"plan"})


class Parser(argparse.ArgumentParser):
    """An argument parser that raises UsageError instead of exiting."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    with (
        contextlib.redirect_stdout(cast(TextIO, terminal.Plain(sys.stdout))),
        contextlib.redirect_stderr(cast(TextIO, terminal.Plain(sys.stderr))),
    ):
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    argv = _joined(list(sys.argv[1:] if arguments is None else arguments))
    try:
        return _run(argv)
    except KadenceError as error:
        print(f"kadence: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of stdout has exited. Python would report that a second time at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(f"kadence: {error.filename or 'system'}: {error.strerror}", file=sys.stderr)
        return 1


def _joined(argv: list[str]) -> list[str]:
    """Join the first two words behind the options if they are one verb."""
    begin = next((i for i, word in enumerate(argv) if not word.startswith("-")), 0)
    two = " ".join(argv[begin : begin + 2])
    return [*argv[:begin], two, *argv[begin + 2 :]] if two in VERBS else argv


def _module(verb: str) -> ModuleType:
    return importlib.import_module(f"kadence.verbs.{verb.replace(' ', '_')}")


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Each verb's parser, with all that the verb declares."""
    return {verb: _declare(_verbs(_parser()), verb, whole=True) for verb in VERBS}


def _parser() -> Parser:
    parser = Parser(prog="kadence", description="Makes a Linux kernel fit one batch job.")
    (quiet, quiet_help), (verbose, verbose_help), (version, version_help) = COMMON
    how = parser.add_mutually_exclusive_group()
    how.add_argument(*quiet, action="store_true", help=quiet_help)
    how.add_argument(*verbose, action="store_true", help=verbose_help)
    parser.add_argument(*version, action="version", version=f"kadence {VERSION}", help=version_help)
    return parser


def _verbs(parser: Parser) -> Any:
    return parser.add_subparsers(dest="verb", metavar="VERB", required=True)


def _declare(subparsers: Any, verb: str, whole: bool) -> argparse.ArgumentParser:
    """Add a verb to `kadence --help`, and its own options if `whole`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        verb, help=VERBS[verb], description=VERBS[verb]
    )
    if whole:
        _module(verb).configure(parser)
    return parser


def _run(argv: list[str]) -> int:
    parser = _parser()
    subparsers = _verbs(parser)
    wanted = next((word for word in argv if not word.startswith("-")), None)
    for verb in VERBS:
        _declare(subparsers, verb, whole=verb == wanted)
    words, command = _split(argv) if wanted in OPTIONAL_COMMAND else (argv, None)
    options = parser.parse_args(words, argparse.Namespace(command=command))
    if options.quiet:
        terminal.be_quiet()
    if options.verbose:
        terminal.tell_commands()
    return int(_module(options.verb).execute(options))


def _split(argv: list[str]) -> tuple[list[str], list[str] | None]:
    """The words before `--`, and the command after it; None if there is no `--`.

    argparse cannot take optional words at the end, if options stand before them.
    """
    if "--" not in argv:
        return argv, None
    place = argv.index("--")
    return argv[:place], argv[place + 1 :]


if __name__ == "__main__":
    sys.exit(main())
