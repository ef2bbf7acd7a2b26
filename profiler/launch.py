# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts a program under kbbv, passes signals on to it and waits for its end.

The program keeps its standard streams, directory, environment (to which Valgrind adds what it
needs, such as LD_PRELOAD) and signals; Valgrind's own messages go to a file.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO

from kadence import resources, terminal
from kadence.errors import ToolError

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
LOOK_SECONDS = 0.5

Stream = int | IO[bytes] | None


@dataclass(frozen=True)
class Surroundings:
    """Where a program runs; None means as Kadence itself."""

    cwd: Path | None = None
    env: Mapping[str, str] | None = None
    stdin: Stream = None
    stdout: Stream = None
    stderr: Stream = None


@dataclass(frozen=True)
class Places:
    """The files of a run."""

    output: Path  # the first process's profile
    list: Path  # to which every process appends the names of its profiles
    logs: Path  # the folder of Valgrind's messages, one file for each process

    def log_of(self, process: int) -> Path:
        """What Valgrind had to say in a process."""
        return self.logs / f"log.{process}"


@dataclass(frozen=True)
class End:
    """How the first process ended."""

    status: int  # 128 + signal where a signal ended it
    process: int


def command(argv: Sequence[str], places: Places, interval: int, most_rows: int = 0) -> list[str]:
    """The command line that runs `argv` under kbbv, and all that it starts.

    The interval becomes longer where a thread would have more than `most_rows` (0: never).
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise ToolError("valgrind is not installed; run `apt-get install valgrind`")
    return [
        valgrind,
        "--tool=kbbv",
        "--command-line-only=yes",  # neither VALGRIND_OPTS nor .valgrindrc
        "--quiet",
        "--vgdb=no",
        # Threads take turns. Without, who releases Valgrind's lock mostly takes it again, and how
        # long another thread waits, or spins, is chance.
        "--fair-sched=try",
        "--trace-children=yes",
        f"--log-file={str(places.logs.absolute()).replace('%', '%%')}/log.%p",
        f"--raw={places.output.absolute()}",
        f"--list={places.list.absolute()}",
        f"--interval={interval}",
        f"--most-rows={most_rows}",
        "--",
        *argv,
    ]


def run(arguments: Sequence[str], place: Surroundings, look: Callable[[], None] | None) -> End:
    """Run to the end, calling `look` now and then."""
    tool = resources.built("profiler/valgrind/kbbv-amd64-linux")
    env = dict(_own_environment() if place.env is None else place.env)
    env["VALGRIND_LIB"] = str(tool.parent)
    with _signals_forwarded() as forwarder, _started(arguments, place, env) as process:
        forwarder.serve(process)
        status = _wait(process, look)
    return End(status if status >= 0 else 128 - status, process.pid)


def run_alone(
    argv: Sequence[str],
    place: Surroundings,
    settings: Mapping[str, str],
    look: Callable[[], None] | None,
) -> int:
    """Run a program by itself, with `settings` in its environment; otherwise as `run`."""
    env = {**(_own_environment() if place.env is None else place.env), **settings}
    with _signals_forwarded() as forwarder, _started(argv, place, env) as process:
        forwarder.serve(process)
        status = _wait(process, look)
    return status if status >= 0 else 128 - status


def _started(
    arguments: Sequence[str], place: Surroundings, env: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            arguments,
            cwd=place.cwd,
            env=env,
            stdin=place.stdin,
            stdout=place.stdout,
            stderr=place.stderr,
        )
    except OSError as error:
        raise ToolError(f"cannot start {arguments[0]}: {error.strerror}") from error


def _own_environment() -> dict[str, str]:
    """What Kadence was given: without the LC_CTYPE that Python adds of itself in the C locale."""
    env = dict(os.environ)
    if b"LC_CTYPE=" not in Path("/proc/self/environ").read_bytes():
        env.pop("LC_CTYPE", None)
    return env


def _wait(process: subprocess.Popen[bytes], look: Callable[[], None] | None) -> int:
    while True:
        try:
            return process.wait(LOOK_SECONDS if look else None)
        except subprocess.TimeoutExpired:
            if look:
                look()


def _terminal_told_it_too(number: int) -> bool:
    """Whether the terminal sends this signal to the program as well as to us."""
    if number not in FROM_TERMINAL:
        return False
    try:
        with Path("/dev/tty").open("rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


class _Forwarder:
    """Hands signals on to the program; what comes before it is there waits for it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []

    def take(self, number: int, _frame: FrameType | None) -> None:
        """The signal handler."""
        if self._process is None:
            self._early.append(number)
        elif self._process.returncode is None and not _terminal_told_it_too(number):
            self._process.send_signal(number)

    def serve(self, process: subprocess.Popen[bytes]) -> None:
        """Hand on to `process` from now on."""
        self._process = process
        for number in self._early:
            process.send_signal(number)


@contextmanager
def _signals_forwarded() -> Iterator[_Forwarder]:
    forwarder = _Forwarder()
    # Only the main thread may set handlers; elsewhere signals are the caller's business.
    if threading.current_thread() is not threading.main_thread():
        yield forwarder
        return
    before = {number: signal.signal(number, forwarder.take) for number in FORWARDED}
    try:
        yield forwarder
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Progress:
    """A line on a terminal's standard error, rewritten in place."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count
        self._begin = time.monotonic()
        self._width = 0

    def look(self) -> None:
        """Show how far the run has come."""
        text = f"kadence: {self._count()} intervals, {time.monotonic() - self._begin:.0f} s"
        terminal.raw(sys.stderr).write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Leave the line as if nothing had been there."""
        if self._width:
            terminal.raw(sys.stderr).write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
