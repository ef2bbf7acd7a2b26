# SPDX-License-Identifier: GPL-2.0-or-later
"""Timelines of several nodes on one, by clocks whose times are known."""

from dataclasses import replace
from pathlib import Path

import pytest
from known_events import INSTRUMENTS, known, known_results

from kadence import cli
from kadence.base.errors import UsageError
from kadence.observe.probes.results import Clock
from kadence.observe.timeline import clocks, merging, spans, trace
from kadence.observe.timeline.clocks import Begin
from kadence.observe.timeline.spans import Timeline

SECOND = 1_000_000_000
COSTS = known_results().costs  # a tick is half a nanosecond
# The first event is at tick 10,000.
FIRST_TICKS = 10_000


def timeline(readings: list[Clock], ranks: dict[int, int] | None = None) -> Timeline:
    results = replace(known_results(), clocks=readings)
    return spans.make(known(), results, INSTRUMENTS, ranks)


def reading(ns: int, ticks: int = 0, around: int = 0, most_us: int | None = 0) -> Clock:
    return Clock(ticks, ns, around, most_us)


def written(folder: Path, name: str, found: Timeline, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(trace.platform, "node", lambda: name)
    trace.write(found, folder / f"{name}.json")
    return folder / f"{name}.json"


def test_the_first_event_has_the_clocks_time() -> None:
    found = timeline([reading(SECOND)]).begin
    assert found == Begin(SECOND + FIRST_TICKS // 2, 0)
    assert timeline([]).begin is None


def test_the_error_is_of_reading_drift_and_clock() -> None:
    # Read within 100 ticks, 2 s later 300 ns too late, by a clock that is right to 7 us.
    last = reading(3 * SECOND + 300, ticks=4 * SECOND, most_us=7)
    found = clocks.begin([reading(SECOND, around=100, most_us=5), last], COSTS, 0)
    assert found == Begin(SECOND, 50 + 300 + 7_000)


@pytest.mark.parametrize("at", [0, 1])
def test_a_clock_that_nobody_keeps_right_has_no_known_error(at: int) -> None:
    readings = [reading(SECOND), reading(SECOND)]
    readings[at] = replace(readings[at], most_us=None)
    assert clocks.begin(readings, COSTS, 0) == Begin(SECOND, None)


def test_a_trace_that_is_read_is_the_one_that_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = timeline([reading(SECOND, around=40)], {7: 3})
    node = merging.read(written(tmp_path, "a", found, monkeypatch))
    assert node.name == "a"
    assert merging.is_trace(tmp_path / "a.json")
    again = node.timeline
    assert (again.begin, again.length_ns, again.lost) == (found.begin, found.length_ns, 0)
    assert lanes_of(again) == lanes_of(found)
    assert ("rank 3, writer (7)", "calls", 1, [(8500, 8700, "handle_mm_fault")]) in lanes_of(again)


def lanes_of(found: Timeline) -> list[tuple[str, str, int, list[tuple[int, int, str]]]]:
    return sorted(
        (lane.owner, lane.kind, lane.depth,
         [(int(begin), int(end), found.labels[label])
          for begin, end, label in zip(lane.begins, lane.ends, lane.labels, strict=True)])
        for lane in found.lanes
    )  # fmt: skip


def test_nodes_are_on_one_timeline_by_their_clocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = timeline([reading(2 * SECOND + 4_000, most_us=300)])
    early = timeline([reading(2 * SECOND, most_us=500)])
    paths = [written(tmp_path, "a", late, monkeypatch), written(tmp_path, "b", early, monkeypatch)]
    nodes = [merging.read(path) for path in paths]
    found = merging.merged(nodes)
    assert found.length_ns == late.length_ns + 4_000
    by_owner = {(owner, kind, depth): rows for owner, kind, depth, rows in lanes_of(found)}
    assert by_owner["a: writer (7)", "phases", 0] == [(4_000, 9_000, "phase 3")]
    assert by_owner["b: writer (7)", "phases", 0] == [(0, 5_000, "phase 3")]
    assert merging.agreement(nodes) == "The clocks of a, b agree to 0.8 ms."


def test_a_page_of_several_nodes_says_how_well_their_clocks_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = timeline([reading(SECOND)])
    unkept = timeline([reading(SECOND, most_us=None)])
    paths = [
        written(tmp_path, "a", found, monkeypatch),
        written(tmp_path, "b", unkept, monkeypatch),
    ]
    page = tmp_path / "all.html"
    assert cli.main(["view", *map(str, paths), "-o", str(page), "--no-open"]) == 0
    told = "How well the clocks agree is not known: b is not synchronised, by NTP or PTP."
    assert capsys.readouterr().out == f"{page}: 2 nodes. {told}\n"
    assert told in page.read_text()
    assert "b: processor 1" in page.read_text()


def test_traces_that_cannot_be_merged_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "a", timeline([reading(SECOND)]), monkeypatch)
    without = written(tmp_path, "b", timeline([]), monkeypatch)
    node, other = merging.read(path), merging.read(without)
    with pytest.raises(UsageError, match="two traces are of the same node"):
        merging.merged([node, node])
    with pytest.raises(UsageError, match="the trace of b does not say when it began"):
        merging.merged([node, other])
    path.write_text(path.read_text()[:-20])
    with pytest.raises(UsageError, match=r"a\.json is no trace of `kadence observe"):
        merging.read(path)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--png", "x.png"], "leave out --png, --svg, --trace and --serve"),
        (["other.json"], "other.json is no trace"),
    ],
)
def test_what_no_timeline_has_is_refused(
    words: list[str],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = written(tmp_path, "a", timeline([reading(SECOND)]), monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.json").write_text("{}")
    assert cli.main(["view", str(path), *words]) != 0
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1
