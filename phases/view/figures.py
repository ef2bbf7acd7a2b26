# SPDX-License-Identifier: GPL-2.0-or-later
"""The matrix and, on the same axis of intervals, the strips below it, as Bokeh figures.

The figures hold no data. Each time the visible part of the run changes, the page's scripts fill
the data sources for that part. The scripts find the models by name.
"""

import re
from collections.abc import Sequence
from typing import Any

from bokeh.core.types import ID
from bokeh.embed import json_item
from bokeh.layouts import column
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    Image,
    LinearColorMapper,
    NumeralTickFormatter,
    Range1d,
)
from bokeh.models.annotations.legends import ColorBar
from bokeh.plotting import figure

from kadence.phases.find.vectors import LARGEST_DISTANCE
from kadence.phases.view.palette import DISTANCES

LEFT, RIGHT = 76, 86  # pixels; the same in all figures, so that their intervals are aligned
SIDE = 640
STRIP_HEIGHT = 64
MARKER_HEIGHT = 14
FEWEST_SHOWN = 4  # intervals, at the closest zoom

MODEL_ID = re.compile(r"p\d+")

Json = Any


def item(intervals: int, markers: int, kernel_seen: bool) -> Json:
    """Returns all figures in the form that BokehJS embeds. Equal arguments give equal items."""
    x_range = _range(0, intervals)
    parts: list[figure] = [_matrix(intervals, x_range), _phases(x_range)]
    if markers:
        parts.append(_markers(x_range, markers))
    parts += [
        _rate(x_range, "calls", kernel_seen),
        _rate(x_range, "bytes", kernel_seen, last=True),
    ]
    layout = column(*parts, sizing_mode="stretch_width")
    return _renumbered(json_item(layout, ID("figures")))


def _range(start: int, end: int) -> Range1d:
    low, high = min(start, end), max(start, end)
    fewest = min(FEWEST_SHOWN, high - low)
    return Range1d(start=start, end=end, bounds=(low, high), min_interval=fewest)


def _source(name: str, columns: Sequence[str]) -> ColumnDataSource:
    return ColumnDataSource({column: [] for column in columns}, name=name)


def _figure(name: str, **properties: Any) -> figure:
    made = figure(
        name=name,
        min_border_left=LEFT,
        min_border_right=RIGHT,
        min_border_top=4,
        min_border_bottom=4,
        sizing_mode="stretch_width",
        # The page's own background shows through, light or dark.
        background_fill_color=None,
        border_fill_color=None,
        **properties,
    )
    made.grid.visible = False
    made.toolbar.logo = None
    made.xaxis.formatter = NumeralTickFormatter(format="0,0")
    return made


def _matrix(intervals: int, x_range: Range1d) -> figure:
    made = _figure(
        "matrix",
        x_range=x_range,
        y_range=_range(intervals, 0),
        tools="pan,wheel_zoom,box_zoom,reset,save",
        active_scroll="wheel_zoom",
        toolbar_location="above",
        aspect_ratio=1,
        max_width=SIDE + LEFT + RIGHT,
        y_axis_label="interval",
    )
    made.yaxis.formatter = NumeralTickFormatter(format="0,0")
    mapper = LinearColorMapper(
        palette=list(DISTANCES["grey"]),
        low=0,
        high=LARGEST_DISTANCE,
        nan_color="rgba(0, 0, 0, 0)",
        name="distance colours",
    )
    made.add_glyph(
        _source("picture", ["image", "x", "y", "dw", "dh"]),
        Image(image="image", x="x", y="y", dw="dw", dh="dh", color_mapper=mapper),
    )
    made.segment(
        x0="start",
        y0="start",
        x1="end",
        y1="end",
        color="colour",
        line_width=4,
        source=_source("visits", ["start", "end", "colour"]),
    )
    made.text(
        x="at",
        y="at",
        text="text",
        text_align="right",
        text_baseline="middle",
        text_font_size="12px",
        x_offset=-9,
        name="labels",
        source=_source("labels source", ["at", "text"]),
    )
    made.rect(
        x="x",
        y="y",
        width="width",
        height="height",
        fill_alpha=0,
        line_color="#d55e00",
        line_width=2,
        source=_source("cursor", ["x", "y", "width", "height"]),
    )
    made.add_layout(ColorBar(color_mapper=mapper, width=12, title="distance", name="bar"), "right")
    return made


def _strip(name: str, label: str, x_range: Range1d, height: int, **properties: Any) -> figure:
    made = _figure(
        name,
        x_range=x_range,
        height=height,
        tools="xpan,xwheel_zoom",
        toolbar_location=None,
        max_width=SIDE + LEFT + RIGHT,
        y_axis_label=label,
        **properties,
    )
    made.yaxis.axis_label_text_font_size = "11px"
    return made


def _bare(made: figure) -> None:
    """Remove the ticks of a strip that has no numbers on its axes."""
    made.xaxis.visible = False
    made.yaxis.ticker = []
    made.yaxis.axis_label_orientation = "horizontal"  # a vertical label exceeds the strip's height


def _phases(x_range: Range1d) -> figure:
    made = _strip("phases", "phase", x_range, 40, y_range=Range1d(start=0, end=1))
    _bare(made)
    made.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        color="colour",
        line_width=0,
        source=_source("phases source", ["left", "right", "bottom", "top", "colour"]),
    )
    made.text(
        x="at",
        y=0.5,
        text="text",
        text_color="colour",
        text_align="center",
        text_baseline="middle",
        text_font_size="12px",
        source=_source("names source", ["at", "text", "colour"]),
    )
    return made


def _markers(x_range: Range1d, markers: int) -> figure:
    height = 12 + MARKER_HEIGHT * max(markers, 2)
    made = _strip("markers", "markers", x_range, height, y_range=Range1d(start=markers, end=0))
    _bare(made)
    made.segment(
        x0="x",
        x1="x",
        y0="top",
        y1="bottom",
        color="colour",
        line_width=1,
        source=_source("markers source", ["x", "top", "bottom", "colour"]),
    )
    return made


def _rate(x_range: Range1d, name: str, seen: bool, last: bool = False) -> figure:
    label = f"{name} per\nM instr." if seen else f"{name}\nnot seen"
    made = _strip(
        name, label, x_range, STRIP_HEIGHT + (44 if last else 0), y_range=Range1d(start=0, end=1)
    )
    made.yaxis.ticker = BasicTicker(desired_num_ticks=2, num_minor_ticks=0) if seen else []
    made.yaxis.formatter = NumeralTickFormatter(format="0.[0]a")
    made.xaxis.visible = last
    made.xaxis.axis_label = "interval"
    made.quad(
        left="left",
        right="right",
        bottom=0,
        top="top",
        color="#0072b2",
        line_width=0,
        source=_source(f"{name} source", ["left", "right", "top"]),
    )
    return made


def _renumbered(value: Json) -> Json:
    """Number the models from 0 again: Bokeh numbers all models that a process has ever made."""
    numbers: dict[str, str] = {}

    def walk(node: Json, key: str = "") -> Json:
        if isinstance(node, dict):
            return {name: walk(child, name) for name, child in node.items()}
        if isinstance(node, list):
            return [walk(child) for child in node]
        if key in ("id", "root_id") and isinstance(node, str) and MODEL_ID.fullmatch(node):
            return numbers.setdefault(node, f"p{len(numbers)}")
        return node

    return walk(value)
