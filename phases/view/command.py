# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence view`: everything that it writes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence import artefact
from kadence.phases.view import content, page, subject, trace
from kadence.phases.view.content import Content
from kadence.phases.view.server import Server
from kadence.phases.view.subject import Body, Subject


@dataclass(frozen=True)
class Outputs:
    """Where to write; None for what nobody asked for."""

    page: Path
    png: Path | None = None
    svg: Path | None = None
    trace: Path | None = None


@dataclass(frozen=True)
class Shown:
    """A run with all that its page holds."""

    subject: Subject
    content: Content
    remarks: tuple[str, ...] = ()  # on the plan


# What is to be said of a plan by who knows this machine's kernels, a sentence each.
Remarks = Callable[[Path, Body], Sequence[str]]


def run(
    phases_path: Path,
    outputs: Outputs,
    profile: Path | None = None,
    plan: Path | None = None,
    remarks: Remarks | None = None,
    source: Path | None = None,
) -> Shown:
    """Write what was asked for; returns what is shown.

    Lines of the source are taken from below `source`, or else from below the phases' folder.
    """
    found = subject.load(phases_path, profile, plan)
    told = remarks(phases_path, found.plan) if remarks and found.plan else ()
    shown = Shown(found, content.of(found, source or phases_path.parent), tuple(told))
    text = page.render(found, shown.content, remarks=shown.remarks)
    with artefact.atomic_output(outputs.page) as temporary:
        temporary.write_text(text, encoding="utf-8")
    _export(found, outputs)
    return shown


def _export(found: Subject, outputs: Outputs) -> None:
    if outputs.png or outputs.svg:
        # Matplotlib takes as long to load as all the rest takes to run.
        from kadence.phases.view import paper

        if outputs.png:
            paper.write_png(found, outputs.png)
        if outputs.svg:
            paper.write_svg(found, outputs.svg)
    if outputs.trace:
        trace.write(found, outputs.trace)


def serve(shown: Shown, port: int = 0) -> Server:
    """A server of the page; it answers from `serve_forever` on."""
    return Server(
        shown.subject,
        page.render(shown.subject, shown.content, served=True, remarks=shown.remarks),
        port,
    )
