# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the pictures of the examples in README.md and docs/, from fresh profiles and phases.

Every example gets `docs/NAME.png` as `kadence view --png` draws it, in 256 colours so that it is
small. The first example also gets `docs/view.png`, the page as a browser shows it, and
`docs/heat-phases.png`, the annotated matrix.
"""

import argparse
import shutil
import sys
from pathlib import Path

from PIL import Image

from bench.base import programs
from kadence.phases.view import command
from kadence.phases.view.command import Outputs

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/phases/view"))

from browser import Browser  # noqa: E402

DOCS = ROOT / "docs"
EXAMPLES = ("heat", "lu", "ring")
COLOURS = 256
LARGEST = 300_000  # bytes of a picture; every clone of the repository holds the pictures

# A cell of two phases, so that the picture shows what a click shows.
CHOOSE = """
const { pointer } = window.kadenceView;
const buttons = [...document.querySelectorAll("button[data-interval]")];
const intervals = buttons.map((button) => Number(button.dataset.interval));
const [first, second] = intervals.sort((a, b) => a - b);
pointer.choose(first, second ?? first);
pointer.show();
"""


def analyse(name: str, output: Path) -> Path:
    """Build, profile, find phases and plan; returns the phases artefact."""
    with programs.line(name, output) as line:
        line.planned(programs.plain(line), force=False)
        return line.places.artefact("phases.json")


def shrink(picture: Path, output: Path) -> None:
    """Write the picture in a palette. Ends the program with status 1 if it is too large."""
    with Image.open(picture) as opened:
        colours = opened.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        colours.save(output, optimize=True)
    size = output.stat().st_size
    print(f"{output.relative_to(ROOT)}: {size} bytes")
    if size > LARGEST:
        sys.exit(f"{output} has more than {LARGEST} bytes")


def photograph(page: Path, output: Path) -> None:
    """Write a screenshot of the page in a browser."""
    browser = Browser()
    try:
        browser.open(page.as_uri())
        browser.run(CHOOSE)
        browser.settle()
        browser.screenshot(output)
    finally:
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="folder for the profiles")
    output = parser.parse_args().output.resolve()
    for name in EXAMPLES:
        phases = analyse(name, output / name)
        page, drawn = output / name / f"{name}.html", output / name / f"{name}.png"
        command.run(phases, Outputs(page=page, png=drawn))
        shrink(drawn, DOCS / f"{name}.png")
    first = output / EXAMPLES[0]
    shutil.copyfile(first / "heat.matrix-annotated.png", DOCS / "heat-phases.png")
    photograph(first / f"{EXAMPLES[0]}.html", first / "view.png")
    shrink(first / "view.png", DOCS / "view.png")


if __name__ == "__main__":
    main()
