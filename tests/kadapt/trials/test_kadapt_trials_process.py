# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials in a process: a planted effect on a clock of the program's own."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from trial_programs import Run, checked, linked, planted, run

VISITS = 400


@pytest.fixture(scope="module", name="program")
def _program(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted(root, tmp_path_factory.mktemp("planted"))


def decided(told: Run) -> str:
    """The state of the one arm."""
    (decision,) = told.of("decision")
    return str(decision["state"])


def test_what_helps_is_kept(program: Path) -> None:
    told = run(program, "calm", VISITS, -0.1, 0.01)
    assert decided(told) == "helps"
    assert told.levels[-50:].count("1") > 45


def test_what_hurts_is_turned_off_within_ten_visits(program: Path) -> None:
    told = run(program, "calm", VISITS, 0.3, 0.02)
    assert decided(told) == "dropped"
    assert told.levels.count("1") <= 10
    assert set(told.levels[-200:]) == {"0"}


def test_what_does_nothing_is_seldom_claimed(program: Path) -> None:
    """At most one run in twenty may claim an effect; other coins, another run."""
    runs = [
        run(program, "calm", 4 * VISITS, 0, 0.005, KADAPT_TRIALS_SEED=str(number))
        for number in range(40)
    ]
    states = [line["state"] for told in runs for line in told.of("decision")]
    assert sum(state in ("helps", "hurts") for state in states) <= 2
    assert "enough" in states


def test_a_record_says_what_was_tried(program: Path) -> None:
    told = run(program, "calm", VISITS, -0.1, 0.01)
    header = told.lines[0]
    assert (header["schema"], header["version"]) == ("kadence.trials", 1)
    assert header["plan"] == "0123456789abcdef"
    assert header["machine"]["kernel"] == Path("/proc/sys/kernel/osrelease").read_text().strip()
    assert header["machine"]["processor"] in Path("/proc/cpuinfo").read_text()
    (phase,) = told.of("phase")
    assert (phase["state"], phase["clock"], phase["measure"]) == ("going", "wall", "visits")
    (decision,) = told.of("decision")
    assert decision["low"] < decision["effect"] < decision["high"] < 0
    assert len(told.of("block")) >= decision["blocks"] >= 8
    (end,) = told.of("end")
    assert end["spent_ns"] < 0.01 * end["elapsed_ns"]


def test_blocks_tell_the_planted_effect(program: Path) -> None:
    told = run(program, "calm", VISITS, -0.2, 0)
    for block in told.of("block"):
        plain, level = block["time_ns"]
        # A visit lasts until the next one, with a tenth in the other phase.
        assert level / plain == pytest.approx((0.1 + 0.8187) / 1.1, abs=0.001)
        assert block["work"] == [1, 1]


def test_the_coin_is_fair(program: Path) -> None:
    first = [block["level_first"] for block in run(program, "calm", 2000, 0, 0.05).of("block")]
    assert len(first) > 200
    assert 0.35 < sum(first) / len(first) < 0.65


def test_the_seed_decides_the_order(program: Path) -> None:
    runs = [
        run(program, "calm", VISITS, 0, 0.03, KADAPT_TRIALS_SEED=seed) for seed in ("a", "a", "b")
    ]
    assert runs[0].levels == runs[1].levels != runs[2].levels
    job = {"SLURM_JOB_ID": "17", "SLURM_STEP_ID": "0"}
    ranks = [run(program, "calm", VISITS, 0, 0.03, **job).levels for _ in range(2)]
    assert ranks[0] == ranks[1]


@pytest.mark.parametrize("mpirun", ["mpirun.openmpi", "mpirun.mpich"])
def test_ranks_of_one_run_toss_the_same_coins(program: Path, tmp_path: Path, mpirun: str) -> None:
    """Ranks that mpirun starts have one seed, and the next mpirun has another."""
    if shutil.which(mpirun) is None:
        pytest.skip(f"{mpirun} is not installed")
    seeds = [seeds_of_ranks(program, tmp_path / str(number), mpirun) for number in range(2)]
    assert [len(each) for each in seeds] == [1, 1]
    assert seeds[0] != seeds[1]


def seeds_of_ranks(program: Path, record: Path, mpirun: str) -> set[str]:
    """Run two ranks, which append to one record."""
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    told = {"KADAPT_TRIALS_RECORD": str(record), "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    # If ranks end at once, MPICH's mpirun may die by SIGPIPE, as it writes to its helper.
    later = ["sh", "-c", 'sleep 0.3; exec "$@"', "later"]
    words = [mpirun, "-n", "2", *later, str(program), "calm", str(VISITS), "0", "0.03"]
    subprocess.run(words, env=os.environ | allowed | told, capture_output=True, check=True)
    headers = [line for line in map(checked, record.read_text().splitlines()) if "schema" in line]
    assert len(headers) == 2
    return {header["seed"] for header in headers}


def test_off_is_off(program: Path) -> None:
    for value in ("off", "0%"):
        told = run(program, "calm", VISITS, 0.3, 0.01, KADAPT_TRIALS=value)
        assert set(told.levels) == {"1"}
        assert not told.lines


def test_the_budget_can_be_chosen(program: Path) -> None:
    little, much = (
        len(run(program, "calm", VISITS, -0.05, 0.01, KADAPT_TRIALS=share).of("block"))
        for share in ("1%", "10%")
    )
    assert little < much


def test_a_run_with_few_visits_tries_nothing(root: Path, tmp_path: Path) -> None:
    few = planted(root, tmp_path, "-DPLANNED_VISITS=9")
    told = run(few, "calm", 9, 0.3, 0.01)
    assert told.levels == "1" * 9
    assert not told.of("block")


def test_a_run_longer_than_planned_learns_late(root: Path, tmp_path: Path) -> None:
    few = planted(root, tmp_path, "-DPLANNED_VISITS=9")
    told = run(few, "calm", VISITS, 0.3, 0.01)
    assert set(told.levels[:39]) == {"1"}
    assert decided(told) == "dropped"
    assert set(told.levels[-200:]) == {"0"}


def test_visits_that_differ_much_are_not_tried(program: Path) -> None:
    told = run(program, "calm", VISITS, 0, 0.6)
    (phase,) = told.of("phase")
    assert phase["state"] == "unlike"
    assert not told.of("block")
    assert set(told.levels[-100:]) == {"1"}  # as the plan says


def test_visits_that_differ_in_turn_are_taken_in_pairs(root: Path, tmp_path: Path) -> None:
    many = planted(root, tmp_path, f"-DPLANNED_VISITS={2 * VISITS}")
    told = run(many, "turns", VISITS, 0.3, 0.02)
    (phase,) = told.of("phase")
    assert (phase["state"], phase["measured"]) == ("going", 2)
    assert phase["mean_ns"] == pytest.approx(11e6, rel=0.05)  # of one visit
    assert decided(told) == "dropped"
    assert set(told.levels[-100:]) == {"0"}


@pytest.fixture(scope="module", name="slow_clock")
def _slow_clock(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reading the clock takes 0.1 ms, so a visit of 11 ms is too short for it."""
    flags = ("-DCLOCK_NS=100000", f"-DPLANNED_VISITS={10 * VISITS}")
    return planted(root, tmp_path_factory.mktemp("slow_clock"), *flags)


def test_short_visits_are_taken_together(slow_clock: Path) -> None:
    told = run(slow_clock, "calm", 10 * VISITS, -0.1, 0.01)
    (phase,) = told.of("phase")
    assert (phase["state"], phase["measured"]) == ("going", 4)
    assert decided(told) == "helps"
    assert told.levels[-400:].count("1") > 350
    tried = told.levels[:1000].rstrip("1")
    assert all(len(same) >= 4 for same in re.findall("1+", tried))


def test_short_visits_that_are_harmed_are_mended(slow_clock: Path) -> None:
    told = run(slow_clock, "calm", 10 * VISITS, 0.3, 0.02)
    (decision,) = told.of("decision")
    assert decision["state"] == "dropped"
    assert told.levels.count("1") == decision["visits"] <= 4 * 10
    assert set(told.levels[-3000:]) == {"0"}


def test_a_killed_process_leaves_its_blocks(program: Path) -> None:
    told = run(program, "killed", VISITS, -0.1, 0.01)
    assert told.status == -9
    assert decided(told) == "helps"
    assert not told.of("end")


def test_a_child_tries_nothing(program: Path) -> None:
    told = run(program, "child", VISITS, 0.3, 0.01)
    assert told.status == 0
    assert {line["process"] for line in told.lines} == {told.lines[0]["process"]}
    assert set(told.levels[:VISITS]) == {"0"}  # its parent had turned the policy off


def test_handlers_may_enter_phases(program: Path) -> None:
    told = run(program, "handler", 20000, 0, 0.01)
    assert told.status == 0
    assert told.of("end")


def test_a_handler_may_jump_out(program: Path) -> None:
    told = run(program, "jump", 50000, 0, 0.01)
    assert told.status == 0
    assert len(told.levels) == 50000


def test_threads_may_enter_phases(program: Path) -> None:
    told = run(program, "threads", 4000, -0.1, 0.02)
    assert told.status == 0
    assert len(told.levels) == 4000


def test_rules_of_floating_point_are_the_programs(program: Path) -> None:
    assert run(program, "rules", VISITS, -0.1, 0.01).status == 0


def test_no_record_is_written_unless_its_path_is_absolute(program: Path) -> None:
    told = run(program, "calm", VISITS, 0, 0.01, KADAPT_TRIALS_RECORD="record.jsonl")
    assert (told.status, told.lines) == (0, ())


def test_a_record_that_cannot_be_written_harms_nothing(program: Path) -> None:
    told = run(program, "calm", VISITS, -0.1, 0.01, KADAPT_TRIALS_RECORD="/dev/full")
    assert told.status == 0
    assert told.levels[-50:].count("1") > 45


def instructions(program: Path, visits: int) -> int:
    """What Valgrind's lackey counts."""
    command = ["valgrind", "--tool=lackey", "--basic-counts=yes", str(program), str(visits)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    found = re.search(r"guest instrs:\s+([\d,]+)", told)
    assert found is not None, told
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize("flags", [(), ("-DQUANTUM_NS=1000000000", "-Wl,-u,kadapt_filter_anchor")])
def test_a_boundary_is_cheap_where_nothing_is_tried(
    root: Path, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    boundary = linked(root, "boundary.c", tmp_path, *flags)
    few, many = (instructions(boundary, visits) for visits in (1000, 11000))
    assert (many - few) / 20000 <= 60  # a visit has two boundaries
