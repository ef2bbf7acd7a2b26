# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence observe`, on commands whose calls are known."""

import csv
from pathlib import Path

import pytest

from kadence import cli

TIMES = 500
# The guest's first process writes a few times for itself.
MORE = 20


@pytest.mark.kernel
def test_calls_of_a_command_are_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "counts.tsv"
    command = "dd if=/dev/zero of=/dev/null bs=1 status=none count=500; echo done; exit 3"
    words = ["observe", "--functions", "ksys_*,write_null", "--top", "2", "-o", str(table)]
    assert cli.main([*words, "--", "sh", "-c", command]) == 3
    said = capfd.readouterr()
    assert said.out == "done\n"
    rows = {row["function"]: row for row in csv.DictReader(table.open(), delimiter="\t")}
    calls = {name: int(row["calls"]) for name, row in rows.items()}
    assert calls["write_null"] == TIMES
    assert TIMES < calls["ksys_write"] < TIMES + MORE
    assert int(rows["write_null"]["inclusive"]) < int(rows["ksys_write"]["inclusive"])
    assert f"and {len(rows) - 2} more; --top 0 shows all" in said.err
    assert "instructions of the kernel meanwhile" in said.err


@pytest.mark.kernel
def test_calls_below_a_caller_are_counted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """dd writes to a pipe, and cat from there to a file."""
    table = tmp_path / "counts.tsv"
    command = "dd if=/dev/zero bs=1 status=none count=500 | cat >/dev/null"
    words = ["observe", "--functions", "ksys_write>*_write,vfs_write", "-o", str(table)]
    assert cli.main([*words, "--", "sh", "-c", command]) == 0, capfd.readouterr().err
    rows = {row["function"]: row for row in csv.DictReader(table.open(), delimiter="\t")}
    # vfs_write is the outermost that matches.
    assert int(rows["ksys_write > vfs_write"]["calls"]) >= TIMES
    below, alone = (
        int(rows[name]["inclusive"]) for name in ("ksys_write > vfs_write", "vfs_write")
    )
    assert below <= alone


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "no command to run"),
        (["--functions", ",", "--", "ls"], "--functions names no function"),
        (["--functions", "tracepoint:sched_*", "--", "ls"], "add --per-phase"),
        (["--top", "-1", "--", "ls"], "--top -1 shows nothing"),
        (["--timeout", "0", "--", "ls"], "0 seconds are too few"),
        (["-o", "/missing/counts.tsv", "--", "ls"], "there is no folder /missing"),
        (["--kernel", "/missing", "--", "ls"], "/missing"),
    ],
)
def test_what_cannot_be_observed_is_refused(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["observe", *words]) != 0
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1


@pytest.mark.kernel
def test_a_pattern_without_a_function_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Data does not count: jiffies_64 is a variable."""
    assert cli.main(["observe", "--functions", "jiffies_64", "--", "ls"]) != 0
    assert "no function of Debian" in capsys.readouterr().err
