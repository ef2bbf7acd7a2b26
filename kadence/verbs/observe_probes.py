# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence observe --per-phase`, `--job` and `--process`: instruments inside the kernel."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from kadence.base import artefact, printing, resources
from kadence.base.errors import UsageError
from kadence.boot import debian
from kadence.boot.memory import parse_size
from kadence.lab import guest as lab_guest
from kadence.observe.probes import guest, instruments, node, phases, slowdown, table, um
from kadence.observe.probes.instruments import Instrument, Kernel
from kadence.observe.probes.results import Results
from kadence.verbs import observe_timeline, observe_why
from kadence.verbs.observe_options import check

SECONDS = 10.0
COUNTING_SECONDS = 1.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for instruments inside the kernel."""
    parser.add_argument("--per-phase", action="store_true",
                        help="tell phases apart, and show waiting and latencies")  # fmt: skip
    observe_timeline.configure(parser)
    parser.add_argument("--job", metavar="N", help="observe a Slurm job on this node, by rank")
    parser.add_argument("--process", type=int, action="append", default=[], metavar="PID",
                        help="observe a process on this machine (may be repeated)")  # fmt: skip
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S",
                        help=f"observe a job or process for S (default: {SECONDS:g})")  # fmt: skip
    parser.add_argument("--most-slowdown", type=float, default=slowdown.MOST_PERCENT, metavar="P",
                        help="refuse what would make the run P %% longer or more "
                        f"(default: {slowdown.MOST_PERCENT:g})")  # fmt: skip


def is_asked_for(options: argparse.Namespace) -> bool:
    """Whether the kernel itself is to be instrumented."""
    return bool(options.per_phase or options.timeline or options.job or options.process)


def execute(options: argparse.Namespace, command: Sequence[str]) -> int:
    """Observe; return the command's exit status, or 0."""
    observe_timeline.check(options)
    observe_why.check(options)
    patterns = check(options)
    if not options.most_slowdown > 0:
        raise UsageError("--most-slowdown must be more than 0 %; leave it out for the default")
    if options.job or options.process:
        return _observe_node(options, command, patterns)
    if not command:
        raise UsageError("no command to run; name it after --, as in `kadence observe -- ls`")
    return _observe_guest(options, command, patterns)


# ---- a guest ------------------------------------------------------------------------------------


def _observe_guest(
    options: argparse.Namespace, command: Sequence[str], patterns: Sequence[str]
) -> int:
    """Run the command twice: to count the calls, and to time them."""
    resources.built(guest.PROBE)
    stock = options.kernel == lab_guest.STOCK
    observer, kernel = (_in_lab if stock else _on_um)(options, command)
    chosen = instruments.choose(kernel, patterns)
    counting = instruments.choose(kernel, patterns, only_count=True)
    with guest.input_for_two_runs() as stdin:
        counted = observer.count(counting, stdin, with_events=bool(options.timeline))
    _predict(counted, chosen, options.most_slowdown)
    if options.timeline:
        seen = observe_timeline.observe(options, observer, chosen)
    else:
        seen = observer.observe(chosen)
    if not options.json:
        print("\n".join(seen.told), file=sys.stderr)
    _show(options, seen.results, chosen)
    return seen.status


def _in_lab(options: argparse.Namespace, command: Sequence[str]) -> tuple[guest.Observer, Kernel]:
    release = debian.newest_release(lab_guest.STOCK_SERIES)
    memory = parse_size(options.mem) if options.mem else lab_guest.MEMORY_BYTES
    machine = lab_guest.stock(memory_bytes=memory)
    observer = guest.Observer(machine, release, command, options.timeout)
    return observer, guest.kernel_of(release)


def _on_um(options: argparse.Namespace, command: Sequence[str]) -> tuple[um.Observer, Kernel]:
    # Imported here, because the other cases do not need the kernel store.
    from kadence.kconfig.store import store

    if "/" in options.kernel:
        raise UsageError(
            f"--per-phase needs Debian's kernel or one of the store, not {options.kernel}; name a "
            "kernel that `kadence kernel build --points` built"
        )
    built = store.find(options.kernel)
    if built.target != um.TARGET:
        raise UsageError(
            f"--per-phase needs Debian's kernel or one for {um.TARGET}, and {built.id} is for "
            f"{built.target}; leave out --kernel, or build one with --points"
        )
    memory = parse_size(options.mem) if options.mem else None
    name = f"{built.kind} kernel {built.id}"
    observer = um.Observer(name, built.image, command, options.timeout, memory)
    return observer, um.kernel_of(name, built.points)


# ---- this machine -------------------------------------------------------------------------------


def _observe_node(
    options: argparse.Namespace, command: Sequence[str], patterns: Sequence[str]
) -> int:
    """Count the calls for a second, then time them."""
    if command:
        raise UsageError("give either a command or --job and --process, not both")
    if not options.seconds >= 1:
        raise UsageError(f"{options.seconds:g} seconds are too few; give --seconds 1 or more")
    node.require()
    ranks = node.ranks(options.job) if options.job else {}
    processes = [*ranks, *options.process]
    if options.why:
        return observe_why.observe_node(options, processes, patterns)
    kernel = node.kernel()
    chosen = instruments.choose(kernel, patterns)
    counting = instruments.choose(kernel, patterns, only_count=True)
    # What counts is what it costs if events are written, too.
    events = Path(os.devnull) if options.timeline else None
    counted = node.observe(counting, node.tasks(processes), COUNTING_SECONDS, events)
    _predict(counted, chosen, options.most_slowdown)
    if options.timeline:
        found = observe_timeline.observe_node(options, chosen, node.tasks(processes), ranks)
    else:
        found = node.observe(chosen, node.tasks(processes), options.seconds)
    for rank, part in ({} if options.json else node.by_rank(found, ranks)).items():
        print(f"rank {rank}", file=sys.stderr)
        _show_table(options, part, chosen)
    _show(options, found, chosen)
    return 0


# ---- both ---------------------------------------------------------------------------------------


def _predict(counted: Results, chosen: Sequence[Instrument], most: float) -> None:
    percent = slowdown.predicted_percent(counted, chosen)
    slowdown.require(percent, most)
    print(
        f"kadence: observe: {len(chosen):,} functions; they should make the run "
        f"{percent:.2g} % longer",
        file=sys.stderr,
    )


def _show(options: argparse.Namespace, found: Results, chosen: Sequence[Instrument]) -> None:
    _show_table(options, found, chosen)
    lost = found.costs.tasks_lost + found.costs.stays_lost
    if lost:
        print(f"kadence: observe: {lost:,} tasks or phases had no memory left", file=sys.stderr)
    if options.output:
        names = [each.function for each in chosen]
        with artefact.atomic_output(options.output) as temporary:
            text = "\n".join(table.separated(found, names))
            temporary.write_text(f"{text}\n", encoding="utf-8")


def _show_table(options: argparse.Namespace, found: Results, chosen: Sequence[Instrument]) -> None:
    if options.json:
        printing.document({"functions": chosen, "results": found}, sys.stderr)
        return
    each = phases.by_phase(found, chosen)
    print("\n".join(table.lines(each, found.costs, options.top or len(chosen))), file=sys.stderr)
