# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads traces that `kadence observe` wrote, and puts those of several nodes on one timeline."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kadence.base.errors import UsageError
from kadence.observe.timeline import trace
from kadence.observe.timeline.clocks import Begin
from kadence.observe.timeline.spans import CALLS, Labels, Lane, Numbers, Timeline, depths_of

BEGIN_CHARACTERS = 200


@dataclass(frozen=True)
class Node:
    """A node's timeline."""

    name: str
    timeline: Timeline


def is_trace(path: Path) -> bool:
    """Whether `kadence observe` wrote the file."""
    try:
        with path.open(encoding="utf-8") as file:
            return trace.HEAD in file.read(BEGIN_CHARACTERS)
    except (OSError, UnicodeDecodeError):
        return False


def read(path: Path) -> Node:
    """Read a trace. Raises UsageError if the file is something else."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return _node(document["otherData"], document["traceEvents"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} is no trace of `kadence observe --timeline T.json`; write it anew"
        ) from error


def _node(about: Mapping[str, str], events: Sequence[Mapping[str, Any]]) -> Node:
    owners = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
    rows: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    labels = Labels()
    for each in events:
        if each["ph"] == "M":
            continue
        begin = round(1000 * each["ts"])
        end = begin + round(1000 * each.get("dur", 0))
        row = begin, end, labels.of(each["name"])
        rows.setdefault((owners[each["tid"]], each["cat"]), []).append(row)
    lanes = [lane for (owner, kind), own in rows.items() for lane in _lanes(owner, kind, own)]
    length = max((int(lane.ends.max()) for lane in lanes), default=0)
    timeline = Timeline(list(labels.numbers), lanes, length, int(about[trace.LOST]), _begin(about))
    return Node(about[trace.NODE], timeline)


def _begin(about: Mapping[str, str]) -> Begin | None:
    if trace.BEGIN not in about:
        return None
    error = about[trace.ERROR]
    return Begin(int(about[trace.BEGIN]), None if error == trace.UNKNOWN else int(error))


def _lanes(owner: str, kind: str, rows: Sequence[tuple[int, int, int]]) -> Iterator[Lane]:
    begins, ends, labels = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    order = np.lexsort((-ends, begins))
    begins, ends, labels = begins[order], ends[order], labels[order]
    depths: Numbers = np.zeros(len(begins), dtype=np.int64)
    if kind == CALLS:
        depths = depths_of(begins, ends)
    for depth in range(int(depths.max()) + 1):
        own = depths == depth
        yield Lane(owner, kind, depth, begins[own], ends[own], labels[own])


# ---- several nodes ------------------------------------------------------------------------------


def merged(nodes: Sequence[Node]) -> Timeline:
    """One timeline, which begins when the first node does. Lanes have their nodes' names."""
    if len(nodes) == 1:
        return nodes[0].timeline
    begins = {node.name: _required(node).ns for node in nodes}
    if len(begins) < len(nodes):
        raise UsageError("two traces are of the same node; give one trace of each node")
    first, labels = min(begins.values()), Labels()
    lanes = [lane for node in nodes for lane in _shifted(node, begins[node.name] - first, labels)]
    length = max((int(lane.ends.max()) for lane in lanes), default=0)
    return Timeline(list(labels.numbers), lanes, length, sum(n.timeline.lost for n in nodes))


def _required(node: Node) -> Begin:
    if node.timeline.begin is None:
        raise UsageError(f"the trace of {node.name} does not say when it began; write it anew")
    return node.timeline.begin


def _shifted(node: Node, by: int, labels: Labels) -> Iterator[Lane]:
    numbers = np.array([labels.of(name) for name in node.timeline.labels], dtype=np.int64)
    for lane in node.timeline.lanes:
        yield replace(
            lane,
            owner=f"{node.name}: {lane.owner}",
            begins=lane.begins + by,
            ends=lane.ends + by,
            labels=numbers[lane.labels],
        )


def agreement(nodes: Sequence[Node]) -> str:
    """How well the nodes' clocks agree, in one sentence; empty for a single node."""
    if len(nodes) < 2:
        return ""
    errors = {node.name: _required(node).error_ns for node in nodes}
    unknown = [name for name, error in errors.items() if error is None]
    if unknown:
        verb = "is" if len(unknown) == 1 else "are"
        return (
            f"How well the clocks agree is not known: {', '.join(unknown)} {verb} not "
            "synchronised, by NTP or PTP."
        )
    most = sorted(error for error in errors.values() if error is not None)[-2:]
    return f"The clocks of {', '.join(errors)} agree to {sum(most) / 1e6:.3g} ms."
