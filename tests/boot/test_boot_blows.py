# SPDX-License-Identifier: GPL-2.0-or-later
"""A batch system signals every process of a job: the guest survives, the command gets it once."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kadence.boot.session import FORWARDED

from .conftest import processes_of, wait_until

pytestmark = pytest.mark.kernel

# Long enough for a second delivery to be seen where there is one.
QUIET_SECONDS = 0.5


def descendants(pid: int) -> list[int]:
    """All processes below one, parents before their children."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def strike(pid: int, *numbers: int, backwards: bool = False) -> int:
    """Signal a process and all below it, as a process tracker does; returns how many they were.

    SIGALRM is what User-Mode Linux works with itself: docs/boot.md says what one from outside may
    do to it, so here it reaches only the two that pass it on.
    """
    struck = [pid, *descendants(pid)]
    if signal.SIGALRM in numbers:
        struck = struck[:2]
    for number in numbers:
        for each in reversed(struck) if backwards else struck:
            with suppress(ProcessLookupError):
                os.kill(each, number)
    return len(struck)


@pytest.fixture
def counting(started: Callable[..., Any], tmp_path: Path) -> Callable[[int], Any]:
    """Start a shell in a guest, with processes beside it, that says each time it got a signal."""

    def start(number: int) -> Any:
        name = signal.Signals(number).name.removeprefix("SIG")
        script = (
            f"trap 'echo got' {name}; (trap '' {name}; while :; do :; done) & echo ready; "
            f"until test -e {tmp_path}/end; do sleep 0.02; done; kill -9 $!; echo end; exit 9"
        )
        process = started("bash", "-c", script)
        assert process.stdout.readline() == b"ready\n"
        return process

    return start


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("number", FORWARDED)
def test_every_blow_reaches_the_command_once(
    counting: Callable[[int], Any], tmp_path: Path, number: int, backwards: bool
) -> None:
    process = counting(number)
    for _ in range(3):
        # relay, keeper, kernel; User-Mode Linux has its programs' processes, too
        assert len(descendants(process.pid)) >= 3
        assert strike(process.pid, number, backwards=backwards) >= 2
        assert process.stdout.readline() == b"got\n"
        time.sleep(QUIET_SECONDS)
    (tmp_path / "end").touch()
    assert process.stdout.read() == b"end\n"
    assert process.wait() == 9


def test_a_cancelled_step_ends_by_its_own_means(
    counting: Callable[[int], Any], own_image: Path
) -> None:
    """What Slurm does to cancel: SIGCONT, SIGTERM, and if that does not help SIGKILL."""
    process = counting(signal.SIGTERM)
    strike(process.pid, signal.SIGCONT, signal.SIGTERM)
    assert process.stdout.readline() == b"got\n"
    strike(process.pid, signal.SIGKILL, backwards=True)
    assert process.wait() == -signal.SIGKILL
    assert process.stdout.read() == b""
    assert wait_until(lambda: not processes_of(own_image))


@pytest.mark.parametrize("number", [signal.SIGCONT, signal.SIGWINCH, signal.SIGURG, signal.SIGCHLD])
def test_what_no_program_dies_of_does_no_harm(
    counting: Callable[[int], Any], tmp_path: Path, number: int
) -> None:
    process = counting(signal.SIGUSR1)
    below = descendants(process.pid)
    for _ in range(20):
        for pid in [process.pid, *below]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        time.sleep(0.01)
    (tmp_path / "end").touch()
    assert process.stdout.read() == b"end\n"
    assert process.wait() == 9


def test_a_suspended_job_goes_on_where_it_was(started: Callable[..., Any], tmp_path: Path) -> None:
    """What Slurm does: SIGTSTP, some seconds later SIGSTOP, and SIGCONT in the end."""
    ticks = tmp_path / "ticks"
    script = (
        f"(while :; do :; done) & echo ready; until test -e {tmp_path}/end; do echo >> {ticks}; "
        "sleep 0.02; done; kill -9 $! && echo end"
    )
    process = started("bash", "-c", script)
    assert process.stdout.readline() == b"ready\n"
    for _ in range(2):
        assert wait_until(lambda: ticks.exists() and ticks.stat().st_size > 3)
        strike(process.pid, signal.SIGTSTP)
        assert wait_until(lambda: _is_still(ticks))
        strike(process.pid, signal.SIGSTOP)
        time.sleep(QUIET_SECONDS)
        before = ticks.stat().st_size
        strike(process.pid, signal.SIGCONT)
        assert wait_until(lambda size=before: ticks.stat().st_size > size + 3)
    (tmp_path / "end").touch()
    assert process.stdout.read() == b"end\n"
    assert process.wait() == 0


@pytest.mark.parametrize("backwards", [False, True])
def test_a_stopped_guest_goes_on_where_it_was(
    started: Callable[..., Any], tmp_path: Path, backwards: bool
) -> None:
    """SIGSTOP without a warning hits programs as they run, and some wake before their kernel."""
    ticks = tmp_path / "ticks"
    script = (
        f"(while :; do :; done) & echo ready; until test -e {tmp_path}/end; do echo >> {ticks}; "
        "done; kill -9 $! && echo end"
    )
    process = started("bash", "-c", script)
    assert process.stdout.readline() == b"ready\n"
    for _ in range(20):
        size = ticks.stat().st_size if ticks.exists() else 0
        assert wait_until(lambda size=size: ticks.exists() and ticks.stat().st_size > size + 3)
        strike(process.pid, signal.SIGSTOP, backwards=backwards)
        strike(process.pid, signal.SIGCONT, backwards=backwards)
    (tmp_path / "end").touch()
    assert process.stdout.read() == b"end\n"
    assert process.wait() == 0


def _is_still(file: Path) -> bool:
    """Whether a file that grows fifty times a second does so no longer."""
    before = file.stat().st_size
    time.sleep(QUIET_SECONDS)
    return file.stat().st_size == before
