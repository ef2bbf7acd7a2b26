# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence profile`: run a program and record its basic-block vectors, system calls and memory.

`kadence profile import FILE.bb` takes vectors that another tool wrote. A program that is called
`import` is profiled as `./import`.
"""

import argparse
import sys
from pathlib import Path

from kadence.errors import UsageError
from kadence.profiler import frequencies, runner

IMPORT = "import"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.usage = (
        "kadence profile [--interval N] -o P.kprof -- PROGRAM [ARGUMENT ...]\n"
        "       kadence profile import FILE.bb -o P.kprof"
    )
    parser.add_argument(
        "--interval",
        default=str(runner.DEFAULT_INTERVAL),
        metavar="N",
        help="instructions per interval (default %(default)s)",
    )
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="P.kprof")
    parser.add_argument(
        "command",
        nargs="+",
        metavar="-- PROGRAM [ARGUMENT ...]",
        help="what to run; or `import` and a file of vectors in SimPoint's format",
    )


def execute(options: argparse.Namespace) -> int:
    """Profile the program; its exit status is ours."""
    if options.command[0] == IMPORT:
        return _import(options.command[1:], options.output)
    outcome = runner.profile(options.command, options.output, _interval(options.interval))
    for note in outcome.notes:
        print(f"kadence: note: {note}", file=sys.stderr)
    for child in outcome.children:
        print(f"kadence: {child}", file=sys.stderr)
    return outcome.exit_status


def _import(files: list[str], output: Path) -> int:
    if len(files) != 1:
        raise UsageError(
            f"`kadence profile import` takes one file, not {len(files)}; a program of that name "
            "is profiled as ./import"
        )
    profile = frequencies.import_text(Path(files[0]), output)
    print(f"{len(profile.instructions)} intervals of {len(profile.blocks)} blocks")
    return 0


def _interval(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(
            f"the interval {text!r} is not a whole number; give one such as "
            f"{runner.DEFAULT_INTERVAL}"
        ) from None
