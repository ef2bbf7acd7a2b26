# SPDX-License-Identifier: GPL-2.0-or-later
"""Renders a timeline as a page of one file, which needs no network.

A span is three numbers: the time since the end of the one before, its length, and its label. Each
number takes as many bytes of seven bits as it needs. All lanes are compressed together.
"""

import base64
import json
import shlex
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kadence.base import artefact, pages
from kadence.observe.timeline.spans import Lane, Numbers, Timeline

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = ("store", "painting", "words", "main")
MOST_BYTES = 10  # of a number of 64 bits


def write(timeline: Timeline, command: Sequence[str], remarks: Sequence[str], path: Path) -> None:
    """Write the page; the remarks are shown above the lanes."""
    with artefact.atomic_output(path) as temporary:
        temporary.write_text(render(timeline, command, remarks), encoding="utf-8")


def render(timeline: Timeline, command: Sequence[str], remarks: Sequence[str]) -> str:
    """The page's text."""
    environment = pages.environment(ASSETS)
    compress = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    data = b"".join(compress.compress(_encoded(lane)) for lane in timeline.lanes)
    return environment.get_template("timeline.html.j2").render(
        command=shlex.join(command),
        remarks=[*remarks, *_lost(timeline)],
        events=sum(len(lane.begins) for lane in timeline.lanes),
        scripts=[(ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS],
        header=_header(timeline),
        data=base64.b64encode(data + compress.flush()).decode("ascii"),
    )


def _lost(timeline: Timeline) -> list[str]:
    if not timeline.lost:
        return []
    return [f"{timeline.lost:,} events came too fast or had no room, and are missing."]


def _header(timeline: Timeline) -> str:
    """JSON that may stand in a script element."""
    lanes = [
        {"owner": lane.owner, "kind": lane.kind, "depth": lane.depth, "count": len(lane.begins)}
        for lane in timeline.lanes
    ]
    header = {"labels": list(timeline.labels), "lanes": lanes, "length": timeline.length_ns}
    return json.dumps(header).replace("<", "\\u003c")


def _encoded(lane: Lane) -> bytes:
    numbers = np.empty((len(lane.begins), 3), dtype=np.uint64)
    before = np.concatenate(([0], lane.ends[:-1]))
    # Clocks of two processors may differ a little.
    begins = np.maximum(lane.begins, before)
    numbers[:, 0] = begins - before
    numbers[:, 1] = np.maximum(lane.ends, begins) - begins
    numbers[:, 2] = lane.labels
    return varints(numbers.ravel())


def varints(numbers: Numbers) -> bytes:
    """Unsigned numbers in groups of seven bits, the lowest first; all but the last have bit 7."""
    lengths = np.ones(len(numbers), dtype=np.int64)
    for more in range(1, MOST_BYTES):
        lengths += (numbers >> np.uint64(7 * more)) > 0
    ends = np.cumsum(lengths)
    found = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    for at in range(MOST_BYTES):
        has = lengths > at
        groups = (numbers[has] >> np.uint64(7 * at)) & np.uint64(0x7F)
        last = (lengths[has] == at + 1).astype(np.uint8)
        found[(ends - lengths)[has] + at] = groups.astype(np.uint8) | ((1 - last) << 7)
    return found.tobytes()
