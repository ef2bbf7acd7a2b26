# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest that fails causes one clear message and leaves no processes or files."""

import errno
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base.errors import GuestError

from .conftest import Machine, keeper_of, kernel_of, processes_of, relay_of, wait_until

pytestmark = pytest.mark.kernel

GUEST_FAILED = 125


def _await_guest(process: Any) -> None:
    assert process.stdout.readline() == b"ready\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_signals_are_forwarded(started: Any, number: signal.Signals) -> None:
    name = number.name.removeprefix("SIG")
    script = f"trap 'echo caught; exit 7' {name}; echo ready; while :; do sleep 0.1; done"
    process = started("sh", "-c", script)
    _await_guest(process)
    process.send_signal(number)
    assert process.stdout.read() == b"caught\n"
    assert process.wait() == 7


def test_command_killed_by_a_forwarded_signal(started: Any) -> None:
    process = started("sh", "-c", "echo ready; exec sleep 1000")
    _await_guest(process)
    process.terminate()
    assert process.wait() == 128 + signal.SIGTERM


@pytest.mark.parametrize("victim", ["kadence", "relay", "keeper", "kernel"])
def test_killing_any_part_leaves_nothing(started: Any, own_image: Path, victim: str) -> None:
    umls = set(Path.home().glob(".uml/*"))
    process = started("sh", "-c", "echo ready; sleep 1000 & sleep 1000")
    _await_guest(process)
    victims = {
        "kadence": process.pid,
        "relay": relay_of(own_image),
        "keeper": keeper_of(own_image),
        "kernel": kernel_of(own_image),
    }
    os.kill(victims[victim], signal.SIGKILL)
    assert process.wait() == (-signal.SIGKILL if victim == "kadence" else GUEST_FAILED)
    assert wait_until(lambda: not processes_of(own_image))
    assert set(Path.home().glob(".uml/*")) == umls


def test_ordinary_end_leaves_nothing(started: Any, own_image: Path) -> None:
    assert started("true").wait() == 0
    assert processes_of(own_image) == []


# The small x86_64 kernel has no SysRq for a panic; test_boot_x86_64.py has another panic.
@pytest.mark.parametrize("machine", ["um"], indirect=True)
def test_panic_is_told_in_one_sentence_with_its_log(started: Any, own_image: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may make the guest's kernel panic")
    process = started("sh", "-c", "echo before; sleep 0.1; echo c > /proc/sysrq-trigger; exit 3")
    output, complaint = process.communicate()
    assert process.returncode == GUEST_FAILED
    assert output == b"before\n"
    assert b"panicked: somebody in the guest asked for it by SysRq" in complaint
    assert len(complaint.splitlines()) == 1
    log = Path(complaint.decode().rpartition("; its log is ")[2].strip())
    assert "Kernel panic - not syncing: sysrq triggered crash" in log.read_text()
    assert processes_of(own_image) == []


def test_guest_that_stops_answering(own_image: Path, machine: Any, tmp_path: Path) -> None:
    """The test stops the kernel's process once the command runs and has made the file `sign`."""
    sign = tmp_path / "sign"

    def stop() -> None:
        if wait_until(sign.exists):
            os.kill(kernel_of(own_image), signal.SIGSTOP)

    stopper = threading.Thread(target=stop)
    stopper.start()
    request = boot.Request(
        own_image,
        ["sh", "-c", f"touch {sign}; sleep 1000"],
        target=machine.target,
        memory_bytes=128 << 20,
        hang_timeout_seconds=4,
    )
    with pytest.raises(GuestError, match="no sign of life for 4 s"):
        boot.run(request)
    stopper.join()
    assert processes_of(own_image) == []


def test_command_that_takes_too_long(machine: Any) -> None:
    request = boot.Request(
        machine.image,
        ["sleep", "1000"],
        target=machine.target,
        memory_bytes=128 << 20,
        timeout_seconds=0.5,
    )
    with pytest.raises(GuestError, match="did not end within 0.5 s"):
        boot.run(request)


def test_busy_guest_is_not_taken_for_hanging(guest: Any) -> None:
    ran = guest("sh", "-c", "timeout 3 sh -c 'while :; do :; done'", hang_timeout_seconds=1)
    assert ran.result.status == 124


def test_fork_that_runs_out_of_memory_fails_and_harms_none(
    compiled: Callable[..., Path], guest: Callable[..., Any], machine: Machine
) -> None:
    """Under strict overcommitment the guest refuses to copy all mappings, as the host does."""
    strict = "cd /proc/sys/vm; echo 2 > overcommit_memory; echo 60 > overcommit_ratio; exec "
    program = f"{compiled('failed_fork', '-static')} {machine.memory_bytes * 2 // 5}"
    ran = guest("sh", "-c", strict + program)
    assert ran.stdout.split() == [b"%d" % errno.ENOMEM] * 10, ran.stderr
