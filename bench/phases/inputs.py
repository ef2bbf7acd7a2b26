# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the examples on two inputs: are they input-stable, and do markers hold on the second input?

Prints the table of docs/compare.md, and draws its pictures with --pictures. Missed goals are
marked: announce at least 95 % of all boundaries, marked or not, with at most 5 % of the firings
elsewhere and at most 1,000 firings per second.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from bench.base import programs
from bench.base.rows import MISSED
from kadence.base import artefact, resources
from kadence.base.errors import KadenceError
from kadence.program.places import Places

GREYS = 48  # in a picture; few, because every clone of the repository holds the pictures
SHOWN = ("heat", "minimap2")  # the examples whose pictures are in docs/
HEADINGS = ("boundaries", "unmarked", "announced", "elsewhere", "firings/s", "")


def prepared(name: str) -> Places:
    """Returns an example's profiles, comparison and plan, and makes them if they are missing."""
    with programs.line(name, resources.home() / "build" / "bench" / "inputs" / name) as line:
        line.planned(programs.plain(line), force=True)
        return line.places


def told(name: str, places: Places) -> Iterator[str]:
    """Yields an example's lines of the table."""
    plan = artefact.read(places.artefact("plan.json"), artefact.PLAN)
    stability, found = plan["stability"], plan["announcement"]
    yield f"{name}: {stability['verdict']}, {stability['unknown']:.1%} unknown"
    yield _line("", HEADINGS)
    yield _figures("chosen on", found["chosen_on"], found)
    for figures in found["validated_on"]:
        yield _figures("validated on", figures, found)
    for phase in found["withdrawn"]:
        yield f"  the marker of phase {phase} is counted here, but not used"
    yield ""


def _figures(label: str, figures: dict[str, Any], goals: dict[str, Any]) -> str:
    marked = figures["boundaries"] - figures["unmarked"]
    announced = (figures["announced"] or 0.0) * marked / max(figures["boundaries"], 1)
    met = (
        announced >= goals["announced_at_least"]
        and (figures["false"] or 0.0) <= goals["false_at_most"]
        and figures["firings_per_second"] <= goals["firings_per_second_at_most"]
    )
    cells = (
        f"{figures['boundaries']:,}",
        f"{figures['unmarked']:,}",
        _share(figures["announced"]),
        _share(figures["false"]),
        f"{figures['firings_per_second']:.3g}",
        "met" if met else MISSED,
    )
    return _line(f"  {label}", cells) + f"  {' '.join(figures['program'])}"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _line(label: str, cells: tuple[str, ...]) -> str:
    return f"{label:14}" + "".join(f"{cell:>12}" for cell in cells)


def keep_picture(name: str, places: Places) -> None:
    """Write the annotated picture to docs/."""
    with Image.open(places.artefact("compare-annotated.png")) as picture:
        _with_few_greys(picture).save(
            resources.home() / "docs" / f"{name}-inputs.png", optimize=True
        )


def _with_few_greys(picture: Image.Image) -> Image.Image:
    """Returns the picture in a palette, with the colours of phases unchanged and fewer greys."""
    pixels = np.asarray(picture.convert("RGB")).copy()
    grey = (pixels == pixels[:, :, :1]).all(axis=2)
    step = 255 / (GREYS - 1)
    pixels[grey] = np.rint(np.rint(pixels[grey] / step) * step).astype(np.uint8)
    return Image.fromarray(pixels).quantize(256, dither=Image.Dither.NONE)


def main() -> int:
    """Do the steps that are not finished, then print the table and keep it."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="programs whose name this expression matches")
    parser.add_argument("--pictures", action="store_true", help="also draw the pictures in docs/")
    options = parser.parse_args()
    printed = []
    for name in (name for name in programs.NAMES if re.search(options.only, name)):
        places = prepared(name)
        for line in told(name, places):
            print(line.rstrip(), flush=True)
            printed.append(line.rstrip())
        if options.pictures and name in SHOWN:
            keep_picture(name, places)
    kept = Path(resources.home() / "build" / "bench" / "inputs.txt")
    kept.write_text("\n".join(printed) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-inputs: {error}")
