# SPDX-License-Identifier: GPL-2.0-or-later
"""Running one command, on a guest kernel or on the machine's own, and what it took."""

import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence import boot
from kadence.errors import GuestError, KadenceError


class ExecutionError(KadenceError):
    """A program does not run as its kadence.toml says."""


def first_line(error: KadenceError) -> str:
    """An error without the end of a guest's log that may follow it."""
    return str(error).partition("\n")[0]


@dataclass(frozen=True)
class Sample:
    """What one run took."""

    seconds: float  # from the request to the end, a guest's boot and halt included
    program_seconds: float  # of the program alone, by the clock of the kernel it ran on
    boot_seconds: float  # 0 on the machine's own kernel
    user_seconds: float
    system_seconds: float
    voluntary_switches: int
    involuntary_switches: int
    minor_faults: int
    major_faults: int


@dataclass(frozen=True)
class Ending:
    """How a run ended."""

    sample: Sample
    status: int
    log: str = ""  # of the guest's kernel


def environment() -> dict[str, str]:
    """The caller's environment, without what concerns Kadence only."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("KADENCE_", "KADAPT_"))
    }


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
) -> Ending:
    """Run a command on a guest kernel, or without an image on the machine's own.

    Its output goes to files in `scratch`: nobody's reading speed is measured.
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
        return _on_machine(request) if image is None else _in_guest(request)


def _in_guest(request: boot.Request) -> Ending:
    began = time.monotonic()
    result = boot.run(request)
    seconds = time.monotonic() - began
    complaints = boot.complaints(result.log)
    if complaints:
        raise GuestError(f"the guest kernel complained: {complaints[0]}")
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
    )
    return Ending(sample, result.status, result.log)


def _on_machine(request: boot.Request) -> Ending:
    began = time.monotonic()
    try:
        # No context manager: it would wait for the process, which os.wait4 has to do. A session
        # of its own, because a guest has one: on a busy machine the scheduler's autogroups
        # divide the processors by session (sched(7)).
        process = subprocess.Popen(
            request.argv,
            cwd=request.directory,
            env=request.environment,
            stdin=request.stdin,
            stdout=request.stdout,
            stderr=request.stderr,
            start_new_session=True,
        )
    except OSError as error:
        raise ExecutionError(f"cannot run {request.argv[0]}: {error.strerror}") from error
    killer = threading.Timer(request.timeout_seconds or threading.TIMEOUT_MAX, process.kill)
    killer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        # An interrupt from the terminal does not reach another session.
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        killer.cancel()
    seconds = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    return Ending(_machine_sample(seconds, usage), _shell_status(process.returncode))


def _shell_status(code: int) -> int:
    return code if code >= 0 else 128 - code


def _machine_sample(seconds: float, usage: resource.struct_rusage) -> Sample:
    return Sample(
        seconds=seconds,
        program_seconds=seconds,
        boot_seconds=0.0,
        user_seconds=usage.ru_utime,
        system_seconds=usage.ru_stime,
        voluntary_switches=usage.ru_nvcsw,
        involuntary_switches=usage.ru_nivcsw,
        minor_faults=usage.ru_minflt,
        major_faults=usage.ru_majflt,
    )
