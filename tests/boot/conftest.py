# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures that run commands in guests, and functions that find the processes of a guest."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE_SECONDS

from kadence import boot

PROGRAMS = Path(__file__).parent / "programs"
FLAGS = ["-O2", "-Wall", "-Wextra", "-Werror"]
MEMORY_BYTES = {"um": 256 << 20, "x86_64": 512 << 20}


@dataclass(frozen=True)
class Ran:
    """The result and output of a command in a guest."""

    result: boot.Result
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True)
class Machine:
    """A kernel's image, its target and its memory size."""

    image: Path
    target: str
    memory_bytes: int


def _machine(kernel: Any, target: str) -> Machine:
    return Machine(Path(kernel.image), target, MEMORY_BYTES[target])


@pytest.fixture(scope="session")
def um_machine(generic_kernel: Any) -> Machine:
    """The machine for tests of User-Mode Linux alone."""
    return _machine(generic_kernel, "um")


@pytest.fixture(scope="session", params=["um", pytest.param("x86_64", marks=pytest.mark.full)])
def machine(request: pytest.FixtureRequest) -> Machine:
    """The machine of the guests in these tests. Both targets must meet the same contract."""
    name = {"um": "generic_kernel", "x86_64": "sockets_kernel_x86_64"}[request.param]
    return _machine(request.getfixturevalue(name), request.param)


@pytest.fixture
def image(machine: Machine) -> Path:
    """The kernel's image of `machine`."""
    return machine.image


def run_in_guest(machine: Machine, *argv: str, stdin: bytes = b"", **fields: Any) -> Ran:
    """Run a command with boot.run(); the kernel log must have no complaints."""
    with (
        tempfile.TemporaryFile() as source,
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
    ):
        source.write(stdin)
        source.seek(0)
        fields = {"memory_bytes": machine.memory_bytes} | fields
        request = boot.Request(
            machine.image,
            argv,
            target=machine.target,
            stdin=source.fileno(),
            stdout=output.fileno(),
            stderr=errors.fileno(),
            **fields,
        )
        result = boot.run(request)
        assert boot.complaints(result.log) == []
        output.seek(0)
        errors.seek(0)
        return Ran(result, output.read(), errors.read())


@pytest.fixture
def guest(machine: Machine) -> Callable[..., Ran]:
    """Run a command in a guest of the machine."""
    return partial(run_in_guest, machine)


@pytest.fixture(scope="session")
def guest_of() -> Callable[[Path], Callable[..., Ran]]:
    """Like `guest`, for a guest of User-Mode Linux with another image."""
    return lambda image: partial(run_in_guest, Machine(image, "um", MEMORY_BYTES["um"]))


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile one of the programs, once per session."""
    folder = tmp_path_factory.mktemp("programs")

    def compile_once(name: str, *options: str) -> Path:
        target = folder / name
        if not target.exists():
            source = PROGRAMS / f"{name}.c"
            subprocess.run(["gcc-12", *FLAGS, *options, "-o", target, source], check=True)
        return target

    return compile_once


@pytest.fixture
def own_image(image: Path, tmp_path: Path) -> Path:
    """A path of the kernel for this test alone, which identifies the processes of its guests."""
    path = tmp_path / "kernel"
    path.symlink_to(image)
    return path


@pytest.fixture
def command(own_image: Path, machine: Machine) -> list[str]:
    """The words of `kadence run` before the guest's command."""
    program = Path(sys.executable).parent / "kadence"
    options = ["--target", machine.target, "--mem", f"{machine.memory_bytes >> 20}M"]
    return [str(program), "run", "--kernel", str(own_image), *options, "--"]


@pytest.fixture
def started(command: list[str]) -> Any:
    """Start a command with `kadence run` and pipes as streams; killed after the test."""
    processes: list[subprocess.Popen[bytes]] = []

    def start(*argv: str, **options: Any) -> "subprocess.Popen[bytes]":
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        options = pipes | options
        process: subprocess.Popen[bytes] = subprocess.Popen([*command, *argv], **options)
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                with suppress(BrokenPipeError):
                    stream.close()


def _arguments(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def processes_of(image: Path) -> list[int]:
    """Processes, other than this one, that name the image in their command line."""
    pids = (int(folder.name) for folder in Path("/proc").glob("[0-9]*"))
    word = os.fsencode(image)
    return [pid for pid in pids if pid != os.getpid() and word in b"\0".join(_arguments(pid))]


def kernel_of(image: Path) -> int:
    """The kernel's own process: the session leader of all processes that run the image."""
    programs = (os.fsencode(image), os.fsencode(shutil.which("qemu-system-x86_64") or ""))
    running = (pid for pid in processes_of(image) if _arguments(pid)[0] in programs)
    return os.getsid(next(running))


def keeper_of(image: Path) -> int:
    """The kernel's parent: the process that the relay starts to watch the kernel."""
    return _parent_of(kernel_of(image))


def relay_of(image: Path) -> int:
    """The process that `kadence run` starts to start and serve the kernel."""
    return _parent_of(keeper_of(image))


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def wait_until(condition: Callable[[], bool]) -> bool:
    """Whether the condition becomes true within PATIENCE_SECONDS."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
