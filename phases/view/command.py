# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence view`: everything that it writes."""

from dataclasses import dataclass
from pathlib import Path

from kadence import artefact
from kadence.phases.view import content, page, subject, trace
from kadence.phases.view.server import Server
from kadence.phases.view.subject import Subject


@dataclass(frozen=True)
class Outputs:
    """Where to write; None for what nobody asked for."""

    page: Path
    png: Path | None = None
    svg: Path | None = None
    trace: Path | None = None


def run(
    phases_path: Path, outputs: Outputs, profile: Path | None = None, plan: Path | None = None
) -> Subject:
    """Write what was asked for; returns the run that is shown."""
    found = subject.load(phases_path, profile, plan)
    text = page.render(found, content.of(found, phases_path.parent))
    with artefact.atomic_output(outputs.page) as temporary:
        temporary.write_text(text, encoding="utf-8")
    _export(found, outputs)
    return found


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


def serve(found: Subject, phases_path: Path, port: int) -> Server:
    """A server of the page of this run; it answers from `serve_forever` on."""
    text = page.render(found, content.of(found, phases_path.parent), served=True)
    return Server(found, text, port)
