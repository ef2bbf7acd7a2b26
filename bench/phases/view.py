# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the size of a long run's page, the time to open it, and the time to repaint it.

The run has known phases and noise in every block. Headless Chromium opens the page from a file.
`ready` is the time from the request to the first painted matrix, by the browser's own clock.
`painted` is the time that the page's scripts need for one new picture. The pictures come from zooms
between the whole run and single intervals, and from pans.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests"
for part in ("phases", "phases/view", "running"):
    sys.path.insert(0, str(TESTS / part))

from browser import Browser  # noqa: E402
from long_run import long_run  # noqa: E402

from bench.base.commands import KADENCE  # noqa: E402

LARGEST_FILE = 15_000_000
LONGEST_WAIT = 3.0  # seconds
BLOCKS = 20_000


def make_page(folder: Path, intervals: int, per_row: int) -> tuple[Path, float]:
    """Returns the page, and how long `kadence view` took to make it from the profile."""
    artefact = long_run(intervals, per_row, BLOCKS).write(folder)
    began = time.monotonic()
    subprocess.run([KADENCE, "view", artefact, "--no-open"], check=True, stdout=subprocess.DEVNULL)
    return folder / "long.html", time.monotonic() - began


def opened(browser: Browser, page: Path) -> float:
    """Returns the seconds until the page is ready."""
    browser.open(page.as_uri())
    return float(browser.run("return document.documentElement.dataset.ready")) / 1000


def painted(browser: Browser, intervals: int) -> list[float]:
    """Returns the seconds for each new picture."""
    pointer, middle = "window.kadenceView.pointer", intervals // 2
    nearer, farther = f"{pointer}.zoom(0.5)", f"{pointer}.zoom(2)"
    pans = [f"{pointer}.choose({middle}, {middle + 1000 * step})" for step in range(1, 16)]
    whole = f"{pointer}.choose({middle}, {middle + intervals // 50})"
    moves = [whole, *[nearer] * 7, *pans, *[nearer] * 7, *[farther] * 14]
    found = []
    for move in moves:
        browser.run(move)
        browser.settle()
        found.append(float(browser.run("return document.documentElement.dataset.painted")) / 1000)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--intervals", type=int, default=100_000)
    parser.add_argument("--blocks", type=int, default=300, help="blocks that each interval ran")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page, seconds = make_page(Path(folder), options.intervals, options.blocks)
        size = page.stat().st_size
        browser = Browser()
        try:
            waits = [opened(browser, page) for _ in range(options.rounds)]
            frames = painted(browser, options.intervals)
        finally:
            browser.close()
    wait = statistics.median(waits)
    met = size <= LARGEST_FILE and wait < LONGEST_WAIT
    print(f"{options.intervals} intervals of {options.blocks} blocks out of {BLOCKS}")
    print(f"kadence view  {seconds:6.1f} s")
    print(f"file          {size / 1e6:6.2f} MB (at most {LARGEST_FILE / 1e6:.0f})")
    print(
        f"ready         {wait:6.2f} s, {min(waits):.2f}-{max(waits):.2f} in {len(waits)} "
        f"openings (less than {LONGEST_WAIT:.0f})"
    )
    print(
        f"painted       {1000 * statistics.median(frames):6.0f} ms, at most "
        f"{1000 * max(frames):.0f} in {len(frames)} pictures"
    )
    print("met" if met else "missed")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
