# SPDX-License-Identifier: GPL-2.0-or-later
"""The error of a guest that ends early is one sentence: the cause, if known, and the log."""

import os
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base.errors import GuestError
from kadence.boot import endings, host

# The relay's report of a kernel that ended by itself with status 1.
DIED = {
    "outcome": "died",
    "failure": "",
    "error": "0",
    "kernel_status": "256",
    "interrupted_by": "0",
    "boot_ns": "0",
}
STARTED = {"boot_ns": "1000"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without other tests' logs."""
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _told(log: str, fields: Mapping[str, str] | None = None, target: str = "um") -> str:
    request = boot.Request(Path("/kernel"), ["true"], target=target)
    message = str(endings.error(request, DIED | dict(fields or {}), log))
    assert "\n" not in message
    return message


# Each log is from a real guest, from QEMU or from this machine.
@pytest.mark.parametrize(
    ("log", "says"),
    [
        (
            "userspace - ptrace set fp regs failed, errno = 14\n"
            "Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b\n",
            "the guest of /kernel panicked: this processor's registers are larger than",
        ),
        ("kadence: /dev/mmapper: No such file or directory\n", "lacks a driver that boot/needs-um"),
        ("Too few physical memory! Needed=70000000, given=6\n", "needs 70000000 bytes of memory"),
        ("Kernel panic - not syncing: System is deadlocked on memory\n", "it ran out of memory"),
        (
            "VFS: Cannot open root device\n[    0.1] Kernel panic - not syncing: VFS: Unable to "
            "mount root fs on unknown-block(0,0)\n",
            "can't mount its root file system",
        ),
        (
            "Kernel panic - not syncing: No working init found.  Try passing init= option\n",
            "it found no first process",
        ),
        ("parse_iomem - Couldn't open io file: Permission denied\n", "make the image readable"),
        ("start_userspace : clone failed, errno = 11\n", "this machine's limit on processes"),
        ("qemu: could not load kernel '/kernel': invalid kernel header\n", "not an x86_64 kernel"),
        ("qemu: cannot set up guest memory 'pc.ram': Cannot allocate memory\n", "did not give it"),
    ],
)
def test_known_causes(log: str, says: str) -> None:
    assert says in _told(log)


def test_unknown_panic_is_told_in_the_kernels_words() -> None:
    log = "[    0.5] Kernel panic - not syncing: the moon is full\r\n[    0.6] CPU: 0 PID: 1\n"
    assert ": not syncing: the moon is full; its log is " in _told(log)


def test_unknown_end_is_told_in_the_last_words() -> None:
    assert '(status 1) before it started the command, its last words being "b"; ' in _told(
        "a\nb\n\n"
    )


def test_no_log() -> None:
    assert _told("").endswith("before it started the command; it wrote no log")


@pytest.mark.parametrize(
    ("number", "says"), [(7, "is full"), (31, "a seccomp filter"), (9, "when memory is short")]
)
def test_signals_that_say_why(number: int, says: str) -> None:
    assert says in _told("a\n", STARTED | {"kernel_status": str(number)})


def test_machine_is_asked_where_the_log_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "obstacle", lambda target: host.Obstacle("x", "it may not", "let it"))
    assert ": it may not (to mend it: let it); " in _told("Checking ptrace\n")
    assert "it may not" not in _told("Checking ptrace\n", STARTED)


def test_log_of_a_command_that_took_too_long_says_nothing_of_a_cause() -> None:
    told = _told("Out of memory and no killable processes\n", STARTED | {"outcome": "timeout"})
    assert "ran out" not in told


def test_rows_say_what_they_are_about() -> None:
    for row in tomllib.loads(endings.TABLE.read_text())["cause"]:
        assert ("log" in row) != ("end" in row), row
        assert set(row) <= {"log", "end", "booted", "says", "remedy"}, row


def _log_of(message: str) -> Path:
    return Path(message.rpartition("; its log is ")[2])


def test_log_is_kept_whole(cache: Path) -> None:
    log = "first\nsecond \xff\nlast\n"
    assert _log_of(_told(log)).read_text(encoding="utf-8") == log
    assert _log_of(_told(log)).parent == cache / "guest-logs"


def test_logs_of_many_guests_at_once_stay_bounded(cache: Path) -> None:
    def end_some() -> None:
        for number in range(10):
            _told(f"{number}\n")

    threads = [threading.Thread(target=end_some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    newest = _log_of(_told("newest\n"))
    assert newest.read_text() == "newest\n"
    kept = list((cache / "guest-logs").iterdir())
    assert len(kept) == endings.KEPT_LOGS and newest in kept


def test_log_that_can_be_kept_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KADENCE_CACHE", "/sys/no")
    assert "its log could not be kept in /sys/no/guest-logs (" in _told("a\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_full_disk_leaves_no_half_of_a_log(cache: Path) -> None:
    cache.mkdir()
    script = (
        f"mount -t tmpfs -o size=16k t {cache}; mkdir {cache}/guest-logs; "
        f'head -c 8k /dev/zero > {cache}/x; "$@"; ls -A {cache}/guest-logs'
    )
    code = (
        "from pathlib import Path; from kadence import boot; from kadence.boot import endings\n"
        f"request = boot.Request(Path('/kernel'), ['true'])\n"
        f"print(endings.error(request, {DIED}, 'a' * 100_000))"
    )
    command = ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.endswith("(No space left on device)\n"), ran.stdout


@pytest.fixture
def ended(minimal_kernel: Any) -> Callable[..., GuestError]:
    """Start a guest of the minimal kernel with kernel arguments; returns the error it ends with."""

    def end(*arguments: str, argv: tuple[str, ...] = ("true",), **fields: Any) -> GuestError:
        fields = {"memory_bytes": 64 << 20} | fields
        request = boot.Request(minimal_kernel.image, argv, kernel_arguments=arguments, **fields)
        with pytest.raises(GuestError) as raised:
            boot.run(request)
        assert "\n" not in str(raised.value)
        assert _log_of(str(raised.value)).read_text() == raised.value.log
        return raised.value

    return end


@pytest.mark.kernel
def test_guest_without_a_root(ended: Callable[..., GuestError]) -> None:
    error = ended("rootfstype=nothing")
    assert "panicked: it found no first process to start: its root file system" in str(error)
    assert "Kernel panic" in error.log and not error.command_started
    assert str(error).startswith(error.reason) and "its log" not in error.reason


@pytest.mark.kernel
def test_guest_without_an_init(ended: Callable[..., GuestError]) -> None:
    assert "panicked: it found no first process" in str(ended("init=/none"))


@pytest.mark.kernel
def test_guest_with_too_little_memory(ended: Callable[..., GuestError]) -> None:
    assert "to mend it: give it more with --mem" in str(ended("mem=4M"))


@pytest.mark.kernel
def test_guest_whose_memory_does_not_fit_its_place(minimal_kernel: Any, tmp_path: Path) -> None:
    """Another process fills the file system while the guest runs."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount")
    place, program = tmp_path / "place", Path(sys.executable).parent / "kadence"
    place.mkdir()
    sign, full = tmp_path / "sign", tmp_path / "full"
    script = (
        f"mount -t tmpfs -o size=96M t {place}; "
        f"(until test -e {sign}; do sleep 0.1; done; cat /dev/zero > {place}/x; touch {full}) & "
        f"export KADENCE_MEMORY_DIRECTORY={place}; exec {program} run --mem 64M "
        f"--kernel {minimal_kernel.image} -- "
        f"sh -c 'touch {sign}; until test -e {full}; do sleep 0.1; done; "
        "head -c 30M /dev/zero | tail -c 30M'"
    )
    ran = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False
    )
    assert ran.returncode == GuestError.exit_status, ran
    assert f"{place}, the place of the file behind its memory, is full" in ran.stderr
