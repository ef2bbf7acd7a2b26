# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a timeline in a browser, on a run that is known."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from known_events import INSTRUMENTS, known, known_results, many
from selenium.webdriver.common.action_chains import ActionChains, ScrollOrigin
from selenium.webdriver.common.by import By

from kadence.observe.timeline import page, spans
from kadence.observe.timeline.events import Events

EVENTS = 50_000
VIEW = "const { from, to } = window.kadenceTimeline.painting.view; return [from, to];"
# The window's coordinates of a time in a lane.
LOCATE = """
const { painting } = window.kadenceTimeline;
const box = painting.canvas.getBoundingClientRect();
const row = painting.rows[arguments[0]];
return [box.left + painting.x(arguments[1]), box.top + row.y + painting.ROW / 2];
"""
# How many pixels of a lane, in its middle, have a colour.
PAINTED = """
const { painting } = window.kadenceTimeline;
const ratio = window.devicePixelRatio || 1;
const y = Math.round((painting.rows[arguments[0]].y + 3) * ratio);
const left = Math.round(painting.LEFT * ratio);
const width = painting.canvas.width - left;
const { data } = painting.canvas.getContext("2d").getImageData(left, y, width, 1);
let painted = 0;
for (let i = 3; i < data.length; i += 4) painted += data[i] > 0;
return [painted, width];
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = Browser()
    yield found
    found.driver.quit()


def opened(browser: Browser, folder: Path, found: Events) -> None:
    timeline = spans.make(found, known_results(), INSTRUMENTS)
    path = folder / "timeline.html"
    page.write(timeline, ["sh", "-c", "<b>"], ["A remark."], path)
    browser.open(path.as_uri())


@pytest.fixture
def small(browser: Browser, tmp_path: Path) -> Browser:
    opened(browser, tmp_path, known(lost=7))
    return browser


def test_lanes_come_back_as_they_were(small: Browser) -> None:
    lanes = small.run("""
        return window.kadenceTimeline.store.lanes.map((lane) => [lane.owner, lane.kind, lane.depth,
          Array.from(lane.begins), Array.from(lane.ends), Array.from(lane.labels)]);
    """)
    timeline = spans.make(known(), known_results(), INSTRUMENTS)
    assert lanes == [
        [each.owner, each.kind, each.depth, each.begins.tolist(), each.ends.tolist(),
         each.labels.tolist()]
        for each in timeline.lanes
    ]  # fmt: skip


def test_the_page_says_what_it_is_of(small: Browser) -> None:
    text = small.driver.find_element(By.TAG_NAME, "header").text
    assert "sh -c '<b>'" in text
    assert "A remark." in text
    assert "7 events came too fast or had no room" in text
    assert small.complaints() == []


def test_the_span_under_the_pointer_is_told_and_chosen(small: Browser) -> None:
    left, top = small.run(LOCATE, 1, 7000)  # the writer's read
    chain = ActionChains(small.driver)
    chain.w3c_actions.pointer_action.move_to_location(round(left), round(top))
    chain.w3c_actions.pointer_action.click()
    chain.perform()
    small.settle()
    assert small.text("told") == "writer (7): __x64_sys_read, 3.000 µs, from 6.000 µs"
    small.wait("document.getElementById('chosen').textContent !== ''")
    assert small.text("chosen") == "2 in view, 4.500 µs in all"


def test_keys_move_and_zoom(small: Browser) -> None:
    small.driver.find_element(By.ID, "lanes").click()
    small.press("+")
    assert small.run(VIEW) == [2750, 8250]
    small.press("0")
    assert small.run(VIEW) == [0, 11000]
    small.run("window.kadenceTimeline.choose(1)")
    small.press("+", "+", "n")
    assert small.text("told").startswith("writer (7): handle_mm_fault")
    small.press("n")
    assert small.text("told").startswith("a reader (8): handle_mm_fault")
    small.press("p")
    assert small.text("told").startswith("writer (7): handle_mm_fault")


def test_the_wheel_zooms_around_the_pointer(small: Browser) -> None:
    left, top = small.run(LOCATE, 1, 5500)
    origin = ScrollOrigin.from_viewport(round(left), round(top))
    ActionChains(small.driver).scroll_from_origin(origin, 0, -500).perform()
    small.settle()
    begin, end = small.run(VIEW)
    assert end - begin < 6000
    assert (begin + end) / 2 == pytest.approx(5500, abs=20)


def test_many_spans_are_painted_without_gaps(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, many(EVENTS))
    painted, width = browser.run(PAINTED, 0)
    # The first task runs half of the time, in pieces much shorter than a pixel.
    assert painted == width
    assert browser.complaints() == []
