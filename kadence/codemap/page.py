# SPDX-License-Identifier: GPL-2.0-or-later
"""Renders the map as a page of one file, which needs no network."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kadence.base import artefact, pages
from kadence.base.errors import UsageError
from kadence.codemap import drawing
from kadence.codemap.content import CodeMap
from kadence.kconfig.layout import artefact as counts
from kadence.kconfig.layout.artefact import Counts

ASSETS = Path(__file__).parent / "assets"
TITLES = ("as it was: ", "laid out: ")  # of the kernel's maps


def is_counts(path: Path) -> bool:
    """Whether the file has counts of a kernel."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(document, dict) and document.get("schema") == artefact.COUNTS


def write(path: Path, page: Path, picture: Path | None) -> None:
    """Write the page of these counts, and the picture of the last map if it has a place."""
    found = counts.read(path)
    if found.before is None:
        raise UsageError(f"{path} has no map of the code; count again")
    with artefact.atomic_output(page) as temporary:
        temporary.write_text(render(found), encoding="utf-8")
    if picture is not None:
        drawn = _drawn(_maps(found), TITLES)
        with artefact.atomic_output(picture) as temporary:
            temporary.write_text(drawn[-1], encoding="utf-8")


def render(found: Counts) -> str:
    """The page's text."""
    kernels = _maps(found)
    subjects = [_subject("kernel", kernels, TITLES)]
    if program := _program(found):
        subjects.append(_subject("program", [program], [""]))
    template = pages.environment(ASSETS).get_template("codemap.html.j2")
    return template.render(
        command=shlex.join(found.program),
        kernel=found.kernel,
        not_worth_it=found.not_worth_it,
        cache=f"{kernels[0].bytes >> 10} KB in {kernels[0].ways} ways",
        subjects=subjects,
        others=drawing.OTHERS,
    )


def _maps(found: Counts) -> list[CodeMap]:
    return [CodeMap(each, each.caches[0]) for each in (found.before, found.after) if each]


def _program(found: Counts) -> CodeMap | None:
    """The program's code, on the last kernel; None if none was found."""
    last = found.after or found.before
    if last is None or last.program_code is None or not last.program_code.code:
        return None
    return CodeMap(last.program_code, last.caches[0])


def _subject(owner: str, maps: Sequence[CodeMap], titles: Sequence[str]) -> dict[str, Any]:
    """What the template needs for the maps of one kernel, or of one program."""
    return {
        "owner": owner,
        "pictures": _drawn(maps, titles),
        "tables": [
            {"title": title, "rows": each.rows(), "total": sum(each.misses_by_set), "map": each}
            for title, each in zip(titles, maps, strict=False)
        ],
        "phases": [
            {"name": phase.name, "pictures": _drawn(maps, titles, phase.name)}
            for phase in maps[0].phases
        ],
        "colours": drawing.colours(maps),
    }


def _drawn(maps: Sequence[CodeMap], titles: Sequence[str], phase: str | None = None) -> list[str]:
    chosen = drawing.colours(maps)
    shown = maps if phase is None else [each.of_phase(phase) for each in maps]
    return [
        drawing.svg(each, chosen, f"{title}{len(each.lines):,} lines on {len(each.pages)} pages")
        for title, each in zip(titles, shown, strict=False)
    ]
