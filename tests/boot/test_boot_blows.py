# SPDX-License-Identifier: GPL-2.0-or-later
"""All processes of a job get a signal: the guest survives and its command gets it once."""

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

# Long enough to observe a second delivery.
QUIET_SECONDS = 0.5


def descendants(pid: int) -> list[int]:
    """All descendants of a process, parents before their children."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def strike(pid: int, *numbers: int, backwards: bool = False) -> int:
    """Signal a process and its descendants, as a process tracker does; returns their number.

    User-Mode Linux uses SIGALRM itself, and one from outside may crash the guest (docs/boot.md). So
    SIGALRM goes only to the two processes that forward it.
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
    """Start a shell in a guest, beside other processes; it prints a line for each signal."""

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
        # relay, keeper, kernel; under User-Mode Linux also the processes of its programs
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
    """Slurm cancels a step with SIGCONT and SIGTERM, then SIGKILL if the step does not end."""
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
    """Slurm sends SIGTSTP, some seconds later SIGSTOP, and finally SIGCONT."""
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
    """SIGSTOP without SIGTSTP stops running programs. Some continue before their kernel does."""
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
    """Whether a file that grew fifty times a second has stopped growing."""
    before = file.stat().st_size
    time.sleep(QUIET_SECONDS)
    return file.stat().st_size == before
