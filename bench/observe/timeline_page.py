# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the page of a timeline with a million events: its size, and the times to open and paint.

Headless Chromium opens the page from a file. `ready` is the time from the request to the first
picture, by the browser's own clock; `painted` is what the page's scripts need for a picture.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests"
for part in ("observe", "running"):
    sys.path.insert(0, str(TESTS / part))

from browser import Browser  # noqa: E402
from known_events import INSTRUMENTS, known_results, many  # noqa: E402

from bench.base.keeping import print_and_keep, with_disturbance  # noqa: E402
from kadence.observe.timeline import page, spans  # noqa: E402

EVENTS = 1_000_000
MOST_READY_S, MOST_PAINTED_MS = 3.0, 16.7  # a frame
ZOOM = """
const { painting, show } = window.kadenceTimeline;
const { from, to } = painting.view;
const middle = (from + to) / 2, half = (to - from) / 2 * arguments[0];
show(middle - half + arguments[1] * half, middle + half + arguments[1] * half);
"""
TOOK = "return window.kadenceTimeline.painting.took;"


def tables() -> Iterator[str]:
    """Make, open and paint the page."""
    with tempfile.TemporaryDirectory(prefix="kadence-bench-") as folder:
        path, found = Path(folder) / "timeline.html", many(EVENTS)
        began = time.monotonic()
        timeline = spans.make(found, known_results(), INSTRUMENTS)
        page.write(timeline, ["a", "program"], [], path)
        made = time.monotonic() - began
        yield f"{sum(len(lane.begins) for lane in timeline.lanes):,} spans of {EVENTS:,} events"
        yield f"made in {made:.1f} s, {path.stat().st_size / 1e6:.1f} MB"
        yield from _opened(path)


def _opened(path: Path) -> Iterator[str]:
    browser = Browser()
    try:
        browser.open(path.as_uri())
        ready = float(browser.run("return document.documentElement.dataset.ready")) / 1000
        yield f"ready after {ready:.2f} s (goal <= {MOST_READY_S:g})"
        moves = [(0.5, 0.0)] * 16 + [(1.0, 0.5)] * 20 + [(2.0, 0.0)] * 16
        for factor, by in moves:
            browser.run(ZOOM, factor, by)
            browser.settle()
        took = list(map(float, browser.run(TOOK)))
        median = statistics.median(took)
        yield f"painted in {median:.1f} ms (most {max(took):.1f}; goal for the median "
        yield f"<= {MOST_PAINTED_MS:g}), {len(took)} pictures: 16 zooms in, 20 moves, 16 zooms out"
        yield f"the console's complaints: {browser.complaints() or 'none'}"
    finally:
        browser.driver.quit()


if __name__ == "__main__":
    print_and_keep(with_disturbance(tables()), "timeline.txt")
