# SPDX-License-Identifier: GPL-2.0-or-later
"""The page in a real browser: compares what it shows with numbers by numpy and scipy."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser
from planted import CHECKPOINT, COMPUTE, all_distances, three_phases
from selenium.webdriver.common.keys import Keys

from kadence.profiler import kprof
from kadence.profiler.format.profile import COMPILED

PAIRS = [(0, 1), (3, 14), (5, 70), (40, 41), (12, 119), (60, 60)]


@pytest.fixture(scope="module")
def profile() -> Any:
    return three_phases().profile()


@pytest.fixture(scope="module")
def distances(profile) -> Any:
    return all_distances(profile)


@pytest.fixture(scope="module")
def folder(profile, kadence, tmp_path_factory) -> Path:
    """A folder with the planted run, its phases, its plan and its page."""
    folder = tmp_path_factory.mktemp("view")
    kprof.write(folder / "planted.kprof", profile)
    for command in (
        ("phases", "planted.kprof", "-o", "planted.phases.json"),
        ("plan", "planted.phases.json", "-o", "planted.plan.json"),
        ("view", "planted.phases.json", "--no-open"),
    ):
        done = kadence(*command, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def artefact(folder) -> Any:
    return json.loads((folder / "planted.phases.json").read_text())


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def page(window, folder) -> Iterator[Browser]:
    """The opened page. Whatever a test does, the page neither complains nor sends requests."""
    url = (folder / "planted.html").as_uri()
    window.prefer()
    window.complaints(), window.requests()
    window.open(url)
    yield window
    assert window.complaints() == []
    assert window.requests() == [url]


def test_the_matrix_is_painted_with_every_distance(page, distances, root):
    picture = page.picture()
    count = len(distances)
    assert picture["shape"] == [count, count]
    assert (picture["x"], picture["y"], picture["dw"], picture["dh"]) == (0, 0, count, count)
    painted = np.array(picture["values"], dtype=float).reshape(count, count)
    upper = np.triu_indices(count)
    assert np.abs(painted[upper] - distances[upper]).max() <= 0.00006
    assert np.isnan(painted[np.tril_indices(count, -1)]).all()
    page.screenshot(root / "build/tests/view-planted.png")


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_hovering_names_intervals_phases_and_distance(page, distances, artefact, left, right):
    page.hover("matrix", right + 0.5, left + 0.5)
    first, second, distance = page.hint()
    for line, interval in ((first, left), (second, right)):
        phase = f"phase {artefact['assignment'][interval]}, "
        named = "transition)" if interval in artefact["transitions"] else phase
        assert line.startswith(f"interval {interval} ({named}")
    assert distance == f"distance {distances[left, right]:.4f}, exact"


def test_nothing_is_said_of_the_lower_triangle(page):
    page.hover("matrix", 70.5, 5.5)
    assert page.hint()
    page.hover("matrix", 5.5, 70.5)
    assert page.hint() == []


def test_clicking_shows_the_hottest_blocks_of_both(page, profile, distances):
    left, right = 3, 14
    page.click("matrix", right + 0.5, left + 0.5)
    assert page.run("return document.querySelector('#cell .distance').textContent") == (
        f"distance {distances[left, right]:.4f}, exact"
    )
    for table, interval in enumerate((left, right), start=1):
        rows = page.rows(f"#cell table:nth-child({table})")
        counts = profile.vectors[[interval]].toarray().ravel()
        order = [b for b in np.argsort(-counts, kind="stable") if counts[b] > 0][:10]
        expected = [(f"{100 * counts[b] / counts.sum():.2f} %", _place(profile, b)) for b in order]
        assert [(share, (name, place)) for share, name, place in rows] == expected


def _place(profile: Any, number: int) -> tuple[str, str]:
    block = profile.blocks[number]
    where = f"{Path(block.file).name}:{block.line}"
    return block.function, where if block.file else f"libc.so.6 {block.address:#x}"


def test_the_wheel_zooms_to_single_intervals_and_the_strips_follow(page, distances):
    for _ in range(40):
        page.scroll("matrix", 71, 6, -400)
    low, high = _visible(page)
    assert high - low <= 8 and low <= 71 <= high
    picture = page.picture()
    rows, columns = picture["shape"]
    painted = np.array(picture["values"], dtype=float).reshape(rows, columns)
    y, x = int(picture["y"]), int(picture["x"])
    shown = distances[y : y + rows, x : x + columns]
    assert np.abs(painted - shown).max() <= 0.00006
    strip = page.run(
        "const { plots } = window.kadenceView;"
        "return [plots.model('calls').x_range.start, plots.model('calls').x_range.end];"
    )
    assert strip == [low, high]


def _visible(page: Browser) -> tuple[float, float]:
    low, high = page.run(
        "const range = window.kadenceView.plots.matrix.x_range; return [range.start, range.end];"
    )
    return low, high


def test_buttons_zoom_and_go_back(page):
    for button, extent in (("nearer", 60), ("nearer", 30), ("farther", 60), ("whole", 120)):
        page.run("document.getElementById(arguments[0]).click()", button)
        page.settle()
        low, high = _visible(page)
        assert high - low == extent


def test_the_strips_show_phases_calls_and_bytes(page, profile, artefact):
    assignment = np.array(artefact["assignment"])
    assignment[artefact["transitions"]] = len(artefact["phases"])
    firsts = np.flatnonzero(np.diff(assignment, prepend=-1))
    strip = page.source("phases source")
    assert strip["left"] == firsts.tolist()
    assert strip["right"] == [*firsts[1:].tolist(), len(assignment)]
    assert set(strip["bottom"]) == {0} and set(strip["top"]) == {1}
    calls, moved = np.zeros(len(assignment)), np.zeros(len(assignment))
    for entry in profile.system_calls:
        calls[entry.interval] += entry.count
        moved[entry.interval] += entry.bytes
    per_million = 1e6 / profile.instructions
    assert page.source("calls source")["top"] == pytest.approx((calls * per_million).tolist())
    assert page.source("bytes source")["top"] == pytest.approx((moved * per_million).tolist())


def test_markers_are_ticks_where_they_fired(page, profile, folder):
    plan = json.loads((folder / "planted.plan.json").read_text())
    assert [marker["function"] for marker in plan["markers"]][:2] == ["compute", "checkpoint"]
    ticks = page.source("markers source")
    rows = {0: [], 1: []}
    for x, top in zip(ticks["x"], ticks["top"], strict=True):
        rows.setdefault(int(top), []).append(x - 0.5)
    counts = profile.counts.toarray()
    assert rows[0] == np.flatnonzero(counts[:, COMPUTE]).tolist()
    assert rows[1] == np.flatnonzero(counts[:, CHECKPOINT]).tolist()
    page.hover("markers", rows[1][0] + 0.5, 1.5)
    assert any("marker of phase 1, entry of checkpoint" in line for line in page.hint())


def test_compute_and_io_are_named_on_the_picture(page, artefact):
    names = {"compute": "compute", "file-io": "file I/O", "socket-io": "socket I/O"}
    labels = page.source("labels source")
    assert len(labels["at"]) >= 6
    for at, text in zip(labels["at"], labels["text"], strict=True):
        phase = artefact["assignment"][int(at)]
        kind = names[artefact["phases"][phase]["kind"]]
        assert text == f"{kind} ({phase})"
        assert int(at) not in artefact["transitions"]
    assert {re.sub(r" \(\d+\)", "", text) for text in labels["text"]} == set(names.values())


def test_what_nobody_saw_is_not_shown_as_nothing(window, profile, kadence, tmp_path):
    kprof.write(tmp_path / "u.kprof", replace(profile, system_calls=(), backend=COMPILED))
    assert kadence("phases", "u.kprof", "-o", "u.phases.json", cwd=tmp_path).returncode == 0
    assert kadence("view", "u.phases.json", "--no-open", cwd=tmp_path).returncode == 0
    window.complaints()
    window.open((tmp_path / "u.html").as_uri())
    window.hover("calls", 5.5, 0.5)
    first, second = window.hint()
    assert first == "interval 5 (phase 0, system calls unseen)"
    assert second == f"{profile.instructions[5]:,} instructions, system calls not seen"
    window.click("matrix", 70.5, 5.5)
    captions = re.findall(r".* instructions, .*", window.text("cell"))
    assert len(captions) == 2
    assert all(caption.endswith(" instructions, system calls not seen") for caption in captions)
    assert {re.sub(r" \(\d+\)", "", text) for text in window.source("labels source")["text"]} == {
        "unseen"
    }
    rows = window.rows("#table")
    assert {(kind, faults) for _, _, kind, _, faults, *_ in rows} == {
        ("system calls unseen", "not seen")
    }
    assert window.complaints() == []


def _hottest_function(profile: Any, artefact: Any, phase: int) -> str:
    """The phase's hottest function and its share, summed from the profile's instructions."""
    member = np.array(artefact["assignment"]) == phase
    member[artefact["transitions"]] = False
    in_blocks = profile.vectors.tocsr().toarray()[member].sum(axis=0)
    sums: dict[str, float] = {}
    for block, spent in zip(profile.blocks, in_blocks.tolist(), strict=True):
        sums[block.function] = sums.get(block.function, 0) + spent
    name = max(sums, key=lambda function: sums[function])
    return f"{name} {100 * sums[name] / in_blocks.sum():.1f}%"


def test_the_table_says_what_the_artefacts_say(page, profile, artefact, folder):
    plan = json.loads((folder / "planted.plan.json").read_text())
    rows = page.rows("#table")
    assert len(rows) == len(artefact["phases"])
    for row, phase, policy in zip(rows, artefact["phases"], plan["policies"], strict=True):
        number, weight, _, intervals, _, functions, representative, adaptation, why = row
        assert number == str(phase["id"])
        assert weight == f"{100 * phase['weight']:.2f}%"
        assert intervals == str(phase["intervals"])
        assert functions.splitlines()[0] == _hottest_function(profile, artefact, phase["id"])
        assert representative == str(phase["representative"])
        assert ("quantum of 5 s" in adaptation) == (policy["quantum_ns"] == 5_000_000_000)
        assert why.startswith(policy["evidence"])


def test_a_representative_can_be_gone_to(page, artefact):
    representative = artefact["phases"][1]["representative"]
    page.run("document.querySelectorAll('button[data-interval]')[1].click()")
    assert page.run("return document.getElementById('cell').dataset.left") == str(representative)


def test_the_keyboard_does_what_the_pointer_does(page, distances):
    page.run("document.getElementById('whole').focus()")
    page.press(Keys.TAB)
    assert page.run("return document.activeElement.id") == "figures"
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    assert f"distance {distances[1, 3]:.4f}, exact" in page.text("said")
    page.press(Keys.ENTER)
    shown = page.run("return {...document.getElementById('cell').dataset}")
    assert shown == {"left": "1", "right": "3"}
    page.press("n")
    assert re.search(r"interval 1[23] \((phase 1,|transition).*", page.text("said").split("; ")[1])
    page.press("+")
    low, high = _visible(page)
    assert high - low == 60
    page.press("0")
    assert _visible(page) == (0, 120)


def test_every_control_can_be_reached_by_tab(page):
    page.run("document.activeElement.blur()")
    reached = []
    for _ in range(24):  # the order includes Bokeh's tools
        page.press(Keys.TAB)
        reached.append(page.run("const at = document.activeElement; return at.id || at.tagName"))
    assert reached[:6] == ["statistic", "palette", "nearer", "farther", "whole", "figures"]
    assert "BUTTON" in reached[6:]


def test_dark_and_light_follow_the_system(page, root):
    def luminance() -> tuple[int, int]:
        return page.run(
            "const number = (text) => /^#/.test(text) ? parseInt(text.slice(1, 3), 16)"
            " : Number(/\\d+/.exec(text)[0]);"
            "const { matrix } = window.kadenceView.plots;"
            "const paper = getComputedStyle(document.body).backgroundColor;"
            "return [paper, matrix.left[0].major_label_text_color].map(number);"
        )

    page.prefer(prefers_color_scheme="dark")
    page.screenshot(root / "build/tests/view-dark.png")
    paper, ink = luminance()
    assert paper < 64 and ink > 192
    page.prefer(prefers_color_scheme="light")
    paper, ink = luminance()
    assert paper > 192 and ink < 64


def test_paper_is_light_and_without_controls(page):
    page.prefer(medium="print", prefers_color_scheme="dark")
    shown = page.run(
        "return ['.controls', '#help', '#table', '#figures'].map((selector) =>"
        " getComputedStyle(document.querySelector(selector)).display !== 'none')"
    )
    assert shown == [False, False, True, True]
    ink = page.run("return window.kadenceView.plots.matrix.left[0].major_label_text_color")
    assert ink == "#1d2327"


def test_other_colours_and_bounds_can_be_chosen(page):
    page.run(
        "for (const [name, value] of [['palette', 'cividis'], ['statistic', 'greatest']]) {"
        " const select = document.getElementById(name); select.value = value;"
        " select.dispatchEvent(new Event('change')); }"
    )
    page.settle()
    state = page.run(
        "const { plots } = window.kadenceView;"
        "return [plots.model('distance colours').palette.length, plots.statistic,"
        " plots.model('distance colours').palette[0]];"
    )
    assert state[:2] == [256, "greatest"]
    assert state[2] != "#000000"
