# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a timeline in the Trace Event Format, which Perfetto and Chrome's tracing page open.

X  a call, wait, phase or run; the viewer puts spans of one track into one another
i  a tracepoint
M  names of tracks
"""

import json
import platform
from collections.abc import Iterator
from pathlib import Path

from kadence.base import artefact
from kadence.observe.timeline.spans import RUNNING, Lane, Timeline

TASKS, PROCESSORS = 1, 2  # the format's processes
NODE, LOST, BEGIN, ERROR = "node", "lost events", "begin ns", "clock error ns"
HEAD = '"otherData":{"kadence": "observe"'  # near the begin of the file
UNKNOWN = "unknown"


def write(timeline: Timeline, path: Path) -> None:
    """Write the trace."""
    with (
        artefact.atomic_output(path) as temporary,
        temporary.open("w", encoding="utf-8") as out,
    ):
        out.write('{"displayTimeUnit":"ns",')
        out.write(f'"otherData":{json.dumps(_about(timeline))},"traceEvents":[\n')
        out.write(",\n".join(_events(timeline)))
        out.write("\n]}\n")


def _about(timeline: Timeline) -> dict[str, str]:
    """What the format has no place for; the format's values are strings."""
    about = {"kadence": "observe", NODE: platform.node(), LOST: str(timeline.lost)}
    if timeline.begin:
        error = timeline.begin.error_ns
        about |= {BEGIN: str(timeline.begin.ns), ERROR: UNKNOWN if error is None else str(error)}
    return about


def _events(timeline: Timeline) -> Iterator[str]:
    names = [json.dumps(label) for label in timeline.labels]
    tracks: dict[str, int] = {}
    for process, name in ((TASKS, "tasks"), (PROCESSORS, "processors")):
        yield _named("process_name", process, 0, name)
    for lane in timeline.lanes:
        process = PROCESSORS if lane.kind == RUNNING else TASKS
        if lane.owner not in tracks:
            tracks[lane.owner] = len(tracks)
            yield _named("thread_name", process, tracks[lane.owner], lane.owner)
        yield from _spans(lane, f'"pid":{process},"tid":{tracks[lane.owner]}', names)


def _named(what: str, process: int, track: int, name: str) -> str:
    event = {"ph": "M", "name": what, "pid": process, "tid": track, "args": {"name": name}}
    return json.dumps(event, separators=(",", ":"))


def _spans(lane: Lane, place: str, names: list[str]) -> Iterator[str]:
    for begin, end, label in zip(
        lane.begins.tolist(), lane.ends.tolist(), lane.labels.tolist(), strict=True
    ):
        took = f'"ph":"X","dur":{(end - begin) / 1000:.3f}' if end > begin else '"ph":"i","s":"t"'
        yield (
            f'{{{took},"name":{names[label]},"cat":"{lane.kind}",{place},"ts":{begin / 1000:.3f}}}'
        )
