# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the files of `kadence view`, and serves its page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base import artefact
from kadence.phases.view import content, page, subject, trace
from kadence.phases.view.content import Content
from kadence.phases.view.server import Server
from kadence.phases.view.subject import Body, Subject


@dataclass(frozen=True)
class Outputs:
    """Where to write each file. None: the user did not ask for this file."""

    page: Path
    png: Path | None = None
    svg: Path | None = None
    trace: Path | None = None


@dataclass(frozen=True)
class Shown:
    """A run with the content of its page."""

    subject: Subject
    content: Content
    remarks: tuple[str, ...] = ()  # on the plan


# A function of a caller that knows this machine's kernels. It returns remarks on the plan, each one
# sentence.
Remarks = Callable[[Path, Body], Sequence[str]]


def run(
    phases_path: Path,
    outputs: Outputs,
    profile: Path | None = None,
    plan: Path | None = None,
    remarks: Remarks | None = None,
    source: Path | None = None,
) -> Shown:
    """Write the requested files. Returns the run and the content of its page.

    Source lines are read from files below `source` or, without `source`, below the folder of the
    phases artefact.
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
        # Loading Matplotlib takes as long as everything else in this command.
        from kadence.phases.view import paper

        if outputs.png:
            paper.write_png(found, outputs.png)
        if outputs.svg:
            paper.write_svg(found, outputs.svg)
    if outputs.trace:
        trace.write(found, outputs.trace)


def serve(shown: Shown, port: int = 0) -> Server:
    """Make a server for the page. It answers once the caller calls `serve_forever`."""
    return Server(
        shown.subject,
        page.render(shown.subject, shown.content, served=True, remarks=shown.remarks),
        port,
    )
