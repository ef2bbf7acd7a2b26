# SPDX-License-Identifier: GPL-2.0-or-later
"""`report.html`: one self-contained page, made from `report.json` and the matrix."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kadence.base import pages
from kadence.measurement.measure import KERNEL_NAMES
from kadence.phases.find.matrix import COLOURS
from kadence.report import effects

TEMPLATES = Path(__file__).parent / "templates"

# The plot of the samples, in units of its own view box.
PLOT_WIDTH, LABEL_WIDTH, ROW_HEIGHT, AXIS_HEIGHT = 900, 250, 40, 30
TICKS = 6


def render(document: Mapping[str, Any], matrix: bytes) -> str:
    """The whole page."""
    environment = pages.environment(TEMPLATES)
    environment.filters.update(
        bytes=in_bytes,
        count=in_digits,
        seconds=in_seconds,
        percent=in_percent,
        sentence=capitalised,
    )
    return environment.get_template("report.html.j2").render(
        report=document,
        matrix=base64.b64encode(matrix).decode("ascii"),
        plot=plot(document["cells"]),
        effect_pictures=[effects.picture(one["arms"]) for one in document["trials"]["kernels"]],
        refusals=refusals(document["plan"]["refused"]),
        announcements=announcements(document["plan"]["announcement"]),
        kernel_names=KERNEL_NAMES,
        colours=[f"rgb{colour}" for colour in COLOURS],
    )


def announcements(figures: Mapping[str, Any] | None) -> list[tuple[str, Mapping[str, Any]]]:
    """Figures of the markers on the input for which they were chosen, and on each other input."""
    if figures is None:
        return []
    return [
        ("chosen on", figures["chosen_on"]),
        *(("validated on", other) for other in figures["validated_on"]),
    ]


def refusals(refused: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Group refusals with the same reason, and list the phases that each group concerns."""
    grouped: dict[tuple[str, str], list[int]] = {}
    for entry in refused:
        concerned = grouped.setdefault((entry["what"], entry["reason"]), [])
        if entry["phase"] is not None:
            concerned.append(entry["phase"])
    return [
        {"what": what, "reason": reason, "phases": phases}
        for (what, reason), phases in grouped.items()
    ]


def in_bytes(number: float) -> str:
    """`3.4 MiB`."""
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GiB"


def in_digits(number: float) -> str:
    """`12,345`."""
    return f"{number:,.0f}"


def in_seconds(number: float) -> str:
    """`1.234 s`, `12.3 ms`."""
    return f"{number:.3f} s" if number >= 1 else f"{1000 * number:.1f} ms"


def capitalised(text: str) -> str:
    """Capitalise the first letter only, so that names stay unchanged."""
    return text[:1].upper() + text[1:]


def in_percent(share: float) -> str:
    """`12.3 %`."""
    return f"{100 * share:.1f} %"


def plot(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The positions of every sample, median and interval; the axis begins at 0."""
    longest = max((max(cell["samples"]["seconds"]) for cell in cells), default=1.0)
    step = _tick_step(longest)
    end = step * -(-longest // step)

    def position(seconds: float) -> float:
        return round(LABEL_WIDTH + (PLOT_WIDTH - LABEL_WIDTH - 20) * seconds / end, 1)

    rows = [
        {
            "y": ROW_HEIGHT * index + ROW_HEIGHT // 2,
            "kernel": KERNEL_NAMES[cell["kernel"]],
            "program": cell["program"],
            "dots": [position(seconds) for seconds in cell["samples"]["seconds"]],
            **{name: position(cell["estimates"]["seconds"][name]) for name in BOUNDS},
        }
        for index, cell in enumerate(cells)
    ]
    return {
        "width": PLOT_WIDTH,
        "height": ROW_HEIGHT * len(rows) + AXIS_HEIGHT,
        "bottom": ROW_HEIGHT * len(rows),
        "rows": rows,
        "ticks": [
            {"x": position(number * step), "label": f"{number * step:g}"}
            for number in range(round(end / step) + 1)
        ],
    }


BOUNDS = ("value", "low", "high")


def _tick_step(longest: float) -> float:
    """A step of 1, 2 or 5 times a power of ten that gives at most TICKS steps."""
    step = 1e-6
    while True:
        for factor in (1, 2, 5):
            if longest <= step * factor * TICKS:
                return step * factor
        step *= 10
