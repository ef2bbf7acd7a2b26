# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands ask of a kernel is seen, in any of their processes, and no process is harmed."""

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base import resources
from kadence.kconfig.configuration import missing

PROGRAM = Path(__file__).resolve().parent / "programs/asks.c"
IO_SETUP, SHMGET, INOTIFY, SECCOMP = (
    missing.numbers()[name] for name in ("io_setup", "shmget", "inotify_init", "seccomp")
)
UNSHARE = missing.numbers()["unshare"]
LOOKED_FOR = (IO_SETUP, SHMGET, INOTIFY, SECCOMP, UNSHARE)
FILES = ("/proc/PID/smaps*", "/proc/net/*", "/dev/loop*", "/sys/class/net/*")
HOWS = ("direct", "thread", "executed", "orphan")

Seen = tuple[int, set[str]]


@pytest.fixture(scope="module", params=["static", "dynamic"])
def asks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program: Path = tmp_path_factory.mktemp("asks") / request.param
    linked = ["-static"] if request.param == "static" else []
    subprocess.run(["gcc-12", "-pthread", *linked, "-o", program, PROGRAM], check=True)
    return program


def words(report: Path, argv: list[str]) -> list[str]:
    tool = str(resources.built("kconfig-gen/watch"))
    return [tool, str(report), ",".join(map(str, LOOKED_FOR)), ",".join(FILES), *argv]


@pytest.fixture
def watched(tmp_path: Path) -> Callable[..., Seen]:
    """Watch a command on this machine's own kernel: its status, and what was seen."""

    def run(*argv: str | Path) -> Seen:
        report = tmp_path / "report"
        ending = subprocess.run(words(report, list(map(str, argv))), cwd=tmp_path, check=False)
        return ending.returncode, set(report.read_text().splitlines())

    return run


@pytest.mark.parametrize("how", HOWS)
def test_a_call_is_seen_whoever_makes_it(
    how: str, asks: Path, watched: Callable[..., Seen]
) -> None:
    status, seen = watched(asks, how, str(SHMGET), str(INOTIFY))
    assert (status, seen) == (0, {f"call {SHMGET}", f"call {INOTIFY}"})


def test_a_script_s_helpers_are_seen(
    asks: Path, tmp_path: Path, watched: Callable[..., Seen]
) -> None:
    (tmp_path / "deep.sh").write_text(f"({asks} direct {IO_SETUP}) | cat\nexit 5\n")
    status, seen = watched("sh", "-c", f"{asks} orphan {SHMGET} & wait; sh deep.sh")
    assert (status, seen) == (5, {f"call {SHMGET}", f"call {IO_SETUP}"})


def test_what_is_not_looked_for_is_not_told(asks: Path, watched: Callable[..., Seen]) -> None:
    assert watched(asks, "direct", "39", "24") == (0, set())  # getpid, sched_yield


@pytest.mark.parametrize("family", [socket.AF_UNIX, socket.AF_INET])
def test_socket_families_are_told(family: int, watched: Callable[..., Seen]) -> None:
    code = f"import _socket; _socket.socket({int(family)}, 1)"
    assert watched(sys.executable, "-Sc", code) == (0, {f"family {int(family)}"})


def test_a_family_that_no_kernel_has_is_none_to_depend_on(watched: Callable[..., Seen]) -> None:
    # AF_ECONET, which Linux 3.5 removed.
    code = "import _socket\ntry: _socket.socket(19, 1)\nexcept OSError: pass"
    assert watched(sys.executable, "-Sc", code) == (0, set())


@pytest.mark.parametrize(
    "script",
    [
        "exec 3</proc/self/smaps",
        "exec 3</proc/$$/smaps_rollup",
        "cd /proc/self && exec 3<smaps",
        "cd / && exec 3<proc/thread-self/smaps",
    ],
)
def test_files_are_told_by_their_pattern(script: str, watched: Callable[..., Seen]) -> None:
    assert watched("sh", "-c", script) == (0, {"file /proc/PID/smaps*"})


def test_a_file_that_is_not_there_is_not_told(watched: Callable[..., Seen]) -> None:
    status, seen = watched("sh", "-c", "exec 3</dev/loop-that-never-was || exit 2")
    assert (status != 0, seen) == (True, set())


def test_namespaces_are_told_and_only_they(watched: Callable[..., Seen]) -> None:
    code = "import ctypes; c = ctypes.CDLL(None).unshare; "
    files, new_uts = 0x400, 0x04000000
    assert watched(sys.executable, "-Sc", code + f"c({files})")[1] == set()
    assert watched(sys.executable, "-Sc", code + f"c({new_uts})")[1] == {f"call {UNSHARE}"}


def test_a_filter_of_the_program_s_own_is_told_and_works(watched: Callable[..., Seen]) -> None:
    # A filter of one instruction that allows every call: return SECCOMP_RET_ALLOW.
    code = """
import ctypes, struct
words = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(words))
prctl = ctypes.CDLL(None).prctl
raise SystemExit(prctl(38, 1, 0, 0, 0) or prctl(22, 2, program, 0, 0))
"""
    assert watched(sys.executable, "-Sc", code) == (0, {f"call {SECCOMP}"})


@pytest.mark.parametrize(
    ("script", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 128 + 15)]
)
def test_the_status_is_the_command_s(
    script: str, status: int, watched: Callable[..., Seen]
) -> None:
    assert watched("sh", "-c", script) == (status, set())


def test_what_cannot_be_executed(tmp_path: Path, watched: Callable[..., Seen]) -> None:
    assert watched("./is-not-there")[0] == 127
    (tmp_path / "data").write_text("")
    assert watched("./data")[0] == 126


def test_a_debugger_among_the_processes_works(asks: Path, watched: Callable[..., Seen]) -> None:
    status, seen = watched("strace", "-f", "-o", "log", asks, "executed", str(SHMGET))
    assert status == 0
    assert f"call {SHMGET}" in seen


def test_what_is_left_running_goes_on(
    asks: Path, tmp_path: Path, watched: Callable[..., Seen]
) -> None:
    """Its calls still return after the command and its watcher have ended."""
    fifo = tmp_path / "through"
    subprocess.run(["mkfifo", fifo], check=True)
    script = f"(sleep 0.2; {asks} direct {SHMGET}; echo lived >{fifo}) >/dev/null 2>&1 &"
    assert watched("sh", "-c", script)[0] == 0
    assert fifo.read_text() == "lived\n"


@pytest.mark.kernel
def test_a_guest_tells_the_same(asks: Path, generic_kernel: Any, tmp_path: Path) -> None:
    report = tmp_path / "report"
    script = f"for how in {' '.join(HOWS)}; do {asks} $how {SHMGET} || exit; done; exit 3"
    request = boot.Request(
        image=generic_kernel.image,
        argv=words(report, ["sh", "-c", f"{script} 3</proc/self/smaps"]),
        directory=tmp_path,
        target=generic_kernel.target,
    )
    result = boot.run(request)
    assert (result.status, boot.complaints(result.log)) == (3, [])
    assert set(report.read_text().splitlines()) == {f"call {SHMGET}", "file /proc/PID/smaps*"}
