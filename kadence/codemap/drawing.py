# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws a map as SVG: the sets of the cache across, the pages of the code downwards.

A cell is a line of code. Its colour is its function's; grey is for all functions that miss less. A
dark dot marks the lines that have nine tenths of the misses. Bars above show each set's misses.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from kadence.codemap.content import CodeMap, Line
from kadence.kconfig.layout.artefact import PAGE_BYTES

CELL, ROW = 7, 5  # pixels
BARS = 60
LEFT, TOP = 8, 22
# Okabe and Ito's colours, which colour-blind readers can tell apart, and lighter ones of each.
COLOURS = (
    "#d55e00",
    "#0072b2",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#f0a47a",
    "#7fb8d8",
    "#80cfb9",
    "#e5bcd3",
    "#f2cf80",
    "#abd9f4",
)
OTHERS, MARK, INK = "#c8c8c8", "#202020", "#404040"


def colours(found: Sequence[CodeMap]) -> Mapping[str, str]:
    """A colour for each of the functions that miss most in the first map."""
    return dict(zip((row.function for row in found[0].rows()), COLOURS, strict=False))


def svg(found: CodeMap, chosen: Mapping[str, str], title: str) -> str:
    """The text of a picture."""
    width = 2 * LEFT + CELL * found.sets
    height = TOP + BARS + ROW * len(found.pages) + LEFT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">',
        f'<text x="{LEFT}" y="15" font-family="sans-serif" font-size="13" fill="{INK}">'
        f"{escape(title)}</text>",
        *_bars(found),
        *_cells(found, chosen),
        "</svg>",
    ]
    return "\n".join(parts)


def _bars(found: CodeMap) -> Sequence[str]:
    most = max(found.misses_by_set, default=0) or 1
    bars = []
    for number, misses in enumerate(found.misses_by_set):
        tall = round((BARS - 6) * misses / most, 1)
        at = f'x="{LEFT + CELL * number}" y="{TOP + BARS - 4 - tall}"'
        bars.append(
            f'<rect {at} width="{CELL - 1}" height="{tall}" fill="{MARK}">'
            f"<title>set {number}: {misses:,} misses</title></rect>"
        )
    return bars


def _cells(found: CodeMap, chosen: Mapping[str, str]) -> Sequence[str]:
    """A path for each function, and one for all marks."""
    rows = {page: number for number, page in enumerate(found.pages)}

    def at(line: Line) -> tuple[int, int]:
        row = rows[line.address // PAGE_BYTES]
        return LEFT + CELL * found.set_of(line), TOP + BARS + ROW * row

    cells: dict[str, list[str]] = defaultdict(list)
    marks = []
    for line in found.lines:
        x, y = at(line)
        cells[line.function].append(f"M{x} {y}h{CELL - 1}v{ROW - 1}h-{CELL - 1}z")
        if line.address in found.marked:
            marks.append(f"M{x + 2} {y + 1}h2v2h-2z")
    paths = [
        f'<path fill="{chosen.get(name, OTHERS)}" d="{"".join(path)}">'
        f"<title>{escape(name)}</title></path>"
        for name, path in cells.items()
    ]
    return [*paths, f'<path fill="{MARK}" pointer-events="none" d="{"".join(marks)}"/>']
