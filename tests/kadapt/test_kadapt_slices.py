# SPDX-License-Identifier: GPL-2.0-or-later
"""Slices that libkadapt asks for where no device grants quanta."""

import ctypes
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from trial_programs import checked, sliced

SCHED_GETATTR = 315  # on x86-64
CASES = 21


def _reports_slices() -> bool:
    """Whether sched_getattr(2) tells this thread's slice, as since Linux 6.12."""
    words = (ctypes.c_uint64 * 6)()
    library = ctypes.CDLL(None)
    return library.syscall(SCHED_GETATTR, 0, words, 48, 0) == 0 and words[3] > 0


pytestmark = [
    pytest.mark.skipif(Path("/dev/kadapt").exists(), reason="this machine has the device"),
    pytest.mark.skipif(not _reports_slices(), reason="this kernel knows no slices"),
]


def test_phases_have_their_slices(slices: Path, tap: Callable[[str], Any]) -> None:
    done = subprocess.run([slices], capture_output=True, text=True, check=False)
    report = tap(done.stdout)
    assert report.failed == set(), done.stdout
    assert len(report.passed) + len(report.skipped) == CASES, done.stdout
    assert report.skipped <= {"real_time", "real_time_within"}


def _calls(told: Path, *command: object) -> list[str]:
    """The calls about slices that a program makes."""
    traced = "trace=sched_setattr,sched_getattr"
    words = ["strace", "-f", "-qq", "-o", told, "-e", traced, *command]
    assert subprocess.run([str(word) for word in words], check=False).returncode == 0
    return told.read_text().splitlines()


def test_no_call_where_the_slice_stays(slices: Path, tmp_path: Path) -> None:
    """5,000 boundaries and two changes: five calls look for slices, and a change has two."""
    assert len(_calls(tmp_path / "calls", slices, "--calm")) == 5 + 2 * 2


@pytest.mark.parametrize(("error", "calls"), [("EPERM", 2), ("ENOSYS", 2), ("EACCES", 2)])
def test_a_refusal_when_the_process_begins_ends_it(
    slices: Path, tmp_path: Path, error: str, calls: int
) -> None:
    inject = ["-e", f"inject=sched_setattr:error={error}"]
    assert len(_calls(tmp_path / "calls", *inject, slices, "--calm")) == calls


def test_a_later_refusal_ends_it(slices: Path, tmp_path: Path) -> None:
    inject = ["-e", "inject=sched_setattr:error=EPERM:when=3+"]
    assert len(_calls(tmp_path / "calls", *inject, slices, "--calm")) == 5 + 2


def test_a_kernel_that_ignores_slices_gets_none(slices: Path, tmp_path: Path) -> None:
    """The call succeeds, but the slice that is read back is the one before."""
    inject = ["-e", "inject=sched_setattr:retval=0"]
    assert len(_calls(tmp_path / "calls", *inject, slices, "--calm")) == 5


def test_programs_that_notice_no_filter_ask_for_none(
    unguarded_slices: tuple[Path, ...], tmp_path: Path
) -> None:
    """A dynamic one without the functions for it, and a static one, which can have none."""
    for program in unguarded_slices:
        assert _calls(tmp_path / "calls", program, "--calm") == []


def _tried(program: Path, own_ns: int, neighbours: int) -> tuple[str, set[str]]:
    """Run trials of the quantum: the levels of the visits, and what was decided."""
    record = program.with_name(f"record-{own_ns}")
    done = subprocess.run(
        [program, "2000", str(own_ns), str(neighbours)],
        env=os.environ | {"KADAPT_TRIALS_RECORD": str(record)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    lines = map(checked, record.read_text().splitlines())
    return done.stdout.strip(), {line["decision"]["state"] for line in lines if "decision" in line}


def test_trials_set_slices(root: Path, tmp_path: Path) -> None:
    """Plain, planned and less: the slice of each visit is that of its level."""
    levels, decided = _tried(sliced(root, tmp_path), 0, 1)
    assert set(levels) == set("012")
    assert decided == {"helps"}
    assert levels[-500:].count("2") > 450  # the best one stands


def test_trials_claim_nothing_of_a_slice_that_is_not_theirs(root: Path, tmp_path: Path) -> None:
    _, decided = _tried(sliced(root, tmp_path), 20_000_000, 1)
    assert decided == {"idle"}


def test_trials_of_slices_end_where_no_other_thread_runs(root: Path, tmp_path: Path) -> None:
    """The visits at a level are shorter, but no slice can be the reason."""
    levels, decided = _tried(sliced(root, tmp_path), 0, 0)
    assert decided == {"idle"}
    assert set(levels[-500:]) == {"1"}  # as the plan says
