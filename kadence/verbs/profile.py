# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence profile`: run a program and record its basic-block vectors, system calls and memory.

A program that was built in profile mode counts its blocks itself. Other programs run under kbbv.

A program whose name is one of the verbs that follow `profile` needs `--` before its name:
`kadence profile … -- import`.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kadence.base import printing, terminal
from kadence.base.errors import UsageError
from kadence.profiler.run import compiled, runner
from kadence.profiler.run.children import Child

MOST_LISTED = 20  # processes


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.usage = (
        "kadence profile [--interval N] [--program NAME] [--json] -o P.kprof "
        "-- PROGRAM [ARGUMENT ...]"
    )
    parser.add_argument(
        "--interval",
        metavar="N",
        help=(
            f"instructions per interval (default: fits the run, with {runner.MOST_ROWS // 2} to "
            f"{runner.MOST_ROWS} intervals; intervals of a program that was built in profile mode "
            "are of processor time)"
        ),
    )
    parser.add_argument(
        "--program",
        metavar="NAME",
        help=(
            "which of the programs that the command starts to profile (default: the one that "
            "executes most instructions)"
        ),
    )
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="P.kprof")
    parser.add_argument(
        "command",
        nargs="+",
        metavar="-- PROGRAM [ARGUMENT ...]",
        help="the program to run",
    )
    printing.add_json(
        parser, "print all notes about the run as one line of JSON, on standard error"
    )


def execute(options: argparse.Namespace) -> int:
    """Profile the program and return its exit status."""
    outcome = _profile(options.command, options.output, options.interval, options.program)
    if options.json:
        print(json.dumps(_document(outcome, options)), file=sys.stderr)
        return outcome.exit_status
    for note in outcome.notes:
        print(f"kadence: note: {note}", file=sys.stderr)
    for line in _listed(outcome.children):
        print(f"kadence: {line}", file=sys.stderr)
    phases = options.output.with_suffix(".phases.json")
    terminal.hint("kadence", "phases", options.output, "-o", phases)
    return outcome.exit_status


def _listed(others: Sequence[Child]) -> Iterator[str]:
    """A line for each process, or for those with most instructions if there are too many."""
    most = sorted(others, key=lambda child: -child.instructions)[:MOST_LISTED]
    yield from (str(child) for child in others if child in most)
    left = len(others) - len(most)
    if left:
        yield f"and {left} more processes, each with fewer instructions; --json names them"


def _profile(
    command: list[str], output: Path, interval: str | None, program: str | None
) -> runner.Outcome:
    given = _interval(interval)
    if compiled.is_built_in(command):
        return compiled.profile(command, output, given)
    return runner.profile(command, output, given, wanted=program)


def _document(outcome: runner.Outcome, options: argparse.Namespace) -> dict[str, Any]:
    """The document for --json; it goes to standard error, as the program uses standard output."""
    return {
        "profile": str(options.output),
        "exit_status": outcome.exit_status,
        "intervals": outcome.rows,
        "program": list(outcome.taken.argv) if outcome.taken else options.command,
        "process": outcome.taken.process if outcome.taken else None,
        "ranks": [str(path) for path in outcome.ranks],
        "notes": list(outcome.notes),
        "children": [
            {
                "profile": str(child.path),
                "process": child.process,
                "program": list(child.argv),
                "intervals": child.intervals,
                "instructions": child.instructions,
                "complete": child.complete,
                "successor": child.successor,
            }
            for child in outcome.children
        ],
    }


def _interval(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        raise UsageError(
            f"the interval {text!r} is not a whole number of instructions; "
            f"give one such as {runner.EXAMPLE_INTERVAL}"
        ) from None
