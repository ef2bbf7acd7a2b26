# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence report`: its table and sentences, for records written by hand."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from planted_records import planted

from kadence import cli

MEASURED = {"um": {"outcome": "faster", "ratio": 0.8, "sentence": "It takes 20 % less."}}


@dataclass
class Records:
    """A folder of records, as epilogs fill it."""

    place: Path
    capture: pytest.CaptureFixture[str]
    defaults: dict[str, Any] = field(default_factory=dict)

    def write(self, *steps: dict[str, Any], node: str = "node1", **more: Any) -> Path:
        record = {
            "schema": "kadence.record",
            "version": 1,
            "job": "7",
            "node": node,
            "target": "um",
            "fallback": "run",
            "refused": "",
            "notice": "",
            "prepare_ms": 12.5,
            "bundle": {"file": "/home/u/heat.kbundle", "name": "heat", "measured": {}},
            "steps": list(steps),
        }
        (self.place / "7").mkdir(exist_ok=True)
        path = self.place / f"7/{node}.json"
        path.write_text(json.dumps(record | more))
        return path

    def report(self, *options: str) -> str:
        """What `kadence report` prints."""
        assert cli.main(["report", "--job", "7", "--records", str(self.place), *options]) == 0
        return self.capture.readouterr().out

    def refusal(self, job: str = "7") -> str:
        """The error of `kadence report`, which must be one sentence."""
        assert cli.main(["report", "--job", job, "--records", str(self.place)]) == 1
        said = self.capture.readouterr().err
        assert said.startswith("kadence: ") and said.count("\n") == 1
        return said


@pytest.fixture
def records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Records:
    return Records(tmp_path, capsys)


def adapted(task: int = 0, step: str = "0", **more: Any) -> dict[str, Any]:
    """The record of a task of heat on the bundle's kernel."""
    entry = {
        "step": step,
        "task": task,
        "command": "/home/u/heat",
        "arguments": ["-n", "64"],
        "target": "um",
        "program": "adapted",
        "kernel": "0123456789abcdef",
        "why": "",
        "status": 0,
        "signal": 0,
        "task_seconds": 2.0,
        "boot_seconds": 0.25,
        "wall_seconds": 1.5,
        "voluntary_switches": 30,
        "involuntary_switches": 12,
        "minor_faults": 700,
        "major_faults": 7,
        "max_resident_bytes": 9_961_472,
        "complaints": [],
    }
    return entry | more


def plain(task: int = 0, step: str = "1", **more: Any) -> dict[str, Any]:
    """The record of the same task on the node's own kernel."""
    kept = ("command", "arguments", "status", "signal")
    entry = {name: value for name, value in adapted().items() if name in kept}
    node = {"target": "none", "program": "plain", "task_seconds": 2.5}
    return entry | {"step": step, "task": task} | node | more


def test_a_row_for_each_task(records: Records) -> None:
    records.write(adapted(task=10), adapted(task=9, status=128, signal=11), plain())
    lines = records.report().splitlines()
    assert lines[0].split() == [
        "node", "step", "command", "program", "kernel", "ended",
        "seconds", "switches", "faults", "MiB",
    ]  # fmt: skip
    own = ["node1", "0.9", "heat", "adapted", "um", "0123456789abcdef", "signal", "11"]
    assert lines[1].split() == [*own, "2.000", "42", "707", "9.5"]
    assert lines[2].split()[1] == "0.10" and lines[2].split()[6] == "0"
    other = ["node1", "1.0", "heat", "plain", *MACHINE, "0", "2.500", "-", "-", "-"]
    assert lines[3].split() == other
    assert "not run" not in "".join(lines)


MACHINE = ["this", "machine's", "own", "kernel"]


def test_a_row_says_that_nothing_ran_on_the_machines_own_kernel(records: Records) -> None:
    records.write(adapted())
    rest = ["-", "-", "-", "-"]
    last = records.report().splitlines()[2].split()
    assert last == ["-", "-", "-", "plain", *MACHINE, "not", "run", *rest]


def test_what_a_phase_did_with_memory_is_told_where_it_was_counted(records: Records) -> None:
    phase = {"phase": 1, "entries": 1, "time_ns": 0, "minor_faults": 12, "major_faults": 1}
    populated = phase | {"populated_bytes": 3 << 20}
    for number, counted in enumerate((phase, populated)):
        records.write(adapted(number, counters=[{"pid": 5, "phases": [counted]}]))
        said = records.report()
        more = ", 3.0 MiB populated ahead" if number else ""
        assert f"with 0 switches and 13 page faults{more}\n" in said


def test_without_the_plugins_note_boot_and_command_are_added(records: Records) -> None:
    entry = adapted()
    del entry["task_seconds"]
    records.write(entry)
    assert "1.750" in records.report().splitlines()[1].split()


def test_counters_are_summed_over_processes(records: Records) -> None:
    def process(entries: int, appends: int) -> dict[str, Any]:
        phase = {"phase": 1, "entries": entries, "time_ns": 1_500_000_000}
        switches = {"voluntary_switches": 2, "involuntary_switches": 1}
        io = {"appends": appends, "bytes": 100, "binds": 1}
        return {"pid": 5, "phases": [phase | switches], "io": io}

    records.write(adapted(counters=[process(3, 10), process(4, 20)]))
    said = records.report()
    assert "0.0: phase 1 was entered 7 times and took 3.000 s, with 6 switches\n" in said
    assert "0.0: 30 records (200 bytes) without a system call\n" in said


def test_a_difference_beyond_the_noise_is_told_with_counts(records: Records) -> None:
    fast = [adapted(task, task_seconds=1.0 + task / 100) for task in range(9)]
    slow = [plain(task, task_seconds=2.0 + task / 100) for task in range(7)]
    records.write(*fast, *slow)
    # Medians computed by hand: 1.04 and 2.03.
    sentence = "heat -n 64 on um: 9 adapted and 7 plain tasks, median 0.512 times the plain one's"
    assert sentence in records.report()
    document = json.loads(records.report("--json"))
    comparison = document["comparisons"][0]
    assert comparison["ratio"] == pytest.approx(1.04 / 2.03)
    assert (comparison["adapted"]["count"], comparison["plain"]["count"]) == (9, 7)
    assert len(document["records"][0]["steps"]) == 16


@pytest.mark.parametrize(
    ("fast", "slow"),
    [
        ([1.0 + n / 10 for n in range(9)], [1.05 + n / 10 for n in range(9)]),
        ([1.0, 1.0, 1.0], [2.0, 2.0, 2.0]),
    ],
    ids=["overlapping", "too few"],
)
def test_what_may_be_noise_is_no_difference(
    records: Records, fast: list[float], slow: list[float]
) -> None:
    tasks = [adapted(n, task_seconds=seconds) for n, seconds in enumerate(fast)]
    tasks += [plain(n, task_seconds=seconds) for n, seconds in enumerate(slow)]
    records.write(*tasks)
    said = records.report()
    assert f"{len(fast)} adapted and {len(slow)} plain tasks, no difference can be told" in said
    assert json.loads(records.report("--json"))["comparisons"][0]["ratio"] is None


@pytest.mark.parametrize(
    "other",
    [
        plain(arguments=["-n", "65"]),
        plain(arguments=None),
        plain(command="/home/u/other"),
        plain(status=1),
        plain(status=128, signal=15),
        adapted(program="plain"),
    ],
)
def test_only_the_same_work_is_compared(records: Records, other: dict[str, Any]) -> None:
    bundle = {"file": "f", "name": "heat", "measured": MEASURED}
    records.write(adapted(), other, bundle=bundle)
    said = records.report()
    assert "median" not in said and "no difference" not in said
    assert "The report of bundle heat measured on um: It takes 20 % less." in said


def test_refusals_and_notices_are_told_once(records: Records) -> None:
    records.write(adapted(), node="node1", notice="target um it is")
    records.write(node="node2", refused="bundle f is unsigned")
    records.write(node="node3", refused="bundle f is unsigned")
    said = records.report()
    assert "node2, node3: bundle f is unsigned\n" in said
    assert "node1: target um it is\n" in said


def test_why_a_step_ran_plain_and_what_the_kernel_said(records: Records) -> None:
    records.write(
        plain(why="a step on 4 tasks is too large for target um"),
        adapted(step="2", complaints=["WARNING: at mm/slub.c"]),
    )
    said = records.report()
    assert "1.0: a step on 4 tasks is too large for target um\n" in said
    assert "2.0: the guest's kernel complained: WARNING: at mm/slub.c\n" in said


def test_a_job_that_left_nothing(records: Records) -> None:
    records.write()
    assert records.report().startswith("No step of the job left anything.")


def test_entries_are_the_users_and_may_hold_anything(records: Records) -> None:
    records.write(
        {},
        {"step": None, "task": {}, "command": 5, "counters": 7, "complaints": "no"},
        adapted(why="\x1b[31mred", counters=[1, {"phases": [None, {"phase": "x"}], "io": 3}]),
        plain(task_seconds=-1, arguments=["\x1b]0;title\x07"]),
        adapted(task_seconds=True, status="", voluntary_switches="many"),
    )
    said = records.report()
    assert "\x1b" not in said and "?[31mred" in said
    assert len(json.loads(records.report("--json"))["records"][0]["steps"]) == 5


def test_unknown_jobs_and_damaged_records(records: Records) -> None:
    assert "no record of job 7 in" in records.refusal()
    assert "is not a job's number" in records.refusal("7_1")
    assert "is not a job's number" in records.refusal("../7")
    path = records.write(adapted())
    path.write_text(path.read_text()[:50])
    assert "is not a kadence.record artefact" in records.refusal()
    path.write_text('{"schema": "kadence.record", "version": 2}')
    assert "has version 2" in records.refusal()


def test_records_are_where_the_site_says(
    records: Records, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records.write(adapted())
    site = tmp_path / "site.toml"
    site.write_text(f'records = "{tmp_path}"\n')
    assert cli.main(["report", "--job", "7", "--site", str(site)]) == 0
    assert "heat" in capsys.readouterr().out


def test_what_the_steps_found_out_about_their_policies(records: Records) -> None:
    path = records.write(adapted())
    assert "trials" not in records.report()
    for number in range(1, 8):
        planted(-0.05, number=number, noise=0.002).write(path.parent / f"node{number}.0.trials")
    said = records.report()
    assert "trials: memory in phase 0: helps, -4." in said
    assert " of its visits' time, 280 blocks\n" in said
    assert "trials: Memory in phase 0 took 4.9 % (" in said and "; nothing hurt.\n" in said
    assert f"The records of trials are {path.parent}/*.trials; `kadence learn PLAN.json` t" in said
    document = json.loads(records.report("--json"))["trials"]
    assert len(document["files"]) == 7
    assert document["plans"]["aaaabbbbbbcccccc"]["arms"][0]["outcome"] == "helps"


def test_the_trials_of_several_plans_are_kept_apart(records: Records) -> None:
    folder = records.write(adapted()).parent
    planted(-0.05, number=1).write(folder / "node1.0.trials")
    planted(0.05, number=2, plan="f" * 16).write(folder / "node1.1.trials")
    said = records.report()
    for plan in ("aaaabbbbbbcccccc", "f" * 16):
        assert f"trials of plan {plan}: Memory could not be decided" in said


def test_damaged_records_of_trials_are_told_and_left_out(records: Records) -> None:
    """The folder is the user's, who may have put anything there."""
    folder = records.write(adapted()).parent
    planted(-0.05, number=1).write(folder / "node1.0.trials")
    whole = planted(-0.05, number=2).content
    (folder / "node1.1.trials").write_bytes(whole.replace(b'"memory"', b'"memorx"', 1))
    (folder / "node1.2.trials").write_bytes(b"\x1b[31m\n")
    (folder / "node1.3.trials").mkdir()
    os.mkfifo(folder / "node1.4.trials")
    (folder / "node1.5.trials").symlink_to("/dev/zero")
    (folder / "node1.6.trials").symlink_to("nowhere")
    (folder / "node1.7.trials").write_bytes(whole[:-5])
    said = records.report()
    assert "\x1b" not in said
    assert (
        f"left out: {folder}/node1.1.trials is damaged at line 3: the line's sum is wrong" in said
    )
    for number in (2, 3, 4, 5, 6):
        assert f"node1.{number}.trials" in said
    assert "80 blocks" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else for a while")
def test_another_users_records(records: Records, tmp_path: Path) -> None:
    records.write(adapted())
    (tmp_path / "7").chmod(0o700)
    for folder in (tmp_path, *list(tmp_path.parents)[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    os.seteuid(65534)
    try:
        said: Callable[[], str] = records.refusal
        assert "are another user's" in said()
    finally:
        os.seteuid(0)
