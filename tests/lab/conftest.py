# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lab's tests need: its programs, and two boots of Debian's kernel."""

import subprocess
from pathlib import Path

import pytest

from kadence.lab import Sheet, stock, take

HERE = Path(__file__).resolve().parent
# Fewer than by default, since here only their agreement is looked at.
ROUNDS = 3
OPERATIONS = (
    *("million", "getppid", "sched_setattr", "phase", "fork_exit", "context_switch", "page"),
    *("write_16", "writev_256", "read_1024", "io_uring_256", "tcp_send_256", "tcp_burst_256"),
    *("timer_interrupts", "memory_used", "memory_not_free"),
)


@pytest.fixture(scope="session")
def lab_program(root: Path) -> Path:
    """bench/lab's program."""
    return root / "build/bench/lab/lab"


@pytest.fixture(scope="session")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of a known number of instructions."""
    target = tmp_path_factory.mktemp("lab") / "loop"
    flags = ("-O2", "-Wall", "-Wextra", "-Werror", "-static")
    subprocess.run(["gcc-12", *flags, "-o", target, HERE / "programs/loop.c"], check=True)
    return target


@pytest.fixture(scope="session")
def two_boots() -> tuple[Sheet, Sheet]:
    """One operation of each kind, on Debian's kernel, in two guests."""
    return take(stock(), OPERATIONS, ROUNDS), take(stock(), OPERATIONS, ROUNDS)
