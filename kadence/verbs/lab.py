# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence lab`: run a command in a guest whose clock counts instructions."""

import argparse
import sys
from pathlib import Path

from kadence.base import artefact, printing, resources
from kadence.base.errors import UsageError
from kadence.boot.memory import parse_size
from kadence.boot.processors import IN_LAB
from kadence.lab import report
from kadence.lab.guest import MEMORY_BYTES, find
from kadence.lab.session import run


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the kernel, its memory, and the command."""
    printing.add_json(parser, "print the figures as JSON, on standard error")
    parser.add_argument(
        "--kernel",
        default="generic",
        help="generic, tailored, debian (its own cloud kernel), the ID of an x86_64 kernel in the "
        "store, or the path of a bzImage (default: generic)",
    )
    parser.add_argument("--plan", type=Path, metavar="P.plan.json", help="the plan for tailored")
    parser.add_argument("--trace", type=Path, metavar="P.ktrace.json", help="its trace")
    parser.add_argument("--mem", metavar="SIZE", help="memory of the guest (default: 1G)")
    parser.add_argument(
        "--cpus", type=int, default=1, metavar="N", help="1, the only number in the lab"
    )
    parser.add_argument("--timeout", type=float, metavar="S", help="limit, in the host's seconds")
    parser.add_argument("-o", "--output", type=Path, metavar="R.lab.json", help="write the figures")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command")


def execute(options: argparse.Namespace) -> int:
    """Run the command and return its exit status; print the figures to standard error."""
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise UsageError("no command to run; name it after --, as in `kadence lab -- ls`")
    if options.cpus != 1:
        raise UsageError(IN_LAB)
    if options.timeout is not None and not options.timeout > 0:
        raise UsageError(f"{options.timeout:g} seconds are too few; give --timeout more than 0")
    resources.built("kadence/settle")  # fail now rather than after a kernel was built
    memory = parse_size(options.mem) if options.mem else MEMORY_BYTES
    guest = find(options.kernel, options.plan, options.trace, memory)
    reading = run(guest, command, timeout_seconds=options.timeout, stand_in=True)
    if options.json:
        printing.document(report.document(reading), sys.stderr)
    else:
        print("\n".join(report.lines(reading)), file=sys.stderr)
    if options.output:
        words = ["kadence", "lab", "--kernel", options.kernel, "--", *command]
        artefact.write(options.output, artefact.LAB, None, words, report.document(reading))
    return reading.result.status
