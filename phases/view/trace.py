# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the timeline in the Trace Event Format, which Perfetto and Chrome's tracing page open.

The run's clock counts instructions: a time stamp says how many instructions all threads had
executed. The viewer shows one instruction as one microsecond.

    X  a stay in a phase, on the track of its thread
    C  system calls and bytes moved in an interval, at its beginning, if the profile has them
    i  a marker that fired in the interval that begins there
    M  names
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kadence.base import artefact
from kadence.phases.view import activity
from kadence.phases.view.subject import Subject, kind_name

PROCESS = 1  # the format requires a process ID, and a profile has one process

Event = dict[str, Any]


def write(subject: Subject, path: Path) -> None:
    """Write the trace. The same run gives the same bytes."""
    document = {
        "traceEvents": [*_names(subject), *_phases(subject), *_counters(subject), *_fired(subject)],
        "displayTimeUnit": "ns",
        "otherData": {
            "program": list(subject.document.program),
            "clock": "instructions: one microsecond of the viewer is one instruction",
        },
    }
    with artefact.atomic_output(path) as temporary:
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        temporary.write_text(text + "\n", encoding="utf-8")


def _names(subject: Subject) -> Iterator[Event]:
    yield _name("process_name", subject.name, 0)
    for thread in dict.fromkeys(subject.profile.thread.tolist()):
        yield _name("thread_name", f"phases of thread {thread}", thread)


def _name(what: str, name: str, thread: int) -> Event:
    return {"ph": "M", "name": what, "pid": PROCESS, "tid": thread, "args": {"name": name}}


def _phases(subject: Subject) -> Iterator[Event]:
    profile = subject.profile
    shown, parts = subject.shown, subject.parts
    change = (np.diff(shown) != 0) | (np.diff(profile.thread) != 0)
    firsts = np.concatenate(([0], np.flatnonzero(change) + 1)).tolist()
    for first, end in zip(firsts, [*firsts[1:], subject.intervals], strict=True):
        part = parts[shown[first]]
        begin, last = int(profile.start[first]), end - 1
        yield {
            "ph": "X",
            "name": part.name,
            "cat": "phase",
            "pid": PROCESS,
            "tid": int(profile.thread[first]),
            "ts": begin,
            "dur": int(profile.start[last]) + int(profile.instructions[last]) - begin,
            "args": {
                "phase": int(subject.assignment[first]),
                "kind": kind_name(part.kind),
                "first interval": first,
                "last interval": last,
            },
        }


def _counters(subject: Subject) -> Iterator[Event]:
    if not subject.kernel_seen:
        return
    calls, moved = activity.system_calls(subject.profile)
    starts, threads = subject.profile.start.tolist(), subject.profile.thread.tolist()
    several = len(set(threads)) > 1
    for name, values in (("system calls", calls.tolist()), ("bytes moved", moved.tolist())):
        for row in _changes(values, threads):
            yield {
                "ph": "C",
                "name": f"{name}, thread {threads[row]}" if several else name,
                "cat": "system calls",
                "pid": PROCESS,
                "tid": threads[row],
                "ts": starts[row],
                "args": {"per interval": values[row]},
            }


def _changes(values: list[int], threads: list[int]) -> Iterator[int]:
    """Yields the rows whose value or thread differs from the row before.

    The viewer holds a counter's value until the next event.
    """
    for row, value in enumerate(values):
        if row == 0 or value != values[row - 1] or threads[row] != threads[row - 1]:
            yield row


def _fired(subject: Subject) -> Iterator[Event]:
    starts, threads = subject.profile.start.tolist(), subject.profile.thread.tolist()
    for marker in activity.markers(subject):
        for row in np.flatnonzero(marker.fires > 0).tolist():
            yield {
                "ph": "i",
                "s": "t",
                "name": f"marker of phase {marker.phase}",
                "cat": "marker",
                "pid": PROCESS,
                "tid": threads[row],
                "ts": starts[row],
                "args": {"place": marker.place, "firings": round(float(marker.fires[row]))},
            }
