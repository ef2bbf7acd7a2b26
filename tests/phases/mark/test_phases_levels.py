# SPDX-License-Identifier: GPL-2.0-or-later
"""Nested behaviour, and the level that a plan takes."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from planted import CHECKPOINT, COMPUTE, EXCHANGE, LOG, MAIN, Planted

from kadence.base.errors import ArtefactError
from kadence.phases import planning
from kadence.phases.analysis import describe
from kadence.phases.artefact import document
from kadence.phases.artefact.document import parse
from kadence.phases.find.segmentation import segment
from kadence.phases.mark import levels
from kadence.phases.plan import inputs
from kadence.profiler import kprof
from kadence.profiler.format.profile import Profile, SystemCalls

CYCLES, SWEEPS, ROWS, OTHER_ROWS = 5, 4, 3, 6

# Two inner phases of an outer phase, 0.4 apart, and another phase, 2 away from both.
FIRST, SECOND = {"C": 0.6, "X": 0.4}, {"C": 0.4, "X": 0.6}
OTHER = {"S": 1.0}


def nested(*, inner_announced: bool = False, calls: SystemCalls | None = None) -> Planted:
    """Cycles of an outer phase, in which two inner phases alternate, and of another phase.

    `compute` is entered where the outer phase begins, `exchange` where the other phase does. If
    `inner_announced`, `compute` and `checkpoint` are entered whenever an inner phase begins. The
    second inner phase makes `calls` in each of its rows.
    """
    planted = Planted()
    for _ in range(CYCLES):
        for sweep in range(SWEEPS):
            for mixture, place in ((FIRST, COMPUTE), (SECOND, CHECKPOINT)):
                rows = [planted.add(mixture) for _ in range(ROWS)]
                if inner_announced or (place == COMPUTE and sweep == 0):
                    planted.enter(rows[0], place)
                if calls and mixture is SECOND:
                    planted.calls += [replace(calls, interval=row) for row in rows]
        planted.enter(planted.add(OTHER), EXCHANGE)
        for _ in range(OTHER_ROWS - 1):
            planted.add(OTHER)
    planted.enter(0, MAIN)
    return planted


def described(profile: Profile, *, join: bool = True) -> dict[str, Any]:
    return describe(profile, segment(profile), join=join)


def planned(body: dict[str, Any]) -> dict[str, Any]:
    return planning.plan(parse(body, Path("x.phases.json")), planning.Options())


# ---- which level is taken ------------------------------------------------------------------------


def level(changes: int, worth: float) -> Any:
    return SimpleNamespace(kind_changes_marked=changes, worth=worth)


@pytest.mark.parametrize(
    ("found", "number"),
    [
        ([level(0, 0.2), level(0, 0.7), level(0, 0.0)], 1),
        ([level(0, 0.5), level(0, 0.5)], 0),  # the finest of equals
        ([level(0, 0.0), level(0, 0.0)], 0),
        ([level(20, 0.1), level(10, 0.9)], 0),  # the coarser level would lose a policy
        ([level(10, 0.9), level(20, 0.1)], 1),  # the coarser level gains a policy
        ([level(19, 0.9), level(20, 0.1)], 0),  # equal to within a twentieth
    ],
)
def test_the_level_is_the_one_of_most_worth_that_loses_no_policy(found, number):
    assert levels.taken(found) == number


def test_the_outer_phase_is_planned_where_only_that_can_be_announced():
    body = described(nested().profile())
    assert len(body["phases"]) == 3
    finest, outer, single = body["hierarchy"]["levels"]
    assert body["hierarchy"]["taken"] == 1
    # Each cycle has 8 visits to inner phases and one to the other phase. The run's first boundary
    # needs no marker, since the run returns to that phase.
    assert finest["boundaries"] == CYCLES * (2 * SWEEPS + 1) - 1
    assert finest["announced"] == CYCLES
    assert outer["boundaries"] == outer["announced"] == 2 * CYCLES - 1
    assert (single["announced"], single["kept"], single["worth"]) == (1, 0, 0)
    # 60 intervals of the other inner phase are 0.4 away, 30 of the other phase are 2 away.
    assert outer["kept"] == pytest.approx(1 - 60 * 0.4 / (60 * 0.4 + 30 * 2), abs=0.02)

    plan = planned(body)
    assert plan["level"]["joined"] == [[0, 1]]
    assert {marker["phase"]: marker["function"] for marker in plan["markers"]} == {
        0: "compute",
        2: "exchange",
    }
    assert plan["announcement"]["chosen_on"]["boundaries"] == 2 * CYCLES - 1
    assert plan["announcement"]["chosen_on"]["unmarked"] == 0
    assert "9 of 9 boundaries announced" in plan["level"]["reason"]
    assert "5 of 44 boundaries announced" in plan["level"]["reason"]


def test_policy_n_stays_that_of_phase_n():
    plan = planned(described(nested().profile()))
    assert [policy["phase"] for policy in plan["policies"]] == [0, 1, 2]
    first, second, _ = plan["policies"]
    assert first == second | {"phase": 0}
    assert first["evidence"].startswith("phases 0 and 1 joined: compute: 80.0%")
    assert first["quantum_ns"] > 0


def test_inner_phases_that_can_be_announced_are_kept():
    body = described(nested(inner_announced=True).profile())
    assert body["hierarchy"]["taken"] == 0
    plan = planned(body)
    assert plan["level"]["joined"] == []
    assert sorted(marker["phase"] for marker in plan["markers"]) == [0, 1, 2]
    assert plan["announcement"]["chosen_on"]["unmarked"] == 0


def test_one_phase_of_all_is_no_level_to_take():
    """Its only boundary would be announced, by main(), but that would be of no use."""
    planted = Planted()
    for number in range(60):
        planted.add(FIRST if number // ROWS % 2 else SECOND)
    planted.enter(0, MAIN)
    body = described(planted.profile())
    finest, single = body["hierarchy"]["levels"]
    assert (finest["announced"], single["announced"], single["boundaries"]) == (0, 1, 1)
    assert body["hierarchy"]["taken"] == 0


def test_an_inner_phase_with_io_stays_one_of_its_own():
    writes = SystemCalls(0, "write", "file", 100, 6400)
    body = described(nested(calls=writes).profile())
    assert [phase["kind"] for phase in body["phases"]] == ["compute", "file-io", "compute"]
    assert [joining["members"] for joining in body["hierarchy"]["joinings"]] == [[0, 2]]


def test_an_inner_phase_that_makes_processes_stays_one_of_its_own():
    """Only in that phase may the kernel have to serve page faults in the plain way."""
    body = described(nested(calls=SystemCalls(0, "fork", "", 1, 0)).profile())
    assert [phase["kind"] for phase in body["phases"]] == ["compute"] * 3
    assert [joining["members"] for joining in body["hierarchy"]["joinings"]] == [[0, 2]]


def v_cycles() -> Planted:
    """V-cycles: smoothing on three grids, down and up again, then the residual.

    The grids share code and differ in how much of it runs. The cycle has its own function, and so
    has the residual. No function of the smoothing tells the grids apart.
    """
    fine, middle, coarse = ({"C": share, "X": 1 - share} for share in (0.8, 0.65, 0.5))
    planted = Planted()
    for _ in range(6):
        for grid, mixture in enumerate((fine, middle, coarse, middle, fine)):
            for number in range(4):
                row = planted.add(mixture)
                if number == 0:
                    planted.enter(row, LOG)
                    planted.enter(row, COMPUTE, int(grid == 0))
        planted.enter(planted.add(OTHER), EXCHANGE)
        for _ in range(3):
            planted.add(OTHER)
    planted.enter(0, MAIN)
    return planted


def test_a_v_cycle_is_one_phase_where_its_grids_cannot_be_told():
    body = described(v_cycles().profile())
    assert len(body["phases"]) == 4
    assert body["hierarchy"]["levels"][0]["boundaries"] == 6 * 6 - 1
    plan = planned(body)
    assert plan["level"]["joined"] == [[0, 1, 2]]
    assert plan["announcement"]["chosen_on"]["boundaries"] == 2 * 6 - 1
    assert plan["announcement"]["chosen_on"]["unmarked"] == 0
    # Grids next to each other are joined first.
    distances = [joining["distance"] for joining in body["hierarchy"]["joinings"]]
    assert distances == sorted(distances)
    assert distances[0] == pytest.approx(0.3, abs=0.03)


# ---- the artefacts -------------------------------------------------------------------------------


def test_who_asks_for_a_number_of_phases_gets_them_unjoined():
    body = described(nested().profile(), join=False)
    assert (body["hierarchy"]["joinings"], body["hierarchy"]["taken"]) == ([], 0)
    assert planned(body)["level"]["reason"] == "no two phases may be joined"


def test_a_hierarchy_with_a_gap_is_refused():
    body = described(nested().profile())
    body["hierarchy"]["joinings"][0]["phase"] = 7
    with pytest.raises(ArtefactError, match="joined phases are not numbered"):
        planned(body)


@pytest.fixture
def compared(tmp_path: Path, kadence: Any) -> Path:
    """A folder with two inputs' profiles, the phases of the first, and their comparison."""
    kprof.write(tmp_path / "a.kprof", nested().profile())
    kprof.write(tmp_path / "b.kprof", nested().profile(noise=0.02))
    for words in (
        ("phases", "a.kprof", "-o", "p.json"),
        ("compare", "a.kprof", "b.kprof", "-o", "c.json"),
    ):
        done = kadence(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        (tmp_path / words[0]).write_text(done.stdout)
    return tmp_path


def test_the_commands_show_the_hierarchy_and_the_level(compared, kadence):
    told = (compared / "phases").read_text()
    assert re.search(r"^  3 = 0 \+ 1, 0\.[34]\d +2 left", told, re.MULTILINE)
    (taken,) = (line for line in told.splitlines() if "taken by the plan" in line)
    assert "2 left       9 of      9" in taken
    done = kadence("plan", "p.json", "-o", "q.json", cwd=compared)
    assert "level: the 3 phases joined into 2" in done.stdout
    assert "phase 1:" not in done.stdout


def test_markers_of_joined_phases_are_validated_on_other_inputs(compared, kadence):
    done = kadence("plan", "p.json", "-o", "q.json", "--compare", "c.json", cwd=compared)
    assert done.returncode == 0, done.stderr
    found = json.loads((compared / "q.json").read_text())["announcement"]
    assert found["withdrawn"] == []
    (other,) = found["validated_on"]
    assert (other["boundaries"], other["unmarked"]) == (2 * CYCLES - 1, 0)
    assert (other["announced"], other["false"]) == (1, 0)


def test_a_comparison_without_the_joined_phases_is_refused(compared):
    raw = json.loads((compared / "c.json").read_text())
    for pair in raw["pairs"]:
        pair["joined_boundaries"] = []
    (compared / "c.json").write_text(json.dumps(raw))
    phases = document.load(compared / "p.json")
    known = inputs.read(compared / "c.json", phases, raw["build_id"], compared / "p.json")
    assert known.at_level(0) == known
    with pytest.raises(ArtefactError, match="make it anew"):
        known.at_level(1)
