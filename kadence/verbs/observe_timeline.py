# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence observe --timeline`: what a command's tasks did, as a page or as a trace."""

import argparse
import platform
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from kadence.base.errors import UsageError
from kadence.lab.guest import STOCK
from kadence.observe.probes import node, um
from kadence.observe.probes.guest import Observer, Seen
from kadence.observe.probes.instruments import Instrument
from kadence.observe.probes.results import Results
from kadence.observe.timeline import events, page, spans, trace
from kadence.observe.timeline.spans import Timeline

ALL = "*"  # the default of --functions
# What a timeline shows if no functions are named: system calls and page faults.
FUNCTIONS = "__x64_sys_*,handle_mm_fault"
UM_FUNCTIONS = "sys_*,handle_mm_fault"
PAGE, TRACE = ".html", ".json"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the option."""
    parser.add_argument(
        "--timeline", type=Path, action="append", default=[], metavar="T",
        help="write every call, wait and phase: T.html is a page, T.json a trace for Perfetto "
             "(may be repeated)",
    )  # fmt: skip


def check(options: argparse.Namespace) -> None:
    """Choose functions if none are named. Raise UsageError if no timeline can be written."""
    for path in options.timeline:
        if path.suffix not in (PAGE, TRACE):
            raise UsageError(f"--timeline {path} is neither a page ({PAGE}) nor a trace ({TRACE})")
        if not path.absolute().parent.is_dir():
            raise UsageError(
                f"there is no folder {path.parent}; choose another one with --timeline"
            )
    if options.timeline and options.functions == ALL:
        options.functions = FUNCTIONS if options.kernel == STOCK else UM_FUNCTIONS


def observe(
    options: argparse.Namespace, observer: Observer | um.Observer, chosen: Sequence[Instrument]
) -> Seen:
    """Run the command, and write its timeline."""
    with tempfile.TemporaryDirectory(prefix="kadence-observe-") as folder:
        taken = Path(folder, "events")
        seen = observer.observe(chosen, taken)
        timeline = spans.make(events.read(taken), seen.results, chosen)
    _write(options, timeline, observer.argv, observer.name, len(chosen))
    return seen


def observe_node(
    options: argparse.Namespace,
    chosen: Sequence[Instrument],
    running: Sequence[int],
    ranks: Mapping[int, int],
) -> Results:
    """Observe tasks of this machine, and write their timeline."""
    with tempfile.TemporaryDirectory(prefix="kadence-observe-") as folder:
        taken = Path(folder, "events")
        found = node.observe(chosen, running, options.seconds, taken)
        timeline = spans.make(events.read(taken), found, chosen, ranks)
    what = ["job", options.job] if options.job else ["processes", *map(str, options.process)]
    _write(options, timeline, what, platform.node(), len(chosen))
    return found


def _write(
    options: argparse.Namespace, timeline: Timeline, what: Sequence[str], where: str, count: int
) -> None:
    for path in options.timeline:
        if path.suffix == PAGE:
            page.write(timeline, what, [f"{where}; {count:,} functions."], path)
        else:
            trace.write(timeline, path)
