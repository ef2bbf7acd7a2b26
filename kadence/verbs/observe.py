# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence observe`: what the functions of a kernel do for a command, a job or tasks."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from kadence.base import artefact, printing, resources
from kadence.base.errors import UsageError
from kadence.boot import debian
from kadence.boot.memory import parse_size
from kadence.lab import calls, report
from kadence.lab.guest import MEMORY_BYTES, STOCK, STOCK_SERIES, find
from kadence.observe import table
from kadence.observe.observation import Observation, observe
from kadence.observe.paths import Paths
from kadence.observe.probes import modules
from kadence.observe.probes.instruments import POINT
from kadence.verbs import observe_probes, observe_why
from kadence.verbs.observe_options import check

MOST = 30


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the functions, the kernel and the command."""
    printing.add_json(parser, "print all that was seen as JSON, on standard error")
    parser.add_argument(
        "--functions",
        default="*",
        metavar="P[,P...]",
        help="functions to show, by patterns such as 'vfs_*', or 'ksys_write>pipe_*' for calls "
        "below a caller (default: all)",
    )
    parser.add_argument("--top", type=int, default=MOST, metavar="N",
                        help=f"show so many functions, 0 for all (default: {MOST})")  # fmt: skip
    parser.add_argument(
        "--kernel",
        default=STOCK,
        help="debian, the ID of an x86_64 kernel in the store, or the path of a bzImage "
        "(default: debian, its own cloud kernel)",
    )
    parser.add_argument("--mem", metavar="SIZE", help="memory of the guest (default: 1G)")
    parser.add_argument("--timeout", type=float, metavar="S", help="limit, in the host's seconds")
    parser.add_argument("-o", "--output", type=Path, metavar="R.tsv", help="write all counts, too")
    parser.add_argument("--why", action="store_true",
                        help="walk down to what takes the time, and give advice")  # fmt: skip
    observe_probes.configure(parser)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command")


def execute(options: argparse.Namespace) -> int:
    """Run the command and return its exit status; print the table to standard error."""
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if observe_probes.is_asked_for(options):
        return observe_probes.execute(options, command)
    if not command:
        raise UsageError("no command to run; name it after --, as in `kadence observe -- ls`")
    patterns = check(options)
    if any(pattern.startswith(POINT) for pattern in patterns):
        raise UsageError("tracepoints are counted inside the kernel only; add --per-phase")
    resources.built(calls.PLUGIN)  # fail now rather than after a boot
    memory = parse_size(options.mem) if options.mem else MEMORY_BYTES
    guest = find(options.kernel, memory_bytes=memory)
    found = observe(
        guest,
        command,
        patterns,
        options.timeout,
        with_paths=options.why,
        modules=_driver_for(options.kernel) if options.why else [],
    )
    if options.json:
        printing.document(found, sys.stderr)
    else:
        _print(found, options.top)
    if options.output:
        with artefact.atomic_output(options.output) as temporary:
            temporary.write_text("\n".join(table.separated(found)) + "\n", encoding="utf-8")
    return found.reading.result.status


def _driver_for(kernel: str) -> list[Path]:
    """The driver's module, which marks phases. Only the stock kernel needs it: others have the
    driver built in.
    """
    if kernel != STOCK:
        return []
    return modules.built(debian.newest_release(STOCK_SERIES), modules.DRIVER)


def _print(found: Observation, top: int) -> None:
    told = [line.replace(": lab:", ": observe:", 1) for line in report.lines(found.reading)[:3]]
    told.append(f"kadence: observe: {found.instructions:,} instructions of the kernel meanwhile")
    if found.paths:
        told += _why(found.paths)
    else:
        told += table.lines(found, top or len(found.tallies))
    print("\n".join(told), file=sys.stderr)


def _why(found: Paths) -> Iterator[str]:
    command = found.command
    yield (
        f"{command.instructions:,} of them for the command, which waited "
        f"{command.waited:,} ns in the kernel (without waiting for children and for the host's "
        f"files); {found.others.instructions:,} in other tasks, "
        f"{found.interrupts.instructions:,} in interrupts"
    )
    yield from observe_why.lines(command)
    if found.dropped:
        yield f"{found.dropped:,} calls had no memory for a path, and count as their callers'"
