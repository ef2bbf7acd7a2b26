# SPDX-License-Identifier: GPL-2.0-or-later
"""The timeline of a run that is known, and of real ones."""

import json
from pathlib import Path

import numpy as np
import pytest
from known_events import EVENTS, INSTRUMENTS, event, known, known_results

from kadence import cli
from kadence.base.errors import KadenceError
from kadence.observe.timeline import events, page, spans, trace
from kadence.observe.timeline.events import ROW
from kadence.observe.timeline.spans import Timeline

TIMES = 400


def timeline() -> Timeline:
    return spans.make(known(), known_results(), INSTRUMENTS)


def shown(found: Timeline) -> dict[tuple[str, str, int], list[tuple[int, int, str]]]:
    """Each lane's spans, with their names."""
    return {
        (lane.owner, lane.kind, lane.depth): [
            (begin, end, found.labels[label])
            for begin, end, label in zip(
                lane.begins.tolist(), lane.ends.tolist(), lane.labels.tolist(), strict=True
            )
        ]
        for lane in found.lanes
    }


def test_lanes_hold_what_each_task_did() -> None:
    # Ticks of half a nanosecond, from the first event on.
    assert shown(timeline()) == {
        ("writer (7)", "phases", 0): [(0, 5000, "phase 3")],
        ("writer (7)", "calls", 0): [(6000, 9000, "__x64_sys_read")],
        ("writer (7)", "calls", 1): [(8500, 8700, "handle_mm_fault")],
        ("writer (7)", "waiting", 0): [(6200, 8200, "slept")],
        ("a reader (8)", "calls", 0): [
            (6500, 8000, "__x64_sys_read"),
            (10500, 11000, "handle_mm_fault"),
        ],
        ("a reader (8)", "waiting", 0): [(8100, 10000, "slept")],
        ("processor 0", "runs", 0): [
            (0, 6200, "writer (7)"),
            (6500, 8100, "a reader (8)"),
            (8200, 9000, "writer (7)"),
        ],
        ("processor 1", "runs", 0): [(10000, 11000, "a reader (8)")],
    }
    assert timeline().length_ns == 11000


def test_a_run_without_events_has_no_lanes() -> None:
    found = spans.make(known([]), known_results(), INSTRUMENTS)
    assert (found.lanes, found.length_ns) == ([], 0)
    assert "0 spans" in page.render(found, ["true"], [])


def test_a_task_without_records_has_its_number() -> None:
    found = spans.make(known([event(1, 2, 0, 99)]), known_results(), INSTRUMENTS)
    assert found.lanes[0].owner == "task 99"


@pytest.mark.parametrize("content", [b"", b"12345"])
def test_events_that_are_none_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "events").write_bytes(content)
    with pytest.raises(KadenceError, match="ended without its events"):
        events.read(tmp_path / "events")


def test_events_are_read_with_the_number_of_lost_ones(tmp_path: Path) -> None:
    rows = np.array([(5, 0, 0, 0, 0, 0), *EVENTS], dtype=ROW)
    (tmp_path / "events").write_bytes(rows.tobytes())
    found = events.read(tmp_path / "events")
    assert (found.lost, found.rows.tolist()) == (5, EVENTS)


def test_a_trace_is_one_of_the_trace_event_format(tmp_path: Path) -> None:
    trace.write(timeline(), tmp_path / "t.json")
    rows = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    names = {(row["pid"], row["tid"]): row["args"]["name"] for row in rows
             if row["name"] == "thread_name"}  # fmt: skip
    calls = [row for row in rows if row.get("cat") == "calls"]
    assert [
        (names[row["pid"], row["tid"]], row["name"], row["ts"], row["dur"]) for row in calls
    ] == [
        ("writer (7)", "__x64_sys_read", 6.0, 3.0),
        ("writer (7)", "handle_mm_fault", 8.5, 0.2),
        ("a reader (8)", "__x64_sys_read", 6.5, 1.5),
        ("a reader (8)", "handle_mm_fault", 10.5, 0.5),
    ]
    assert {row["ph"] for row in rows} == {"M", "X"}


def test_numbers_are_written_in_groups_of_seven_bits() -> None:
    numbers = np.array([0, 127, 128, 300, 2**63], dtype=np.uint64)
    assert page.varints(numbers) == bytes([0, 127, 0x80, 1, 0xAC, 2, *[0x80] * 9, 1])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--timeline", "t.txt", "--", "ls"], "t.txt is neither a page (.html) nor a trace"),
        (["--timeline", "/missing/t.html", "--", "ls"], "there is no folder /missing"),
        (["--timeline", "t.html"], "no command to run"),
    ],
)
def test_a_timeline_that_cannot_be_is_refused(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["observe", *words]) != 0
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1


@pytest.mark.kernel
def test_a_command_has_a_timeline(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = f"dd if=/dev/zero bs=1 count={TIMES} status=none | cat >/dev/null; exit 3"
    files = [word for name in ("t.json", "t.html") for word in ("--timeline", str(tmp_path / name))]
    assert cli.main(["observe", *files, "--", "sh", "-c", command]) == 3, capfd.readouterr().err
    rows = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    tasks = {row["tid"]: row["args"]["name"] for row in rows if row["name"] == "thread_name"}
    by_dd = [row for row in rows if row.get("cat") == "calls"
             and tasks[row["tid"]].startswith("dd (")]  # fmt: skip
    writes = [row for row in by_dd if row["name"] == "__x64_sys_write"]
    assert len(writes) == TIMES
    assert {"handle_mm_fault", "__x64_sys_execve"} <= {row["name"] for row in by_dd}
    assert "__x64_sys_write" in (tmp_path / "t.html").read_text()
