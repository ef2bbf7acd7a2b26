# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts a program under kbbv, forwards signals to it and waits for its end.

The program keeps its standard streams, directory, environment and signals. Valgrind adds its own
variables to the environment, such as LD_PRELOAD. Its messages go to a file.
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

from kadence.base import resources, terminal
from kadence.base.errors import ToolError

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
LOOK_SECONDS = 0.5

Stream = int | IO[bytes] | None


@dataclass(frozen=True)
class Surroundings:
    """A program's directory, environment and streams; None stands for Kadence's own."""

    cwd: Path | None = None
    env: Mapping[str, str] | None = None
    stdin: Stream = None
    stdout: Stream = None
    stderr: Stream = None


@dataclass(frozen=True)
class Places:
    """The files of a run."""

    output: Path  # the first process's profile
    list: Path  # every process appends the names of its profiles
    logs: Path  # folder for Valgrind's messages, one file for each process

    def log_of(self, process: int) -> Path:
        """Return the path of Valgrind's messages about a process."""
        return self.logs / f"log.{process}"


@dataclass(frozen=True)
class End:
    """How the first process ended."""

    status: int  # 128 + signal where a signal ended it
    process: int


def command(argv: Sequence[str], places: Places, interval: int, most_rows: int = 0) -> list[str]:
    """Return the command line that runs `argv` and its child processes under kbbv.

    kbbv doubles the interval whenever a thread would have more than `most_rows` rows (0: never).
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
        # Threads take turns. Without this option, the thread that releases Valgrind's lock mostly
        # takes it again, and chance decides how long other threads wait or spin.
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
    """Run a command line of command() to its end, calling `look` every LOOK_SECONDS."""
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
    """Run a program without Valgrind, with `settings` in its environment; else like run().

    Returns the exit status, or 128 + signal.
    """
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
    """Return Kadence's environment without the LC_CTYPE that Python adds in the C locale."""
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
    """Return whether the terminal sends this signal to the program as well as to Kadence."""
    if number not in FROM_TERMINAL:
        return False
    try:
        with Path("/dev/tty").open("rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


class _Forwarder:
    """Forwards signals to the program, and keeps those that arrive before the program starts."""

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
        """Forward to `process` from now on, beginning with the signals that were kept."""
        self._process = process
        for number in self._early:
            process.send_signal(number)


@contextmanager
def _signals_forwarded() -> Iterator[_Forwarder]:
    forwarder = _Forwarder()
    # Only the main thread may set handlers; in other threads the caller handles signals.
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
    """A progress line on standard error, rewritten in place."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count
        self._begin = time.monotonic()
        self._width = 0

    def look(self) -> None:
        """Show the number of intervals and the time so far."""
        text = f"kadence: {self._count()} intervals, {time.monotonic() - self._begin:.0f} s"
        terminal.raw(sys.stderr).write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Erase the line."""
        if self._width:
            terminal.raw(sys.stderr).write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
