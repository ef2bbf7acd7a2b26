# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence observe --why`: the walk to what takes the time, in the lab or on this machine."""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from kadence.base import printing, terminal
from kadence.base.errors import UsageError
from kadence.observe import advice, walk
from kadence.observe.paths import Path as Calls
from kadence.observe.probes import candidates, node
from kadence.observe.probes.instruments import Instrument, Kernel
from kadence.observe.probes.results import Results
from kadence.observe.timeline import events, tree

COUNTING_SECONDS = 0.1  # for each some thousand functions


def check(options: argparse.Namespace) -> None:
    """Raise UsageError if the walk is asked for together with something else."""
    if options.why and (options.per_phase or options.timeline):
        raise UsageError("--why tells phases apart by itself; leave out --per-phase and --timeline")


def lines(command: Calls) -> Iterator[str]:
    """The tree and the advice, for a person."""
    yield from walk.lines(command)
    fits = advice.fitting(command, advice.read())
    yield from advice.lines(command, fits)
    if not fits:
        yield "no advice of advice.toml fits"


def observe_node(
    options: argparse.Namespace, processes: Sequence[int], patterns: Sequence[str]
) -> int:
    """Count the functions for the processes, time those that are worth it, and tell the walk."""
    kernel = node.kernel()
    chosen = _chosen(options, kernel, processes, patterns)
    with tempfile.TemporaryDirectory(prefix="kadence-observe-") as folder:
        taken = Path(folder, "events")
        found = node.observe(chosen, node.tasks(processes), options.seconds, taken)
        seen = events.read(taken)
    command = tree.paths(seen, found.costs, chosen)
    if options.json:
        printing.document(
            {"events": len(seen.rows), "lost": seen.lost, "paths": command}, sys.stderr
        )
        return 0
    told = [
        f"kadence: observe: {len(seen.rows):,} events of {len(chosen):,} functions in "
        f"{options.seconds:g} s"
    ]
    if seen.lost:
        told.append(f"kadence: observe: {seen.lost:,} events came too fast, and are missing")
    told += lines(command)
    print("\n".join(told), file=sys.stderr)
    return 0


def _chosen(
    options: argparse.Namespace,
    kernel: Kernel,
    processes: Sequence[int],
    patterns: Sequence[str],
) -> list[Instrument]:
    def count(batch: Sequence[Instrument]) -> Results:
        # What events cost is to be predicted, too.
        return node.observe(batch, node.tasks(processes), COUNTING_SECONDS, Path(os.devnull))

    terminal.tell("observe: counting the functions, some thousand at a time …")
    counted = list(candidates.called(kernel, patterns, count))
    chosen = candidates.affordable(kernel, counted, options.most_slowdown)
    if not chosen:
        raise UsageError("the processes called no function of the kernel; do they sleep?")
    return chosen
