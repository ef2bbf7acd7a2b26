# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of made-up measurements, whose truth is known."""

import base64
import html
import re

import pytest
from made_up import CELLS, ROUNDS, WINNER, document, measurements, parsed, visible_text

from kadence.measurement.measure import REFERENCE, TAILORED
from kadence.report import page, report


def test_the_page_is_whole_and_holds_all_it_shows() -> None:
    picture = b"\x89PNG not really"
    source = page.render(document(measurements({WINNER: 0.8})), picture)
    reader = parsed(source)
    assert reader.references == ["data:image/png;base64," + base64.b64encode(picture).decode()]
    assert not re.search(r"https?:|@import|url\(", source)
    assert html.escape("diffuse<&>") in source
    text = visible_text(source)
    for shown in ("diffuse<&>", "checkpoint", "5.0 MiB", "Threads spin.", "It computes.", "90.0 %"):
        assert shown in text, shown


def test_the_page_tells_how_the_markers_do_on_both_inputs() -> None:
    shown = document(measurements({WINNER: 0.8}))
    text = visible_text(page.render(shown, b""))
    assert "chosen on ./heat -s 9 20 1 97.6 % 1.3 % 225" in text
    assert "validated on ./heat -n 7 20 1 – – 225" in text
    assert "the program is input-stable : 2.1 % of an input's instructions" in text
    assert "or because it has no such phase, are those of phase 1." in text
    assert "The 3 phases <joined> into 2." in text
    unknown = shown | {"plan": shown["plan"] | {"stability": None, "level": {"joined": []}}}
    assert "<joined>" not in visible_text(page.render(unknown, b""))
    assert "Nothing is known of other inputs" in visible_text(page.render(unknown, b""))


def test_the_page_tells_where_small_writes_go() -> None:
    shown = document(measurements({WINNER: 0.8}))
    assert "shorter way" not in visible_text(page.render(shown, b""))
    site = {"phase": 1, "function": "store<&>", "file": "a.c", "evidence": "Many small ones."}
    io = {"mode": "strict", "reason": None, "streams": False, "sites": [site]}
    text = visible_text(page.render(shown | {"plan": shown["plan"] | {"io": io}}, b""))
    assert "why there 1 store<&> Many small ones." in text
    io = io | {"mode": "off", "reason": "nothing is written", "sites": []}
    text = visible_text(page.render(shown | {"plan": shown["plan"] | {"io": io}}, b""))
    assert "Nowhere: nothing is written." in text


def test_the_page_tells_what_code_is_laid_out() -> None:
    shown = document(measurements({WINNER: 0.8}))
    assert "code lies" not in visible_text(page.render(shown, b""))
    layout = {"share": 0.987, "functions": [{"function": "f"}, {"function": "g"}]}
    text = visible_text(page.render(shown | {"plan": shown["plan"] | {"layout": layout}}, b""))
    assert "how often 2 functions' blocks ran, which have 98.7 % of the" in text


def test_the_page_tells_where_memory_is_made_for_the_program() -> None:
    shown = document(measurements({WINNER: 0.8}))
    assert "memory is made" not in visible_text(page.render(shown, b""))
    site = {"phase": 1, "function": "make<&>", "file": "src/a.c", "line": 7, "calls": []}
    site |= {"treatments": ["populate", "keep"], "evidence": "All of it is touched."}
    memory = {"mode": "default", "reason": None, "ahead": ["heap", "stack"], "sites": [site]}
    memory |= {"keep_bytes": 3 << 20, "fresh_least_bytes": 1 << 17}
    text = visible_text(page.render(shown | {"plan": shown["plan"] | {"memory": memory}}, b""))
    assert "page after page: heap, stack." in text
    assert "1 make<&> a.c:7 populate, keep All of it is touched." in text
    assert "at most 3.0 MiB stay with it" in text
    memory |= {"reason": "little is touched", "sites": []}
    text = visible_text(page.render(shown | {"plan": shown["plan"] | {"memory": memory}}, b""))
    assert "Nowhere: little is touched." in text


def test_the_page_tells_how_the_kernel_was_proven() -> None:
    shown = document(measurements({WINNER: 0.8}))
    text = visible_text(page.render(shown, b""))
    for words in ("./p check passes on it", "CONFIG_FUTEX=y", "it hung", "CGROUPS NAMESPACES"):
        assert words in text
    shown["tailoring"] |= {"outcome": "failed", "repairs": []}
    text = visible_text(page.render(shown | {"left_out": []}, b""))
    assert "the generic one serves instead: the check failed." in text
    assert "passes on it" not in text


def test_what_was_refused_for_the_same_reason_is_said_once() -> None:
    entries = [
        {"phase": 0, "what": "a quantum", "reason": "Threads spin."},
        {"phase": 1, "what": "a marker", "reason": "Too often."},
        {"phase": 2, "what": "a quantum", "reason": "Threads spin."},
        {"phase": None, "what": "a ring", "reason": "Nothing is written."},
    ]
    assert page.refusals(entries) == [
        {"what": "a quantum", "reason": "Threads spin.", "phases": [0, 2]},
        {"what": "a marker", "reason": "Too often.", "phases": [1]},
        {"what": "a ring", "reason": "Nothing is written.", "phases": []},
    ]


def test_the_plot_is_to_scale_from_zero() -> None:
    cells = report.measured(measurements({WINNER: 0.5, REFERENCE: 2.0}))
    drawn = page.plot(cells)
    ticks = {float(tick["label"]): tick["x"] for tick in drawn["ticks"]}
    per_second = (ticks[max(ticks)] - ticks[0]) / max(ticks)
    for row, cell in zip(drawn["rows"], cells, strict=True):
        seconds = cell["estimates"]["seconds"]["value"]
        assert row["value"] == pytest.approx(ticks[0] + per_second * seconds, abs=0.2)
        assert len(row["dots"]) == ROUNDS


@pytest.mark.parametrize("longest", [0.0007, 0.03, 1.0, 1.01, 59, 6000])
def test_the_axis_has_a_handful_of_round_ticks(longest: float) -> None:
    cells = report.measured(measurements(dict.fromkeys(CELLS, longest), noise=0))
    labels = [tick["label"] for tick in page.plot(cells)["ticks"]]
    assert 3 <= len(labels) <= page.TICKS + 1
    assert float(labels[-1]) >= longest * 0.999


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (page.in_bytes(0), "0 B"),
        (page.in_bytes(1023), "1023 B"),
        (page.in_bytes(1536), "1.5 KiB"),
        (page.in_bytes(5 << 20), "5.0 MiB"),
        (page.in_bytes(3 << 30), "3.0 GiB"),
        (page.in_seconds(0.0123), "12.3 ms"),
        (page.in_seconds(2.5), "2.500 s"),
        (page.in_digits(1234567), "1,234,567"),
        (page.in_percent(0.1234), "12.3 %"),
    ],
)
def test_figures_read_well(shown: str, expected: str) -> None:
    assert shown == expected


def test_the_page_shows_what_trials_found() -> None:
    arm = {"phase": 0, "policy": "memory", "level": 1, "outcome": "helps", "says": "helps"}
    arm |= {"effect": -0.0315, "low": -0.0439, "high": -0.0192, "blocks": 120, "visits": 480}
    idle = arm | {"policy": "quantum", "outcome": "idle", "says": "had nothing to do"}
    idle |= {"effect": None, "low": None, "high": None, "why": "<because>"}
    hurt = arm | {"policy": "rings", "outcome": "hurts", "effect": 0.5, "low": 0.1, "high": 9.0}
    arms = [each | {"runs": 7, "why": each.get("why", "")} for each in (arm, idle, hurt)]
    kernels = [{"kernel": TAILORED, "files": 8, "records": 1, "arms": arms}]
    sentence = "On the tailored kernel: memory helps."
    found = {"kernels": kernels, "notes": ["A note."], "kernel": TAILORED, "sentence": sentence}
    shown = document(measurements({WINNER: 0.8})) | {"trials": found}
    text = visible_text(page.render(shown, b""))
    assert "On the tailored kernel , in 1 process:" in text
    assert "memory in phase 0 helps −3.1 % (−4.3 to −1.9 %) 120 blocks, 480 visits" in text
    assert "quantum in phase 0 had nothing to do <because>" in text
    assert (
        text.index("A note.") < text.index("memory helps.") < text.index("Kernels kernel release")
    )
    assert report.table(shown).splitlines()[-2:] == [sentence, shown["verdict"]["sentence"]]
