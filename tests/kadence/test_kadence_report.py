# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts and pages from made-up measurements, whose truth is known."""

import base64
import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from kadence.measurement.execution import Sample
from kadence.measurement.measure import (
    ADAPTED,
    GENERIC,
    MACHINE,
    PLAIN,
    REFERENCE,
    TAILORED,
    Cell,
    Measurements,
)
from kadence.program.filters import Counted
from kadence.program.leaving_out import LeftOut
from kadence.report import gains, page, report

ROUNDS = 9
CELLS = [
    Cell(kernel, program) for kernel in (MACHINE, GENERIC, TAILORED) for program in (PLAIN, ADAPTED)
]
WINNER = Cell(TAILORED, ADAPTED)
SAMPLE = Sample(
    seconds=1.0,
    program_seconds=0.9,
    boot_seconds=0.1,
    user_seconds=0.8,
    system_seconds=0.1,
    voluntary_switches=3,
    involuntary_switches=40,
    minor_faults=500,
    major_faults=0,
    max_resident_bytes=7 << 20,
)


def measurements(factors: dict[Cell, float], noise: float = 0.001) -> Measurements:
    """Every combination takes 1 s times its factor, with reproducible noise."""
    generator = np.random.default_rng(3)
    found = Measurements(samples={})
    for cell in CELLS:
        times = factors.get(cell, 1.0) * (1 + noise * generator.standard_normal(ROUNDS))
        found.samples[cell] = [
            replace(SAMPLE, seconds=float(time), program_seconds=float(time) - 0.1)
            for time in times
        ]
        found.outputs[cell] = {"standard output": "00"}
    return found


def document(
    found: Measurements, notes: tuple[str, ...] = (), left_out: tuple[LeftOut, ...] = ()
) -> dict[str, Any]:
    """A report on the measurements."""
    phases = {"id": 0, "kind": "compute", "weight": 0.9, "hottest": []}
    hot = {"function": "diffuse<&>", "file": "src/heat.c", "line": 12, "share": 0.93}
    policy = {
        "phase": 0,
        "name": "compute",
        "quantum_ns": 5_000_000_000,
        "evidence": "It computes.",
    }
    marker = {
        "phase": 1,
        "function": "checkpoint",
        "kind": "loop_preheader",
        "file": "src/heat.c",
        "line": 9,
        "verified": False,
        "expected_fires": 20,
        "evidence": "It fires once.",
    }
    figures = {
        "program": ["./heat", "-s", "9"],
        "boundaries": 20,
        "unmarked": 1,
        "announced": 0.976,
        "fires": 400,
        "false": 0.013,
        "firings_per_second": 225.1,
    }
    elsewhere = {"program": ["./heat", "-n", "7"], "announced": None, "false": None}
    announcement = {
        "announced_at_least": 0.95,
        "false_at_most": 0.05,
        "firings_per_second_at_most": 1000.0,
        "withdrawn": [1],
        "chosen_on": figures,
        "validated_on": [figures | elsewhere],
    }
    pieces = [{"phase": 0, "start": 0, "length": 500}, {"phase": 1, "start": 500, "length": 100}]
    body = report.body(found, ROUNDS, notes, left_out=left_out)
    return body | {
        "flags": None,
        "ceiling": None,
        "observed": None,
        "command": ["kadence", "specialize", "heat"],
        "program": {"name": "heat", "run": ["./heat"], "profile": ["./heat", "-s", "9"]},
        "machine": {"release": "6.1.0", "processor": "A <fast> one", "processors": 2},
        "profile": {
            "interval": 1000,
            "intervals": 600,
            "timeline": [{"thread": 1, "pieces": pieces}],
        },
        "phases": [phases | {"hottest": [hot]}, phases | {"id": 1, "kind": "file-io"}],
        "plan": {
            "stability": {"verdict": "input-stable", "unknown": 0.021, "allowed": 0.05},
            "level": {"joined": [[1, 2]], "reason": "the 3 phases <joined> into 2"},
            "announcement": announcement,
            "policies": [policy, policy | {"phase": 1, "quantum_ns": 0}],
            "markers": [marker],
            "refused": [{"phase": None, "what": "a long quantum", "reason": "Threads spin."}],
        },
        "system_calls": [
            {"name": "write", "descriptor": "file", "count": 7, "bytes": 70},
            {"name": "brk", "descriptor": "", "count": 3, "bytes": 0},
        ],
        "tailoring": {
            "outcome": "repaired",
            "reason": "the check failed",
            "check": ["./p", "check"],
            "builds": 3,
            "repairs": [{"symbol": "FUTEX", "value": "y", "reason": "it hung", "rule": ""}],
        },
        "left_out": [{"reason": "no time-sharing", "symbols": ["CGROUPS", "NAMESPACES"]}],
        "kernels": [
            {
                "kind": kind,
                "id": "0123456789abcdef",
                "release": "6.12.1",
                "image_bytes": 5 << 20,
                "text_bytes": 3 << 20,
                "boot_seconds": None,
            }
            for kind in (GENERIC, TAILORED)
        ],
        "trials": {"kernels": [], "notes": [], "kernel": None, "sentence": "No policy was tried."},
    }


def test_less_time_is_faster_and_says_by_how_much() -> None:
    judged = report.verdict(measurements({WINNER: 0.8}))
    assert judged.outcome == report.FASTER
    assert judged.ratio is not None
    assert judged.ratio.low < 0.8 < judged.ratio.high
    share = re.search(r"takes (\S+) % less \((\S+) to (\S+) %\) time", judged.sentence)
    assert share
    middle, low, high = map(float, share.groups())
    assert low <= 20.0 <= high
    assert middle == pytest.approx(20, abs=0.2)
    assert "plain program on this machine's own kernel" in judged.sentence


def test_more_time_is_slower_and_advises_against() -> None:
    judged = report.verdict(measurements({WINNER: 1.5}))
    assert judged.outcome == report.SLOWER
    assert "50." in judged.sentence or "49." in judged.sentence
    assert judged.sentence.endswith("use the plain program on this machine's own kernel.")


def test_a_difference_within_the_noise_is_none() -> None:
    judged = report.verdict(measurements({WINNER: 0.999}, noise=0.05))
    assert judged.outcome == report.NONE
    assert "no difference can be told from the noise" in judged.sentence


def test_the_verdict_is_against_this_machines_kernel_whatever_the_others_gain() -> None:
    guests = {Cell(GENERIC, PLAIN): 2.0, Cell(GENERIC, ADAPTED): 2.0, Cell(TAILORED, PLAIN): 1.6}
    found = measurements(guests | {WINNER: 1.2})
    assert report.verdict(found).outcome == report.SLOWER
    says = {entry["effect"]: entry["seconds"]["says"] for entry in report.comparisons(found)}
    plain = re.match(r"(\S+) % less", says["the tailored kernel, plain program"])
    assert plain
    assert float(plain[1]) == pytest.approx(20, abs=0.3)
    assert " less " in says["the tailored kernel, adapted program"]
    assert says["the adaptation, on the generic kernel"] == "none"
    assert says["the phase calls where no device answers them"] == "none"
    assert " more " in says["running under User-Mode Linux at all"]


def test_on_a_busy_machine_nothing_is_decided() -> None:
    found = measurements({WINNER: 0.5})
    assert report.verdict(found, 0.2).outcome == report.FASTER
    judged = report.verdict(found, 0.6)
    assert judged.outcome == report.UNDECIDED
    assert "Nothing is decided" in judged.sentence
    busy = report.body(found, ROUNDS, (), 0.6)
    assert "Other work took 60%" in busy["notes"][-1]
    found.differences[WINNER, "standard output"] = [1]
    assert report.verdict(found, 0.6).outcome == report.FAILED


def test_different_output_is_a_failure_however_fast() -> None:
    found = measurements({WINNER: 0.5})
    found.differences[WINNER, "result.dat"] = [2, 5]
    shown = document(found)
    assert shown["verdict"]["outcome"] == report.FAILED
    assert shown["failures"] == [
        "result.dat of the adapted program on the tailored kernel differed 2 times from the "
        "plain program on this machine's own kernel's"
    ]
    assert report.table(shown).startswith(shown["failures"][0])
    text = visible_text(page.render(shown, b""))
    assert text.index("The output is not the same everywhere.") < text.index("Kadence report")
    assert text.index("result.dat") < text.index("Time from request")
    assert "50" not in shown["verdict"]["sentence"]


def test_the_page_shows_functions_of_the_kernel_by_phase() -> None:
    row = {"function": "vfs_<write>", "calls": 1234, "own_us": 10.0, "inclusive_us": 20.0,
           "share": 0.25, "waited": "slept 7.0", "bytes": 4096}  # fmt: skip
    phase = {"phase": 1, "tasks": 1, "elapsed_us": 99.0, "ran_us": 80.0, "functions": [row],
             "others": 3}  # fmt: skip
    observed = {"release": "6.12.1", "functions": ["vfs_*"], "correction": "9 calls took 40 ticks",
                "phases": [phase, phase | {"phase": None, "others": 0}]}  # fmt: skip
    shown = document(measurements({})) | {"observed": observed}
    text = visible_text(page.render(shown, b""))
    assert "1 0.1 ms vfs_<write> 1,234 10 20 25.0 % slept 7.0 4,096 and 3 more outside" in text
    assert "9 calls took 40 ticks." in text


def test_a_program_that_is_not_deterministic_is_told_so() -> None:
    found = measurements({})
    found.differences[REFERENCE, "standard output"] = [1]
    assert "the program is not deterministic" in report.failures(found)[0]


def test_without_a_tailored_kernel_the_generic_one_is_judged() -> None:
    found = measurements({Cell(GENERIC, ADAPTED): 0.7})
    for program in (PLAIN, ADAPTED):
        del found.samples[Cell(TAILORED, program)]
        found.dropped[Cell(TAILORED, program)] = "the guest hung"
    judged = report.verdict(found)
    assert (judged.outcome, judged.kernel) == (report.FASTER, GENERIC)
    shown = document(found, notes=("A note.",))
    assert shown["notes"] == ["A note."]
    assert [part["part"] for part in shown["without"]] == ["the tailored kernel"]
    assert report.table(shown).startswith("Left out: the tailored kernel: the guest hung. What to")
    assert "The guest hung" in visible_text(page.render(shown, b""))


def only(*cells: Cell) -> Measurements:
    """Measurements in which all other combinations are missing."""
    found = measurements({WINNER: 0.5, Cell(TAILORED, PLAIN): 0.6, Cell(MACHINE, ADAPTED): 0.9})
    found.samples = {cell: found.samples[cell] for cell in cells}
    return found


@pytest.mark.parametrize(
    ("cells", "judged"),
    [
        (CELLS, WINNER),
        ([cell for cell in CELLS if cell.program == PLAIN], Cell(TAILORED, PLAIN)),
        ([cell for cell in CELLS if cell.kernel == MACHINE], Cell(MACHINE, ADAPTED)),
        ([REFERENCE, Cell(GENERIC, PLAIN)], Cell(GENERIC, PLAIN)),
        ([REFERENCE, Cell(MACHINE, ADAPTED), Cell(GENERIC, PLAIN)], Cell(MACHINE, ADAPTED)),
    ],
)
def test_what_there_is_is_judged(cells: list[Cell], judged: Cell) -> None:
    found = only(*cells)
    verdict = report.verdict(found)
    assert verdict.kernel == judged.kernel
    assert str(judged) in verdict.sentence or verdict.outcome == report.NONE
    page.render(document(found), b"")


def test_what_was_left_out_comes_first_with_what_to_do() -> None:
    part = LeftOut("the adapted program", "it aborts <here>", "leave I/O out")
    shown = document(measurements({}), left_out=(part,))
    assert shown["without"] == [
        {"part": "the adapted program", "reason": "it aborts <here>", "remedy": "leave I/O out"}
    ]
    first = report.table(shown).splitlines()[0]
    assert first == "Left out: the adapted program: it aborts <here>. What to do: leave I/O out."
    text = visible_text(page.render(shown, b""))
    assert text.index("Only part of this was possible.") < text.index("Time from request")
    assert "It aborts <here>. What to do: leave I/O out." in text
    assert "Only part" not in visible_text(page.render(document(measurements({})), b""))


def test_filters_are_shown_with_what_they_remove() -> None:
    found = measurements({})
    found.filtered = [
        Counted("^# <time>", False, "standard output", 3, 1200),
        Counted("", True, "out", 0, 7),
    ]
    found.warnings = ["The filter 'x' matches no line and removes nothing."]
    shown = document(found)
    assert shown["notes"] == found.warnings
    table = report.table(shown)
    assert "not compared: 3 of 1200 lines of standard output, by '^# <time>'" in table
    assert "by no pattern, the rest compared in sorted order" in table
    text = visible_text(page.render(shown, b""))
    assert "^# <time> standard output 3 1,200" in text
    assert "the order of lines out 0 7" in text
    assert "but for the lines below" in text


CEILING = {
    "schema": "kadence.ceiling",
    "command": ["kadence"],
    "tasks": 1,
    "measured": ["./heat", "-s", "9"],
    "sentence": "at most 12.0 % can be gained",
    "error": "the prices are <right>",
    "notes": ["it starts other processes"],
    "run": {"runs": 7},
    "unexplained": 0.01,
    "rows": [
        {"phase": 1, "kind": "file-io", "share": 0.4}
        | {"faults": 0.031, "calls": 0.21, "switches": 0.0, "waiting": 0.0},
        {"phase": None, "kind": "outside phases", "share": 0.59}
        | dict.fromkeys(("faults", "calls", "switches", "waiting"), 0.0),
    ],
    "totals": {"faults": 0.0124, "calls": 0.084, "switches": 0.0, "waiting": 0.0},
    "takers": [
        {"what": "writes to files", "count": 40961, "share": 0.084, "planned": 0.083}
        | {"how": "the plan adapts 40,543"},
    ],
}
FLAGS = {"schema": "kadence.flags", "first": "compile with -O3 first", "rest": ["-x gives none"]}


def test_a_report_begins_with_flags_and_ceiling() -> None:
    left = LeftOut("the adapted program", "it does not compile", "mend it")
    shown = document(measurements({}), left_out=(left,))
    began = gains.first(shown, CEILING, FLAGS)
    assert list(began)[:2] == ["flags", "ceiling"]
    assert "schema" not in began["ceiling"]
    # In each made-up run, all but 0.8 of 0.9 s are the program's own computing.
    assert began["ceiling"]["job"]["value"] == pytest.approx(1 / 9, rel=0.01)
    shown |= began
    lines = report.table(shown).splitlines()
    assert lines[0].startswith("Left out: the adapted program")
    assert lines[1:3] == ["compile with -O3 first", "at most 12.0 % can be gained"]
    assert lines[3].startswith("of the measured runs of `./heat`, at most 11.")
    assert lines[4:6] == ["note: it starts other processes", "-x gives none"]
    text = visible_text(page.render(shown, b""))
    places = [
        text.index(part)
        for part in (
            "Compile with -O3 first.",
            "At most 12.0 % can be gained.",
            "1 file-io 40.0 % 3.1 % 21.0 %",
            "the run 100.0 % 1.2 % 8.4 %",
            "The prices are <right>.",
            "8.4 % 40,961 writes to files",
            "-x gives none",
            "Only part of this",
            "no difference can be told",
        )
    ]
    assert places == sorted(places)


def test_a_ceiling_without_runs_of_the_job_has_none() -> None:
    found = measurements({})
    found.samples = {cell: samples for cell, samples in found.samples.items() if cell != REFERENCE}
    assert gains.first(document(found), CEILING, None)["ceiling"]["job"] is None


def test_a_report_without_a_plan_has_a_page() -> None:
    nothing = {name: [] for name in ("policies", "markers", "refused")}
    shown = document(measurements({}))
    shown["plan"] = {"stability": None, "level": None, "announcement": None, **nothing}
    visible_text(page.render(shown, b""))


def test_every_figure_carries_count_median_and_interval() -> None:
    cells = report.measured(measurements({}))
    assert [(cell["kernel"], cell["program"]) for cell in cells] == [
        (cell.kernel, cell.program) for cell in CELLS
    ]
    for cell in cells:
        for metric, estimate in cell["estimates"].items():
            assert estimate["count"] == ROUNDS
            assert estimate["low"] <= estimate["value"] <= estimate["high"]
            assert estimate["value"] == np.median(cell["samples"][metric])
    json.dumps(cells, allow_nan=False)


LINE = (
    '{"pid": 7, "phases": [{"phase": 1, "entries": 2, "time_ns": 30, '
    '"voluntary_switches": 4, "involuntary_switches": 5}]}\n'
)
SUMMED = {"entries": 4, "time_ns": 60, "voluntary_switches": 8, "involuntary_switches": 10}
UNKNOWN = dict.fromkeys(("minor_faults", "major_faults", "populated_bytes"))


def test_the_kernels_counters_are_summed_over_processes() -> None:
    assert report.counted(LINE + LINE) == [{"phase": 1, **SUMMED, **UNKNOWN}]
    assert report.counted('{"pid": 7, "phases": []}\n') == report.counted("") == []
    found = measurements({})
    found.counters[WINNER] = LINE
    text = visible_text(page.render(document(found), b""))
    assert "What the tailored kernel counted in one run of the adapted program" in text
    assert "1 2 × 0.0 ms 4 5 – – –" in text


def test_the_kernels_counters_of_memory_are_summed_where_all_have_them() -> None:
    memory = '"minor_faults": 1500, "major_faults": 1, "populated_bytes": 3145728}]}'
    full = LINE.replace("}]}", f", {memory}")
    known = {"minor_faults": 3000, "major_faults": 2, "populated_bytes": 6 << 20}
    assert report.counted(full + full) == [{"phase": 1, **SUMMED, **known}]
    assert report.counted(full + LINE) == [{"phase": 1, **SUMMED, **UNKNOWN}]
    found = measurements({})
    found.counters[WINNER] = full
    assert "4 5 1,500 1 3.0 MiB" in visible_text(page.render(document(found), b""))


def test_faults_and_resident_memory_stand_beside_this_machines_own() -> None:
    found = measurements({})
    found.samples[WINNER] = [replace(SAMPLE, minor_faults=25, max_resident_bytes=9 << 20)] * ROUNDS
    shown = document(found)
    lines = [re.sub(" +", " ", line) for line in report.table(shown).splitlines()]
    assert lines[5:9] == [
        "page faults, peak resident plain program adapted program",
        "this machine's own kernel 500, 7.0 MiB 500, 7.0 MiB",
        "the generic kernel 500, 7.0 MiB 500, 7.0 MiB",
        "the tailored kernel 500, 7.0 MiB 25, 9.0 MiB",
    ]
    assert "9.0 MiB" in visible_text(page.render(shown, b""))


def test_zero_switches_are_a_figure_too() -> None:
    found = measurements({})
    found.samples[REFERENCE] = [replace(SAMPLE, voluntary_switches=0)] * ROUNDS
    json.dumps(document(found), allow_nan=False)
    page.render(document(found), b"")


class Page(HTMLParser):
    """Collects open tags, references and the text."""

    VOID = frozenset({"meta", "br", "img", "link", "circle", "line", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)


def parsed(source: str) -> Page:
    reader = Page()
    reader.feed(source)
    reader.close()
    assert not reader.open
    return reader


def visible_text(source: str) -> str:
    return " ".join(" ".join(parsed(source).text).split())


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
