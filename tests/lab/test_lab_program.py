# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's program on this machine's own kernel: what it measures, and what it refuses."""

import subprocess
from pathlib import Path

import pytest
from patience import PATIENCE_SECONDS

from kadence.lab import figures


def run(program: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run it natively, where its figures mean little."""
    return subprocess.run(
        [program, *words], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )


def test_every_operation_gives_a_figure_or_a_reason(lab_program: Path) -> None:
    done = run(lab_program, "-r", "1", "-m", str(1 << 40))
    assert done.returncode == 0, done.stderr
    _, found = figures.read(done.stdout)
    assert set(found) >= {
        *("getppid", "sched_setattr", "phase", "write_16", "writev_16", "read_16", "tcp_send_256"),
        *("io_uring_16", "fork_exit", "context_switch", "page", "page_small", "timer_interrupts"),
        *("memory_used", "memory_not_free"),
    }
    for figure in found.values():
        assert (figure.error is None) == (figure.median is not None)
        assert figure.median is None or figure.low <= figure.median <= figure.high  # type: ignore[operator]


def test_what_is_listed_is_measured(lab_program: Path) -> None:
    listed = run(lab_program, "-l").stdout.split()
    assert len(set(listed)) == len(listed)
    assert list(figures.read(run(lab_program, "-r", "1", *listed[:6]).stdout)[1]) == listed[:6]


def test_only_what_is_named_is_measured(lab_program: Path) -> None:
    done = run(lab_program, "-r", "1", "getppid", "write_16")
    assert list(figures.read(done.stdout)[1]) == ["getppid", "write_16"]


def test_a_sink_that_takes_no_file_is_a_reason(lab_program: Path) -> None:
    done = run(lab_program, "-r", "1", "-s", "/proc", "write_16", "io_uring_16", "getppid")
    _, found = figures.read(done.stdout)
    assert done.returncode == 0
    assert found["write_16"].error in {"EOPNOTSUPP", "ENOTSUP", "ENOENT"}
    assert found["io_uring_16"].error == found["write_16"].error
    assert found["getppid"].error is None


def test_without_the_guests_size_its_use_is_not_known(lab_program: Path) -> None:
    done = run(lab_program, "memory_not_free")
    assert figures.read(done.stdout)[1]["memory_not_free"].error == "ENODATA"


@pytest.mark.parametrize("words", [["nothing"], ["-r", "0"], ["-r", "x"], ["-x"], ["-r"]])
def test_what_it_does_not_know_is_refused(lab_program: Path, words: list[str]) -> None:
    done = run(lab_program, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


def test_nothing_is_left_in_the_sink(lab_program: Path, tmp_path: Path) -> None:
    run(lab_program, "-r", "1", "-s", str(tmp_path), "write_16", "read_16", "io_uring_16")
    assert list(tmp_path.iterdir()) == []
