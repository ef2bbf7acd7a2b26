# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence observe --timeline`: what a command's tasks did, as a page or as a trace."""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kadence.base.errors import UsageError
from kadence.lab.session import Reading
from kadence.observe.probes.guest import Observer
from kadence.observe.probes.instruments import Instrument
from kadence.observe.probes.results import Results
from kadence.observe.timeline import events, page, spans, trace

ALL = "*"  # the default of --functions
# What a timeline shows if no functions are named: system calls and page faults.
FUNCTIONS = "__x64_sys_*,handle_mm_fault"
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
    if options.timeline and (options.job or options.process):
        raise UsageError("--timeline shows a command in a guest; leave out --job and --process")
    if options.timeline and options.functions == ALL:
        options.functions = FUNCTIONS


def observe(
    options: argparse.Namespace, observer: Observer, chosen: Sequence[Instrument]
) -> tuple[Reading, Results]:
    """Run the command, and write its timeline."""
    with tempfile.TemporaryDirectory(prefix="kadence-observe-") as folder:
        taken = Path(folder, "events")
        reading, found = observer.observe(chosen, taken)
        timeline = spans.make(events.read(taken), found, chosen)
    remark = f"{reading.guest.name}; {len(chosen):,} functions."
    for path in options.timeline:
        if path.suffix == PAGE:
            page.write(timeline, observer.argv, [remark], path)
        else:
            trace.write(timeline, path)
    return reading, found
