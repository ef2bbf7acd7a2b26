# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence learn`: what records with planted effects teach a plan, and which it refuses."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted_records import KIND, MACHINE, PLAN_ID, Process, planted, summed, write_plan

from kadence import cli
from kadence.base import artefact

NODE = MACHINE | {"processor": "Intel Xeon"}
Body = dict[str, Any]


@pytest.fixture
def learn(plan: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run `kadence learn` on the plan; returns what it printed."""

    def run(*records: Path, output: Path = plan) -> str:
        assert cli.main(["learn", str(plan), *map(str, records), "-o", str(output)]) == 0
        said = capsys.readouterr()
        return said.err + said.out

    return run


@pytest.fixture
def refuse(plan: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run it in vain: one sentence, and the plan stays as it was."""

    def run(*records: Path) -> str:
        before = plan.read_bytes()
        assert cli.main(["learn", str(plan), *map(str, records), "-o", str(plan)]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("kadence: ") and said.err.count("\n") == 1
        assert plan.read_bytes() == before
        assert not list(plan.parent.glob(".*"))
        return said.err

    return run


def learned(plan: Path) -> list[Body]:
    """What the plan has learned."""
    found: list[Body] = artefact.read(plan, artefact.PLAN)["trials"]["learned"]
    return found


def test_a_planted_effect_is_learned(plan, learn, tmp_path):
    said = learn(planted(-0.03, 100).write(tmp_path / "r"))
    (one,) = learned(plan)
    assert {key: one[key] for key in ("phase", "policy", "level", "blocks", "records")} == {
        "phase": 0,
        "policy": "memory",
        "level": 1,
        "blocks": 100,
        "records": 1,
    }
    assert one["machine"] == KIND
    assert one["error"] == pytest.approx(0.01 / 10, rel=0.3)
    assert abs(one["effect"] + 0.03) < 3 * one["error"]
    assert "memory in phase 0 on AMD EPYC, Linux 6.18, 23 GiB: " in said
    assert " % less time (" in said and "100 blocks of 1 record\n" in said
    assert "heat.plan.json: 1 new record, 1 in all" in said


def test_the_rest_of_the_plan_stays(plan, learn, tmp_path):
    before = json.loads(plan.read_text())
    record = planted(-0.03).write(tmp_path / "r")
    learn(record)
    after = json.loads(plan.read_text())
    assert after["command"] == ["kadence", "learn", str(plan), str(record), "-o", str(plan)]
    for document in (before, after):
        document.pop("command")
        document["trials"].pop("learned")
        document["trials"].pop("runs")
    assert after == before


def test_policies_levels_and_phases_are_kept_apart(plan, learn, tmp_path):
    process = Process(7).phase(0).phase(1)
    for arm, effect in (
        ({"phase": 0, "policy": "memory", "level": 1}, -0.04),
        ({"phase": 0, "policy": "memory", "level": 2}, 0.02),
        ({"phase": 1, "policy": "rings", "level": 1}, 0.0),
    ):
        process.blocks([effect + noise for noise in (-0.001, 0.0, 0.001, 0.0)], **arm)
    learn(process.write(tmp_path / "r"))
    assert [(one["phase"], one["policy"], one["level"]) for one in learned(plan)] == [
        (0, "memory", 1),
        (0, "memory", 2),
        (1, "rings", 1),
    ]
    assert [one["effect"] for one in learned(plan)] == pytest.approx([-0.04, 0.02, 0.0], abs=1e-6)


def test_two_kinds_of_machines_are_kept_apart(plan, learn, tmp_path):
    here = planted(-0.05, number=7).write(tmp_path / "here")
    there = planted(0.02, number=8, machine=NODE).write(tmp_path / "there")
    newer = planted(0.0, number=9, machine=MACHINE | {"kernel": "6.19.1"}).write(tmp_path / "newer")
    same = planted(-0.05, number=10, machine=MACHINE | {"kernel": "6.18.2-rc1"})
    learn(here, there, newer, same.write(tmp_path / "same"))
    found = {(one["machine"]["processor"], one["machine"]["kernel"]): one for one in learned(plan)}
    assert found["AMD EPYC", "6.18"]["effect"] == pytest.approx(-0.05, abs=0.006)
    assert found["Intel Xeon", "6.18"]["effect"] == pytest.approx(0.02, abs=0.006)
    assert found["AMD EPYC", "6.19"]["effect"] == pytest.approx(0.0, abs=0.006)
    assert [one["records"] for one in learned(plan)] == [2, 1, 1]


def test_one_wild_block_decides_nothing(plan, learn, tmp_path):
    calm = [-0.03 + noise for noise in (0.004, -0.004) * 10]
    wild = Process(7).phase().blocks([*calm, 5.0], bound=0.01)
    learn(wild.write(tmp_path / "r"))
    assert learned(plan)[0]["effect"] == pytest.approx(-0.03, abs=0.001)


def test_nodes_that_differ_widen_the_error(plan, learn, tmp_path):
    def errors(spread: float) -> float:
        write_plan(plan)
        shifts = [spread * shift for shift in (-1.5, -0.5, 0.0, 0.5, 1.5)]
        records = [
            planted(-0.03 + shift, number=number).write(tmp_path / f"{number}")
            for number, shift in enumerate(shifts, 1)
        ]
        learn(*records)
        return float(learned(plan)[0]["error"])

    assert errors(0.03) > 4 * errors(0.0)


def test_the_ranks_of_a_job_do_not_count_as_so_many_runs(plan, learn, tmp_path):
    """They toss the same coins, and what disturbs one disturbs all."""
    alone = planted(-0.03, 40, number=1)
    learn(alone.write(tmp_path / "r"))
    one = learned(plan)[0]
    write_plan(plan)
    ranks = [Process(n, {"seed": "5" * 16}).phase(spread=0.01 + n / 1e6) for n in range(1, 9)]
    blocks = [json.loads(line)["block"]["difference"] for line in alone.lines[2:-1]]
    for number, rank in enumerate(ranks):
        rank.blocks(blocks).write(tmp_path / f"{number}")
    learn(*(tmp_path / f"{number}" for number in range(8)))
    eight = learned(plan)[0]
    assert eight["effect"] == pytest.approx(one["effect"], abs=1e-6)
    assert eight["error"] == pytest.approx(one["error"], rel=0.06)  # only Student's t is narrower
    assert (eight["blocks"], eight["records"]) == (320, 8)


def test_learning_step_by_step_is_learning_at_once(plan, learn, tmp_path):
    records = [planted(-0.03, number=n).write(tmp_path / f"{n}") for n in range(1, 6)]
    learn(*records)
    at_once = artefact.read(plan, artefact.PLAN)["trials"]
    write_plan(plan)
    for record in reversed(records):
        learn(record)
    assert artefact.read(plan, artefact.PLAN)["trials"] == at_once


def test_a_run_that_is_learned_in_parts_is_one_run(plan, learn, tmp_path):
    ranks = [planted(-0.03, number=n, seed="5" * 16).write(tmp_path / f"{n}") for n in (1, 2)]
    learn(ranks[0])
    first = learned(plan)[0]
    learn(ranks[1])
    (both,) = learned(plan)
    assert (both["blocks"], both["records"]) == (80, 2)
    assert both["error"] == pytest.approx(first["error"], rel=0.3)


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("identity", "what"),
    [
        ("bbbb" + PLAN_ID[4:], "another program"),
        (PLAN_ID[:4] + "cccccc" + PLAN_ID[10:], "another build of the program"),
        (PLAN_ID[:10] + "dddddd", "another phase model: its policies, markers or sites differ"),
    ],
)
def test_what_is_foreign_is_named(plan, refuse, tmp_path, identity, what):
    own = planted(-0.03, number=7).write(tmp_path / "own")
    foreign = planted(-0.03, number=8, plan=identity).write(tmp_path / "foreign")
    said = refuse(own, foreign)
    assert f"foreign:1: process 8 is of {what}; {plan} is for `./heat -s 600`; " in said
    assert "learn with the plan that the program was compiled with" in said


def test_the_same_record_does_not_count_twice(plan, learn, refuse, tmp_path):
    record = planted(-0.03).write(tmp_path / "r")
    copy = planted(-0.03).write(tmp_path / "copy")
    said = refuse(record, copy)
    assert f"{copy}:1: the record of process 7 is in {record}:1 already and would count" in said
    learn(record)
    said = refuse(record)
    assert f"{record}:1: the record of process 7 is in {plan} already" in said
    longer = planted(-0.03, 60).write(tmp_path / "longer")  # the same process, later
    assert "already" in refuse(longer)


def test_damage_is_refused_and_a_cut_line_is_not(plan, learn, refuse, tmp_path):
    process = planted(-0.03)
    content = process.content
    damaged = tmp_path / "damaged"
    damaged.write_bytes(content.replace(b"0.05", b"0.06", 1))
    assert "damaged is damaged at line 3: the line's sum is wrong" in refuse(damaged)
    cut = tmp_path / "cut"
    cut.write_bytes(content[:-20])
    said = learn(cut)
    assert f"kadence: {cut}: the last line is cut, because a process was killed" in said
    assert learned(plan)[0]["blocks"] == 40


def test_a_phase_that_the_plan_lacks_is_refused(refuse, tmp_path):
    process = planted(-0.03, arm={"phase": 3})
    assert "tells of phase 3, which " in refuse(process.write(tmp_path / "r"))


def test_records_without_blocks_teach_nothing_until_they_have_some(plan, learn, tmp_path):
    empty = tmp_path / "empty"
    empty.touch()
    process = Process(7).phase()
    said = learn(empty, process.write(tmp_path / "none"))
    assert "none: teaches nothing, because no policy acted in a whole block" in said
    assert "empty: teaches nothing, because it holds no record" in said
    assert "0 new records, 0 in all" in said
    assert learned(plan) == []
    learn(process.block(-0.03).write(tmp_path / "one"))
    assert learned(plan)[0]["blocks"] == 1


def test_many_short_runs_teach_as_much_as_a_long_one(plan, learn, tmp_path):
    luck = np.random.default_rng(4)
    for number in range(1, 41):
        one = Process(number).phase().block(-0.03 + 0.01 * luck.standard_normal(), bound=0.015)
        one.write(tmp_path / f"{number}")
    learn(*(tmp_path / f"{number}" for number in range(1, 41)))
    (found,) = learned(plan)
    assert found["error"] == pytest.approx(0.01 / 40**0.5, rel=0.4)
    assert abs(found["effect"] + 0.03) < 3 * found["error"]


def test_a_process_in_which_a_policy_was_idle_says_nothing(plan, learn, tmp_path):
    busy = planted(-0.03, number=7).write(tmp_path / "busy")
    idle = Process(8).phase().blocks([0.0, 0.001, -0.001]).decision("idle")
    learn(busy, idle.write(tmp_path / "idle"))
    (one,) = learned(plan)
    assert (one["blocks"], one["records"]) == (40, 1)


def test_plans_without_trials_are_old_or_damaged(plan, refuse, tmp_path):
    record = planted(-0.03).write(tmp_path / "r")
    whole = json.loads(plan.read_text())
    plan.write_text(json.dumps(whole | {"version": 5}))
    assert "has version 5 of kadence.plan, this Kadence knows 6" in refuse(record)
    plan.write_text(json.dumps(whole | {"trials": {"mode": "on"}}))
    assert "is damaged: trials.id is missing; make it anew with `kadence plan`" in refuse(record)
    plan.write_text("{}")
    assert "is not a kadence.plan artefact" in refuse(record)


@pytest.mark.parametrize(
    ("part", "damage", "place"),
    [
        ("policies", [{"phase": "one", "name": "compute"}], "policies[0].phase"),
        ("markers", [{"id": 0, "phase": "x", "function": "f"}], "markers[0].phase"),
        ("markers", "x", "markers"),
        ("memory", {"keep_bytes": "many"}, "memory.keep_bytes"),
    ],
)
def test_a_plan_damaged_elsewhere_is_not_copied(plan, refuse, tmp_path, part, damage, place):
    record = planted(-0.03).write(tmp_path / "r")
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {part: damage}))
    assert f"{place} is not" in refuse(record)


def test_a_plan_with_trials_off_says_so(tmp_path, capsys):
    plan = write_plan(tmp_path / "p", mode="off", phases=[])
    record = planted(-0.03).write(tmp_path / "r")
    assert cli.main(["learn", str(plan), str(record), "-o", str(plan)]) == 0
    assert "its trials are off, so no program uses what was learned" in capsys.readouterr().err


def test_an_output_that_cannot_be_written(plan, tmp_path, capsys):
    record = planted(-0.03).write(tmp_path / "r")
    nowhere = tmp_path / "none" / "p.json"
    assert cli.main(["learn", str(plan), str(record), "-o", str(nowhere)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"kadence: cannot write {nowhere}: No such file") and "-o" in said


def test_words_in_the_wrong_order_lose_nothing(plan, tmp_path, capsys):
    record = planted(-0.03).write(tmp_path / "r")
    before = (plan.read_bytes(), record.read_bytes())
    for words, said in (
        ([plan, record, "-o", record], "would replace a record; name a plan"),
        ([record, plan, "-o", tmp_path / "new"], "is not a kadence.plan artefact"),
        ([plan, plan, "-o", tmp_path / "new"], "is damaged at line 1: the line has no sum"),
        ([plan, tmp_path / "*.trials", "-o", plan], "cannot read"),
        ([plan, "-o", plan], "the following arguments are required"),
    ):
        assert cli.main(["learn", *map(str, words)]) == 1
        error = capsys.readouterr().err
        assert error.startswith("kadence: ") and error.count("\n") == 1 and said in error
    assert (plan.read_bytes(), record.read_bytes()) == before
    assert not (tmp_path / "new").exists()


def test_the_learned_plan_can_go_elsewhere(plan, learn, tmp_path):
    before = plan.read_bytes()
    learn(planted(-0.03).write(tmp_path / "r"), output=tmp_path / "learned.plan.json")
    assert plan.read_bytes() == before
    assert len(learned(tmp_path / "learned.plan.json")) == 1


WILD = (0, -1, 1, 1e-308, -1e308, 1e308, 10**400, 2**63, True, None, "x", [], {})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all that is no list or object."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in items:
        if isinstance(one, dict | list):
            yield from places(one, (*path, key))
        else:
            yield (*path, key)


def changed(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    copy = deepcopy(value)
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = other
    return copy


def test_wild_values_in_a_learned_plan_are_read_or_refused(plan, learn, tmp_path, capsys):
    records = [planted(-0.03, 5, number=number).write(tmp_path / f"{number}") for number in (1, 2)]
    learn(records[0])
    whole = json.loads(plan.read_text())
    for path in places(whole["trials"]):
        for wild in WILD:
            plan.write_text(json.dumps(whole | {"trials": changed(whole["trials"], path, wild)}))
            before = plan.read_bytes()
            status = cli.main(["learn", str(plan), str(records[1]), "-o", str(plan)])
            assert (status == 0) == (plan.read_bytes() != before), (path, wild)
            assert capsys.readouterr().err.count("\n") == status


def test_wild_values_in_a_record_are_read_or_refused(plan, tmp_path, capsys):
    file = tmp_path / "r"
    lines = [json.loads(line) for line in planted(-0.03, 3).decision("open").lines]
    for number, body in enumerate(lines):
        body.pop("sum")
        for path in places(body):
            for wild in WILD:
                wrong = [*lines[:number], changed(body, path, wild), *lines[number + 1 :]]
                file.write_bytes(b"".join(map(summed, wrong)))
                write_plan(plan)
                status = cli.main(["learn", str(plan), str(file), "-o", str(plan)])
                assert (status == 0) == ("learn" in json.loads(plan.read_text())["command"])
                assert capsys.readouterr().err.count("\n") <= 1
