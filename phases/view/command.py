# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence view`: everything that it writes."""

from dataclasses import dataclass
from pathlib import Path

from kadence import artefact
from kadence.phases.view import content, page, subject
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
    made = content.of(found, phases_path.parent)
    text = page.render(found, made)
    with artefact.atomic_output(outputs.page) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return found
