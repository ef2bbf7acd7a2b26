# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel needs`: find the needs of a command and of all processes that it starts."""

import argparse
import os
import tempfile
from pathlib import Path

from kadence.base import printing
from kadence.base.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the output and the command."""
    printing.add_json(parser)
    parser.add_argument("-o", dest="output", type=Path, required=True, metavar="P.needs.json")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command")


def execute(options: argparse.Namespace) -> int:
    """Run the command on this machine's own kernel, and print its needs."""
    from kadence.measurement import watching

    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise UsageError("no command to run; name it after --")
    if not os.access(options.output.parent, os.W_OK):
        raise UsageError(f"cannot write {options.output}; choose another place with -o")
    seen = watching.Seen()
    with tempfile.TemporaryDirectory() as scratch:
        watching.Watch(Path.cwd(), Path(scratch), None).see(command, "", seen)
    again = ["kadence", "kernel", "needs", "-o", str(options.output), "--", *command]
    body = watching.write(options.output, seen, [command], again)
    if options.json:
        printing.document(body)
        return 1 if seen.unseen else 0
    for key in ("system_calls", "socket_families", "files", "file_systems"):
        print(f"{key.replace('_', ' ')}: {' '.join(map(str, body[key])) or 'none'}")
    return 1 if seen.unseen else 0
