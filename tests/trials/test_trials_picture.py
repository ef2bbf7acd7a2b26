# SPDX-License-Identifier: GPL-2.0-or-later
"""The report's picture of trials, and what the report keeps of their records."""

import math
from pathlib import Path
from typing import Any

import pytest
from planted_records import Process, planted

from kadence.measurement.measure import ADAPTED, MACHINE, TAILORED, Cell
from kadence.phases.plan.trials import TriedPhase
from kadence.report import effects, trials

HERE, THERE = Cell(MACHINE, ADAPTED), Cell(TAILORED, ADAPTED)
CENTRE = effects.WIDTH / 2


def arm(effect: float | None = None, half: float = 0.01, **changes: Any) -> dict[str, Any]:
    """A finding with an effect in per cent of the time."""
    bounds = (
        dict.fromkeys(("effect", "low", "high"))
        if effect is None
        else {
            "effect": math.log1p(effect / 100),
            "low": math.log1p((effect - half) / 100),
            "high": math.log1p((effect + half) / 100),
        }
    )
    usual = {"phase": 2, "policy": "memory", "level": 1, "outcome": "helps", "says": "helps"}
    return {**usual, "blocks": 12, "visits": 48, "why": "", **bounds, **changes}


def test_the_picture_is_to_scale_on_both_sides_of_zero() -> None:
    drawn = effects.picture([arm(-3.0, 1.0), arm(1.5, 0.5), arm(0.0, 4.0)])
    helped, hurt, nothing = drawn["rows"]
    per_cent = (CENTRE - helped["value"]) / 3.0
    assert drawn["zero"] == CENTRE
    for row, value, half in ((helped, -3.0, 1.0), (hurt, 1.5, 0.5), (nothing, 0.0, 4.0)):
        assert row["value"] == pytest.approx(CENTRE + per_cent * value, abs=0.2)
        assert row["low"] == pytest.approx(CENTRE + per_cent * (value - half), abs=0.2)
        assert row["high"] == pytest.approx(CENTRE + per_cent * (value + half), abs=0.2)
        assert not row["low_is_cut"] and not row["high_is_cut"]
    for tick in drawn["ticks"]:
        number = float(tick["label"].removesuffix(" %").replace("\N{MINUS SIGN}", "-"))
        assert tick["x"] == pytest.approx(CENTRE + per_cent * number, abs=0.2)
    assert [tick["label"] for tick in drawn["ticks"]] == [
        "\N{MINUS SIGN}4 %",
        "\N{MINUS SIGN}2 %",
        "0",
        "+2 %",
        "+4 %",
    ]


def test_a_whisker_that_would_hide_the_others_is_cut() -> None:
    drawn = effects.picture([arm(-3.0, 1.0), arm(0.0, 80.0)])
    helped, wide = drawn["rows"]
    assert wide["low_is_cut"] and wide["high_is_cut"]
    assert 0 <= wide["low"] < helped["low"] < CENTRE < wide["high"] <= effects.WIDTH
    assert "(\N{MINUS SIGN}80.0 to +80.0 %)" in wide["figures"]


@pytest.mark.parametrize("size", [0.0, 0.001, 0.3, 7.0, 60.0])
def test_the_axis_has_a_few_round_ticks(size: float) -> None:
    labels = [tick["label"] for tick in effects.picture([arm(-size, size / 2)])["ticks"]]
    assert "0" in labels
    assert 3 <= len(labels) <= effects.TICKS + 1


def test_rows_say_what_was_found() -> None:
    drawn = effects.picture(
        [
            arm(-3.04, 1.2),
            arm(None, outcome="untried", says="not tried", why="too few visits", level=2),
        ]
    )
    found, untried = drawn["rows"]
    assert (found["name"], found["counts"]) == ("memory in phase 2", "12 blocks, 48 visits")
    minus = "\N{MINUS SIGN}"
    assert found["figures"] == f"{minus}3.0 % ({minus}4.2 to {minus}1.8 %)"
    assert (untried["name"], untried["known"]) == ("memory at level 2 in phase 2", False)
    assert drawn["axis"] == found["height"]
    assert untried["top"] == drawn["axis"] + effects.AXIS
    assert drawn["height"] == untried["top"] + untried["height"]


def test_nothing_tried_is_an_empty_picture() -> None:
    assert effects.picture([])["rows"] == []


# ---- the entry in the report ---------------------------------------------------------------------


def write(folder: Path, cell: Cell, effect: float, runs: int = 7) -> list[Path]:
    found = []
    for number in range(1, runs + 1):
        process = planted(effect, number=number, noise=0.002)
        found.append(process.write(folder / f"{cell.kernel}-{number}.trials"))
    return found


def test_each_kernel_has_its_findings_and_the_judged_one_the_verdict(tmp_path: Path) -> None:
    files = {HERE: write(tmp_path, HERE, 0.0), THERE: write(tmp_path, THERE, -0.05)}
    told = trials.described(files, TAILORED, (TriedPhase(1, ("rings",), 9),))
    assert [(one["kernel"], one["records"]) for one in told["kernels"]] == [
        (MACHINE, 7),
        (TAILORED, 7),
    ]
    here, there = (
        {arm["policy"]: arm["outcome"] for arm in one["arms"]} for one in told["kernels"]
    )
    assert here == {"memory": "none", "rings": "untried"}
    assert there == {"memory": "helps", "rings": "untried"}
    assert told["sentence"].startswith("On the tailored kernel: memory in phase 0 took 4.9 % (")
    assert told["sentence"].endswith("; nothing hurt.")


def test_without_records_on_the_judged_kernel_another_speaks(tmp_path: Path) -> None:
    files = {HERE: write(tmp_path, HERE, 0.0)}
    told = trials.described(files, TAILORED, ())
    assert told["sentence"].startswith("On this machine's own kernel: memory did nothing")
    assert trials.described({}, TAILORED, ())["sentence"] == "No policy was tried."


def test_a_damaged_record_is_told_and_left_out(tmp_path: Path) -> None:
    paths = write(tmp_path, HERE, -0.05)
    paths[0].write_bytes(Process(1).content.replace(b"kadence", b"cadence"))
    told = trials.described({HERE: paths}, MACHINE, ())
    assert told["kernels"][0]["records"] == 6
    (note,) = told["notes"]
    assert note.startswith(f"Left out: {paths[0]} is damaged at line 1: ")
