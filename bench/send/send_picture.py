# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the picture of bench/send/send.py, in the layout of the paper's Figure 3."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

INCHES = (7.0, 4.0)
DOTS_PER_INCH = 110
MARKERS = "osDo^v"


@dataclass(frozen=True)
class Curve:
    """Percent less time, by the size of a send."""

    name: str
    less: Sequence[float]


def draw(sizes: Sequence[int], curves: Sequence[Curve], output: Path) -> None:
    """Draw one line for each transfer."""
    figure = Figure(figsize=INCHES, layout="constrained")
    axes = figure.add_subplot()
    for curve, marker in zip(curves, MARKERS, strict=False):
        axes.plot(range(len(sizes)), curve.less, marker=marker, markersize=4, label=curve.name)
    axes.set_xticks(range(len(sizes)), [written(size) for size in sizes])
    axes.set_xlabel("bytes of a send")
    axes.set_ylabel("% less time than the kernel's own sends")
    axes.set_ylim(bottom=min(0.0, *(min(curve.less) for curve in curves)), top=100)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(output, dpi=DOTS_PER_INCH)


def written(size: int) -> str:
    """Returns a size as text: `64`, `4 KiB`."""
    return f"{size >> 10} KiB" if size >= 1 << 10 else str(size)
