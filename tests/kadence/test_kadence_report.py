# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts and tables from made-up measurements, whose truth is known."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from made_up import CELLS, ROUNDS, SAMPLE, WINNER, document, measurements, visible_text

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
