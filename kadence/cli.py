# SPDX-License-Identifier: GPL-2.0-or-later
"""The `kadence` command: finds the verb, runs it, tells errors in one sentence."""

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn, TextIO, cast

from kadence import __version__, terminal
from kadence.errors import KadenceError, UsageError

# verb -> what `kadence --help` says of it. Each verb is a module of kadence.verbs with
# configure(parser) and execute(arguments) -> exit status, imported only when it is called. Where a
# verb has two words, its module's name has an underscore between them.
VERBS = {
    "profile": "run a program and record its basic-block vectors, system calls and memory",
    "profile import": "take basic-block vectors that another tool wrote as a profile",
    "profile export": "write a profile's basic-block vectors as SimPoint reads them",
    "profile merge": "put the profiles of a parallel program's ranks into one",
    "profile show": "say what is in a profile",
    "phases": "find the phases in a profile",
    "view": "show the phases: a page to walk through, a figure, a trace",
    "compare": "say whether a program does the same kinds of work on several inputs",
    "plan": "decide which adaptation belongs to which phase, and where it is announced",
    "kernel": "build, list and remove kernels",
    "run": "run a command under a kernel",
    "lab": "run a command where the clock counts instructions",
    "specialize": "take a program from source to a measured report",
    "key": "make a key that signs bundles",
    "bundle": "pack a program and its kernel into one signed file for a batch job",
    "site": "build what a cluster's nodes may run, for its administrator to sign",
    "report": "say what a batch job gained from its kernel",
    "doctor": "say what is missing on this machine, and start a guest of each target",
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are errors like any other."""

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
        # Whoever read our output has gone; a second complaint at exit would help nobody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(f"kadence: {error.filename or 'system'}: {error.strerror}", file=sys.stderr)
        return 1


def _joined(argv: list[str]) -> list[str]:
    """A verb of two words as one."""
    two = " ".join(argv[:2])
    return [two, *argv[2:]] if two in VERBS else argv


def _module(verb: str) -> ModuleType:
    return importlib.import_module(f"kadence.verbs.{verb.replace(' ', '_')}")


def _run(argv: list[str]) -> int:
    parser = Parser(prog="kadence", description="Makes a Linux kernel fit one batch job.")
    parser.add_argument("--version", action="version", version=f"kadence {__version__}")
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    wanted = next((word for word in argv if not word.startswith("-")), None)
    for verb, summary in VERBS.items():
        subparser = subparsers.add_parser(verb, help=summary, description=summary)
        if verb == wanted:
            _module(verb).configure(subparser)
    options = parser.parse_args(argv)
    return int(_module(options.verb).execute(options))


if __name__ == "__main__":
    sys.exit(main())
