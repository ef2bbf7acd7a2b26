# SPDX-License-Identifier: GPL-2.0-or-later
"""A run too long to store all pairs: what the page holds, its bounds, and the server."""

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser
from long_run import LongRun, long_run
from patience import PATIENCE_SECONDS
from scipy.spatial.distance import cdist, cityblock

INTERVALS = 100_000
LARGEST_FILE = 15_000_000
ROUNDING = 0.0001  # stored and shown figures have four decimals


@pytest.fixture(scope="module")
def run() -> LongRun:
    return long_run(rows=INTERVALS, per_row=30, blocks=20_000)


@pytest.fixture(scope="module")
def artefact(run, kadence, tmp_path_factory) -> Path:
    path = run.write(tmp_path_factory.mktemp("long"))
    done = kadence("view", path, "--no-open")
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def page(window, artefact) -> Browser:
    """The page, opened once: it does not complain, and requests nothing but itself."""
    url = (artefact.parent / "long.html").as_uri()
    window.open(url)
    assert window.complaints() == []
    assert window.requests() == [url]
    return window


@pytest.fixture(scope="module")
def pairs(run) -> Any:
    """Pairs of neighbours and random pairs, each with its distance."""
    generator = np.random.default_rng(11)
    left = generator.integers(0, INTERVALS, 150)
    right = np.concatenate([left[:50] + 1, generator.integers(0, INTERVALS, 100)])
    found = []
    for a, b in zip(*np.sort([left, right.clip(max=INTERVALS - 1)], axis=0).tolist(), strict=True):
        vectors = run.shares[[a, b]].toarray()
        found.append((a, b, cityblock(vectors[0], vectors[1])))
    return found


def test_the_file_is_small_enough(artefact):
    assert (artefact.parent / "long.html").stat().st_size <= LARGEST_FILE


def test_bounds_hold_for_every_pair(page, pairs):
    asked = [[left, right] for left, right, _ in pairs]
    bounds = page.run(
        "const { distances } = window.kadenceView.plots;"
        "return arguments[0].map(([left, right]) => distances.pair(left, right));",
        asked,
    )
    for (low, high), (_, _, distance) in zip(bounds, pairs, strict=True):
        assert low - ROUNDING <= distance <= high + ROUNDING
    # The bounds are tight enough to tell phases that share no block from a single phase.
    apart = [
        low for (low, _), (_, _, distance) in zip(bounds, pairs, strict=True) if distance > 1.9
    ]
    assert len(apart) > 50 and np.median(apart) > 1.5


def test_bounds_are_exact_for_representatives(page, run):
    representative, other = run.representative(2), 77
    vectors = run.shares[[representative, other]].toarray()
    low, high = page.run(
        "return window.kadenceView.plots.distances.pair(arguments[0], arguments[1]);",
        other,
        representative,
    )
    assert low == high == pytest.approx(cityblock(*vectors), abs=ROUNDING)


def test_tiles_lie_within_the_distances_of_their_pairs(page, run):
    """For a few tiles the test computes all pairs, which bound the page's sampled figures."""
    group = page.run("return window.kadenceView.run.group")
    for row, column in ((0, 0), (3, 400), (200, 201), (870, 890)):
        left = run.shares[row * group : (row + 1) * group].toarray()
        right = run.shares[column * group : (column + 1) * group].toarray()
        used = np.flatnonzero(left.any(axis=0) | right.any(axis=0))
        distances = np.abs(left[:, np.newaxis, used] - right[np.newaxis, :, used]).sum(axis=2)
        least, mean, greatest = page.run(
            "const { distances } = window.kadenceView.plots;"
            "return distances.tile(distances.levels[0], arguments[0], arguments[1]);",
            row * group,
            column * group,
        )
        assert distances.min() - ROUNDING <= least <= mean + ROUNDING
        assert mean - ROUNDING <= greatest <= distances.max() + ROUNDING


def test_coarser_tiles_are_made_from_finer_ones(page):
    """Compares with numpy, over the stored tiles that the page returns."""
    count, group, stored = page.run(
        "const { levels } = window.kadenceView.plots.distances; const [fine] = levels;"
        "return [fine.count, fine.size, Array.from(fine.values.mean.slice(0, 40000))];"
    )
    coarse = page.run(
        "const level = window.kadenceView.plots.distances.level(arguments[0]);"
        "return [0, 5, 11].map((column) => level.at('mean', 3, column));",
        2 * group,
    )
    fine = np.full((count, count), np.nan)
    rows, columns = np.triu_indices(count)
    fine[rows[: len(stored)], columns[: len(stored)]] = stored
    fine = np.where(np.isnan(fine), fine.T, fine)
    expected = [fine[6:8, 2 * c : 2 * c + 2].mean() for c in (0, 5, 11)]
    assert coarse == pytest.approx(expected, rel=1e-5)


def test_zooming_reaches_single_intervals(page, root):
    page.run("window.kadenceView.pointer.choose(50000, 50040)")
    for _ in range(20):
        page.run("window.kadenceView.pointer.zoom(0.5)")
        page.settle()
    assert page.picture()["dw"] <= 6
    page.hover("matrix", 50_040.5, 50_000.5)
    first, second, distance = page.hint()
    assert first.startswith("interval 50,000 (phase ")
    assert second.startswith("interval 50,040 (phase ")
    assert re.fullmatch(r"distance between \d\.\d{4} and \d\.\d{4} \(bounds by .*\)", distance)
    page.screenshot(root / "build/tests/view-long.png")
    page.run("window.kadenceView.pointer.whole()")
    page.settle()
    page.screenshot(root / "build/tests/view-long-whole.png")


def test_what_was_done_with_the_page_asked_nobody(page):
    assert page.complaints() == []
    assert page.requests() == []


# ---- the server ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(artefact, tmp_path_factory) -> Iterator[str]:
    """The address of a running `kadence view --serve`."""
    command = Path(sys.executable).parent / "kadence"
    output = tmp_path_factory.mktemp("served") / "p.html"
    words = [command, "view", artefact, "-o", output, "--no-open", "--serve"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        lines = [process.stdout.readline(), process.stdout.readline()]
        found = re.search(r"http://127\.0\.0\.1:\d+/", lines[1])
        assert found, lines
        yield found.group()
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE_SECONDS) == 0


def _answer(url: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_the_server_answers_any_pair_exactly(server, pairs):
    for left, right, distance in pairs[:40]:
        status, text = _answer(f"{server}pair?left={left}&right={right}")
        assert status == 200
        assert json.loads(text)["distance"] == pytest.approx(distance, abs=1e-9)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("pair", 400),
        ("pair?left=1", 400),
        ("pair?left=-1&right=2", 400),
        ("pair?left=1&right=100000", 400),
        ("pair?left=1&right=1e3", 400),
        (f"pair?left=1&right={'9' * 400}", 400),
        ("pair?left=%00&right=2", 400),
        ("cells", 400),
        ("cells?size=1&row=0&rows=0&column=0&columns=1", 400),
        ("cells?size=0&row=0&rows=1&column=0&columns=1", 400),
        ("cells?size=1&row=0&rows=1&column=99999&columns=2", 400),
        ("cells?size=1&row=0&rows=513&column=0&columns=1", 400),
        ("cells?size=1&row=0&rows=1&column=99999&columns=1", 200),
        ("etc/passwd", 404),
        ("../../etc/passwd", 404),
        ("", 200),
    ],
)
def test_the_server_refuses_what_it_does_not_know(server, path, status):
    assert _answer(server + path)[0] == status


def test_the_server_answers_only_to_its_own_name(server):
    assert _answer(server, Host="rebound.example")[0] == 403
    assert _answer(f"{server}pair?left=1&right=2", Host="rebound.example:80")[0] == 403


def test_the_server_listens_on_loopback_alone(server):
    port = int(server.rstrip("/").rsplit(":", 1)[1])
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    addresses = [words[1] for words in listening if words[3] == "0A"]
    assert [address for address in addresses if address.endswith(f":{port:04X}")] == [
        f"0100007F:{port:04X}"
    ]


def test_the_served_page_asks_for_what_it_does_not_hold(window, server, run):
    left, right = 50_000, 50_001
    window.open(server)
    window.run("window.kadenceView.pointer.choose(arguments[0], arguments[1])", left, right)
    window.run("window.kadenceView.pointer.show()")
    window.wait("document.getElementById('said').textContent.includes('exact')")
    distance = cityblock(*run.shares[[left, right]].toarray())
    expected = f"distance {distance:.4f}, exact (computed when asked)"
    assert expected in window.text("said")
    assert window.run("return document.querySelector('#cell .distance').textContent") == expected
    assert window.complaints() == []
    assert window.requests() == [server, f"{server}pair?left={left}&right={right}"]


def test_the_served_page_paints_single_intervals_exactly(window, server, run):
    window.open(server)
    window.run("window.kadenceView.pointer.choose(50000, 50040)")
    for _ in range(10):
        window.run("window.kadenceView.pointer.zoom(0.5)")
    window.wait("window.kadenceView.plots.distances.cells?.size === 1")
    window.settle()
    picture = window.picture()
    rows, columns = picture["shape"]
    y, x = int(picture["y"]), int(picture["x"])
    assert 50 < rows < 200 and 50 < columns < 200
    shown = np.array(picture["values"], dtype=float).reshape(rows, columns)
    expected = cdist(
        run.shares[y : y + rows].toarray(), run.shares[x : x + columns].toarray(), "cityblock"
    )
    upper = ~np.isnan(shown)
    assert upper.sum() > 1000
    assert shown[upper] == pytest.approx(expected[upper], abs=0.00006)
    assert window.complaints() == []
    asked = window.requests()
    assert asked[0] == server and all(url.startswith(f"{server}cells?") for url in asked[1:])
