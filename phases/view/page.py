# SPDX-License-Identifier: GPL-2.0-or-later
"""Renders the page: one file that holds its scripts, its style and all its numbers."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bokeh.resources import Resources

from kadence.base import pages
from kadence.phases.artefact.document import Phase
from kadence.phases.plan import memory_planning
from kadence.phases.planning import NANOSECONDS
from kadence.phases.view import figures, functions, memory, palette
from kadence.phases.view.content import Content
from kadence.phases.view.subject import Body, Subject, kind_name

ASSETS = Path(__file__).parent / "assets"
# The page's names for the units of an interval's length.
UNITS = {"instructions": "instructions", "nanoseconds": "nanoseconds of processor time"}
SCRIPTS = (
    "store",
    "distances",
    "picture",
    "words",
    "panels",
    "plots",
    "server",
    "pointer",
    "keys",
    "main",
)


def render(
    subject: Subject, made: Content, served: bool = False, remarks: Sequence[str] = ()
) -> str:
    """Returns the whole page. `served` allows the page to send requests to its own server."""
    environment = pages.environment(ASSETS)
    header = made.header
    return environment.get_template("view.html.j2").render(
        served=served,
        name=subject.name,
        program=shlex.join(subject.document.program),
        intervals=subject.intervals,
        interval=subject.profile.interval,
        unit=UNITS[subject.profile.unit],
        instructions=subject.document.total_instructions,
        threads=header["threads"],
        exact=header["group"] == 1,
        group=header["group"],
        landmarks=len(header["landmarks"]),
        phases=_rows(subject),
        remarks=list(remarks),
        memory=memory.section(subject),
        transitions=len(subject.transitions),
        outside=subject.document.outside.why,
        transition_weight=f"{subject.document.intervals.transition_weight:.2%}",
        waiting=len(subject.waiting),
        waiting_weight=f"{subject.document.intervals.waiting_weight:.2%}",
        header=made.header_text,
        item=_json(figures.item(subject.intervals, len(header["markers"]), subject.kernel_seen)),
        palettes=_json(palette.DISTANCES),
        numbers=made.arrays,
        style=(ASSETS / "view.css").read_text(encoding="utf-8"),
        library=_library(),
        scripts="".join((ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS),
    )


def _json(value: object) -> str:
    """Returns JSON that is safe inside a script element."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _library() -> str:
    """Returns BokehJS without the components that these figures do not use."""
    resources = Resources(mode="inline", components=["bokeh"])
    return "\n".join(resources.js_raw)


def _rows(subject: Subject) -> list[dict[str, Any]]:
    both = zip(subject.document.phases, functions.hottest(subject), strict=True)
    return [_row(subject, phase, hottest) for phase, hottest in both]


def _row(subject: Subject, phase: Phase, hottest: functions.Shares) -> dict[str, Any]:
    adaptation, reasons = _planned(subject.plan, phase.number)
    return {
        "id": phase.number,
        "colour": palette.css_colour(phase.number),
        "weight": f"{phase.weight:.2%}",
        "kind": kind_name(phase.kind),
        "intervals": phase.intervals,
        "faults": memory.faults_of(subject, phase.memory.faults),
        "functions": [(function, f"{share:.1%}") for function, share in hottest],
        "representative": phase.representative,
        "adaptation": adaptation,
        "reasons": reasons,
    }


def _planned(plan: Body | None, phase: int) -> tuple[str, list[str]]:
    if plan is None:
        return "no plan given", []
    policy = plan["policies"][phase]
    seconds = policy["quantum_ns"] / NANOSECONDS
    adaptation = f"quantum of {seconds:g} s" if seconds else "none: the kernel's defaults"
    reasons = [policy["evidence"]]
    reasons += [
        f"marker in {marker['function']}: {marker['evidence']}"
        for marker in plan["markers"]
        if marker["phase"] == phase
    ]
    reasons += [
        f"I/O path in {site['function']}: {site['evidence']}"
        for site in plan["io"]["sites"]
        if site["phase"] == phase
    ]
    reasons += [
        f"{', '.join(site['treatments'])} in {site['function']}: {site['evidence']}"
        for site in plan["memory"]["sites"]
        if site["phase"] == phase
    ]
    reasons += [
        f"{_what(refusal['what'])}: {refusal['reason']}"
        for refusal in plan["refused"]
        if refusal["phase"] == phase and refusal["reason"] not in policy["evidence"]
    ]
    return adaptation, reasons


def _what(refused: str) -> str:
    return "memory as it is" if refused == memory_planning.REFUSED else f"no {refused}"
