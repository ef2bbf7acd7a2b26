# SPDX-License-Identifier: GPL-2.0-or-later
"""The contract of a run under a stock x86_64 kernel, and the features of this target alone."""

import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base.errors import GuestError, KadenceError
from kadence.boot import acceleration, clock, debian, x86_64

from .conftest import Ran, processes_of, wait_until

pytestmark = pytest.mark.kernel

TARGET = "x86_64"
MEMORY_BYTES = 512 << 20
BOOT_TIMEOUT_SECONDS = 300.0
HUNDRED_MEGABYTES = 100_000_000
GUEST_FAILED = 125


@pytest.fixture(scope="module")
def machine() -> Path:
    """Debian's kernel, which has no 9p built in: the guest reaches the host's files by virtiofs.

    All other tests in this folder check the contract with Kadence's own kernels, which use 9p.
    """
    if os.geteuid() != 0:
        pytest.skip("Debian's kernel reaches the host by virtiofs, whose server needs root")
    try:
        return debian.kernel_image(debian.newest_release("6.12"))
    except KadenceError as error:
        pytest.skip(f"no stock kernel: {error}")


@pytest.fixture
def run(machine: Path) -> Callable[..., Ran]:
    """Run a command with boot.run(); the kernel log must have no complaints."""

    def run_in_guest(*argv: str, **fields: Any) -> Ran:
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            settings: dict[str, Any] = {
                "target": TARGET,
                "memory_bytes": MEMORY_BYTES,
                "stdout": output.fileno(),
                "stderr": errors.fileno(),
                "boot_timeout_seconds": BOOT_TIMEOUT_SECONDS,
            }
            result = boot.run(boot.Request(machine, argv, **(settings | fields)))
            assert boot.complaints(result.log) == []
            output.seek(0)
            errors.seek(0)
            return Ran(result, output.read(), errors.read())

    return run_in_guest


@pytest.fixture
def words(machine: Path, tmp_path: Path) -> list[str]:
    """The words of `kadence run` before the guest's command; the image has a path of its own."""
    image = tmp_path / machine.name
    image.symlink_to(machine)
    program = Path(sys.executable).parent / "kadence"
    options = ["--target", TARGET, "--kernel", str(image), "--mem", f"{MEMORY_BYTES >> 20}M"]
    return [str(program), "run", *options, "--"]


def test_command_runs_as_the_caller_would_have_run_it(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    directory = tmp_path / "with space"
    directory.mkdir()
    script = 'pwd -P; id -u; umask; echo "$ODD"; test -t 1; echo $?; echo err >&2; exit 3'
    environment = {"ODD": "a  b", "PATH": os.environ["PATH"]}
    umask = os.umask(0o027)
    try:
        ran = run("sh", "-c", script, directory=directory, environment=environment)
    finally:
        os.umask(umask)
    expected = [str(directory), str(os.geteuid()), "0027", "a  b", "1"]
    assert ran.stdout.decode().splitlines() == expected
    assert (ran.stderr, ran.result.status, ran.result.signal) == (b"err\n", 3, None)
    assert ran.result.boot_virtual_seconds > 0


def test_the_clock_counts_as_this_machines(run: Callable[..., Ran]) -> None:
    """Kadence tells the kernel the rate. A kernel that measured it would err under load."""
    ran = run("true")
    if x86_64.accelerator(boot.Request(Path(), ["true"])) != acceleration.TCG:
        pytest.skip("under KVM the processor tells the guest its rate")
    detected = re.findall(r"tsc: Detected ([0-9.]+) MHz", ran.result.log)
    assert abs(float(detected[-1]) * 1000 / clock.counter_khz() - 1) < 1e-3


def test_files_are_the_hosts_when_the_command_ends(run: Callable[..., Ran], tmp_path: Path) -> None:
    """The guest writes, appends to, maps, locks and renames files; the host sees the results."""
    program = (
        "import fcntl, mmap, os; f = open('mapped', 'w+b'); f.truncate(8192); "
        "fcntl.lockf(f, fcntl.LOCK_EX); m = mmap.mmap(f.fileno(), 8192); m[4096:4100] = b'here'; "
        "a = os.open('appended', os.O_WRONLY | os.O_APPEND); os.write(a, b'two'); "
        "open('new', 'w').write('x'); os.rename('new', 'renamed')"
    )
    (tmp_path / "appended").write_text("one")
    ran = run(sys.executable, "-c", program, directory=tmp_path)
    assert ran.result.status == 0, ran.stderr
    assert (tmp_path / "mapped").read_bytes() == bytes(4096) + b"here" + bytes(4092)
    assert (tmp_path / "appended").read_text() == "onetwo"
    assert (tmp_path / "renamed").read_text() == "x"
    assert not (tmp_path / "new").exists()


def test_hundred_megabytes_each_way(words: list[str]) -> None:
    sent = random.Random(1).randbytes(HUNDRED_MEGABYTES)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*words, "cat"], **pipes) as process:  # type: ignore[call-overload]
        feeding = threading.Thread(
            target=lambda: (process.stdin.write(sent), process.stdin.close())
        )
        feeding.start()
        received = process.stdout.read()
        feeding.join()
    assert process.returncode == 0
    assert hashlib.sha256(received).digest() == hashlib.sha256(sent).digest()


def test_signal_is_forwarded_and_nothing_is_left(words: list[str], tmp_path: Path) -> None:
    script = "trap 'echo caught; exit 7' TERM; echo ready; while :; do sleep 0.1; done"
    with subprocess.Popen([*words, "sh", "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.stdout.read() == b"caught\n"
    assert process.returncode == 7
    assert wait_until(lambda: not processes_of(tmp_path))


def test_killing_kadence_leaves_nothing(words: list[str], tmp_path: Path) -> None:
    with subprocess.Popen([*words, "sh", "-c", "echo ready; sleep 1000"], stdout=-1) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.kill()
    assert wait_until(lambda: not processes_of(tmp_path))


def test_hang_is_told(machine: Path, tmp_path: Path) -> None:
    """The test stops QEMU once the command runs and has made the file `sign`."""
    image = tmp_path / machine.name
    image.symlink_to(machine)
    sign = tmp_path / "sign"

    def stop() -> None:
        if wait_until(sign.exists):
            for pid in processes_of(image):
                if Path(f"/proc/{pid}/comm").read_text().startswith("qemu"):
                    os.kill(pid, signal.SIGSTOP)

    stopper = threading.Thread(target=stop)
    stopper.start()
    command = ["sh", "-c", f"touch {sign}; sleep 1000"]
    request = boot.Request(
        image, command, target=TARGET, memory_bytes=MEMORY_BYTES, hang_timeout_seconds=4
    )
    with pytest.raises(GuestError, match="no sign of life for 4 s"):
        boot.run(request)
    stopper.join()
    assert processes_of(image) == []


def test_panic_is_told(machine: Path) -> None:
    """Every kernel panics without an init and a root file system."""
    request = boot.Request(
        machine,
        ["true"],
        target=TARGET,
        memory_bytes=MEMORY_BYTES,
        kernel_arguments=["rdinit=/none", "init=/none", "root=/dev/none"],
        boot_timeout_seconds=BOOT_TIMEOUT_SECONDS,
    )
    with pytest.raises(GuestError, match="panicked: it can't mount its root file system"):
        boot.run(request)


def test_lab_is_told_apart(run: Callable[..., Ran]) -> None:
    result = run("true", lab=True).result
    assert result.accelerator == "icount"
    assert 0 < result.boot_virtual_seconds < 10


def test_trace_tells_boot_from_program(run: Callable[..., Ran], tmp_path: Path) -> None:
    run("true", trace=tmp_path)
    logs = {name: (tmp_path / name).read_bytes() for name in ("boot.log", "program.log")}
    assert all(b"IN:" in log for log in logs.values())
