# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one command, on a guest kernel or on the machine's own, and measures its cost."""

import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kadence import boot
from kadence.base import resources
from kadence.base.errors import GuestError, KadenceError
from kadence.boot import processors

CACHE = "KADENCE_CACHE"


class ExecutionError(KadenceError):
    """A program cannot be run as its kadence.toml says."""


@dataclass(frozen=True)
class Sample:
    """The cost of one run."""

    seconds: float  # from the request to the end, a guest's boot and halt included
    program_seconds: float  # the program alone, by the clock of its kernel
    boot_seconds: float  # 0 on the machine's own kernel
    user_seconds: float
    system_seconds: float
    voluntary_switches: int
    involuntary_switches: int
    minor_faults: int
    major_faults: int
    max_resident_bytes: int  # the peak
    # Time of this machine's processors for the whole guest, boot and halt included. A guest's own
    # user_seconds do not measure that: User-Mode Linux counts by its clock's ticks.
    machine_user_seconds: float = 0.0
    machine_system_seconds: float = 0.0
    # The first thread was ready to run, but had no processor; 0 in guests.
    delay_seconds: float = 0.0


@dataclass(frozen=True)
class Ending:
    """How a run ended."""

    sample: Sample
    status: int
    log: str = ""  # the guest kernel's


def environment(more: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """The caller's environment without Kadence's own variables, and with a program's additions.

    KADENCE_CACHE stays: an adapted program reads the costs of memory from a file in that folder.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name == CACHE or not name.startswith(("KADENCE_", "KADAPT_"))
    }
    return inherited | dict(more)


def run(
    argv: Sequence[str],
    folder: Path,
    *,
    image: Path | None,
    scratch: Path,
    environment: Mapping[str, str],
    target: str = boot.Request.target,
    standard_input: str = "",
    timeout_seconds: float | None = None,
    tasks: int = 1,
) -> Ending:
    """Run a command on a guest kernel, or on the machine's own kernel if there is no image.

    A guest gets a processor for each task, as far as its kernel and the machine support them. The
    command's output goes to files in `scratch`, so that no reader slows it down. Processor time
    is that of all of the caller's children, so only one run may be under way at a time.
    """
    with (
        Path(folder / standard_input if standard_input else os.devnull).open("rb") as stdin,
        (scratch / "stdout").open("wb") as stdout,
        (scratch / "stderr").open("wb") as stderr,
    ):
        request = boot.Request(
            image=image or Path(),
            argv=list(argv),
            target=target,
            directory=folder,
            environment=dict(environment),
            timeout_seconds=timeout_seconds,
            stdin=stdin.fileno(),
            stdout=stdout.fileno(),
            stderr=stderr.fileno(),
        )
        if image is not None:
            request = replace(request, processors=processors.granted(request, tasks))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ending = _on_machine(request) if image is None else _in_guest(request)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    sample = replace(
        ending.sample,
        machine_user_seconds=after.ru_utime - before.ru_utime,
        machine_system_seconds=after.ru_stime - before.ru_stime,
    )
    return replace(ending, sample=sample)


def _in_guest(request: boot.Request) -> Ending:
    began = time.monotonic()
    result = boot.run(request)
    if request.processors > max(result.processors, 1):
        raise GuestError(
            f"the guest of {request.image} used {result.processors} of its "
            f"{request.processors} processors"
        )
    seconds = time.monotonic() - began
    complaints = boot.complaints(result.log)
    if complaints:
        raise GuestError(f"the guest kernel logged a complaint: {complaints[0]}")
    sample = Sample(
        seconds=seconds,
        program_seconds=result.wall_seconds,
        boot_seconds=result.boot_seconds,
        user_seconds=result.user_seconds,
        system_seconds=result.system_seconds,
        voluntary_switches=result.voluntary_switches,
        involuntary_switches=result.involuntary_switches,
        minor_faults=result.minor_faults,
        major_faults=result.major_faults,
        max_resident_bytes=result.max_resident_bytes,
    )
    return Ending(sample, result.status, result.log)


def _on_machine(request: boot.Request) -> Ending:
    """Run the command through kadence/usage.c, which explains why."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as report:
        # The command gets its own session, because a guest has one: on a busy machine the
        # scheduler's autogroups divide the processors among sessions (sched(7)).
        with subprocess.Popen(
            [str(resources.built("kadence/usage")), str(report.fileno()), *request.argv],
            cwd=request.directory,
            env=request.environment,
            stdin=request.stdin,
            stdout=request.stdout,
            stderr=request.stderr,
            pass_fds=[report.fileno()],
            start_new_session=True,
        ) as process:
            _wait(process, request.timeout_seconds)
        seconds = time.monotonic() - began
        report.seek(0)
        return told(request.argv[0], report.read().decode("ascii"), seconds)


def _wait(process: "subprocess.Popen[bytes]", timeout_seconds: float | None) -> None:
    killer = threading.Timer(timeout_seconds or threading.TIMEOUT_MAX, process.terminate)
    killer.start()
    try:
        # Leave the zombie to the caller. Popen.wait() lets an interrupted command go on for a
        # quarter second and may reap it, and then there is no group to kill.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    except BaseException:
        # The terminal's interrupt does not reach the command, which is in another session.
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        killer.cancel()


def told(name: str, report: str, seconds: float) -> Ending:
    """Parse the line that kadence/usage wrote about the command `name`."""
    how, *numbers = report.split() or [""]
    if how == "failed":
        raise ExecutionError(f"cannot run {name}: {os.strerror(int(numbers[0]))}")
    if how != "ended":
        raise ExecutionError(f"kadence/usage, which runs {name}, ended too early")
    status, wall, user, system, *counted, delay = map(int, numbers)
    voluntary, involuntary, minor, major, resident = counted
    sample = Sample(
        seconds=seconds,
        program_seconds=wall / 1e9,
        boot_seconds=0.0,
        user_seconds=user / 1e6,
        system_seconds=system / 1e6,
        voluntary_switches=voluntary,
        involuntary_switches=involuntary,
        minor_faults=minor,
        major_faults=major,
        max_resident_bytes=resident << 10,
        delay_seconds=delay / 1e9,
    )
    code = os.waitstatus_to_exitcode(status)
    return Ending(sample, _shell_status(code))


def _shell_status(code: int) -> int:
    return code if code >= 0 else 128 - code
