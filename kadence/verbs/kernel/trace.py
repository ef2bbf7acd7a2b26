# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel trace`: find which kernel code a program runs, and which symbols configure it.

With `--counts`, count how often the code of a tailored kernel runs, and lay it out.
"""

import argparse
import os
import sys
from pathlib import Path

from kadence.base import printing
from kadence.base.errors import UsageError
from kadence.kconfig.request.request import TAILORED, BuildRequest
from kadence.verbs.kernel import wishes

TARGET = "x86_64"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the output, the kernel and the command."""
    printing.add_json(parser, "print what was found as JSON, on standard error")
    parser.add_argument("-o", dest="output", type=Path, required=True, metavar="P.ktrace.json")
    parser.add_argument(
        "--counts",
        type=Path,
        metavar="P.plan.json",
        help="instead, count how often the code of the kernel tailored to this plan runs, for "
        "`kadence kernel build --layout`; -o then names a P.kcounts.json",
    )
    wishes.add(parser)
    parser.set_defaults(target=TARGET)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command")


def execute(options: argparse.Namespace) -> int:
    """Trace or count, write, and print a summary."""
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise UsageError("no command to trace; name it after --")
    if not os.access(options.output.parent, os.W_OK):
        raise UsageError(f"cannot write {options.output}; choose another place with -o")
    if options.counts is None:
        _trace(options, command)
    else:
        _count(options, command)
    return 0


def _trace(options: argparse.Namespace, command: list[str]) -> None:
    from kadence.kernel import tracing

    if options.trace or options.mitigations or options.overrides or options.target != TARGET:
        raise UsageError("--trace, --mitigations, --set and --target need --counts P.plan.json")
    found = tracing.trace(command, stand_in=True)
    tracing.write(options.output, found)
    _say(options, found, tracing.summary(found))


def _count(options: argparse.Namespace, command: list[str]) -> None:
    from kadence.kernel import counting

    request = BuildRequest(
        kind=TAILORED,
        plan=options.counts,
        target=options.target,
        series=options.series,
        trace=options.trace,
        overrides=tuple(sorted(options.overrides)),
        mitigations=options.mitigations,
    )
    found = counting.count(request, command, options.output)
    counting.write(options.output, found, request)
    _say(options, found, counting.summary(found))


def _say(options: argparse.Namespace, found: object, summary: str) -> None:
    """To standard error: the command had standard output."""
    if options.json:
        printing.document(found, sys.stderr)
    else:
        print(summary, file=sys.stderr)
