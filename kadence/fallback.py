# SPDX-License-Identifier: GPL-2.0-or-later
"""Running a command on a tailored kernel, and again on the generic one if that kernel fails it."""

import fcntl
import os
import signal
import stat
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from kadence import boot
from kadence.boot.request import Request, Result
from kadence.boot.session import run
from kadence.errors import GuestError, UsageError
from kadence.kconfig import missing

# Whoever sent these wanted an end, not a second run.
WANTED_ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL}
ABOVE_STANDARD_STREAMS = 10


@dataclass(frozen=True)
class Again:
    """What it takes to run a command a second time as if the first had not been."""

    stdin: int
    stdin_offset: int | None  # None: nothing to wind back
    stdout: int
    stdout_offset: int | None

    @staticmethod
    def prepare(request: Request) -> "Again":
        """Keep the streams, or say why they can't be used twice."""
        mode = _mode(request.stdin)
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            raise UsageError(
                "--fallback may run the command twice, and what it read from a pipe is gone by "
                "then; give its standard input as a file (< FILE), or leave --fallback out"
            )
        return Again(
            stdin=_kept(request.stdin),
            stdin_offset=_offset(request.stdin),
            stdout=_kept(request.stdout),
            stdout_offset=_offset(request.stdout),
        )

    def wind_back(self, request: Request) -> Request:
        """The same request with its streams as they were at first."""
        if self.stdin_offset is not None:
            os.lseek(self.stdin, self.stdin_offset, os.SEEK_SET)
        if self.stdout_offset is not None:
            os.ftruncate(self.stdout, self.stdout_offset)
            os.lseek(self.stdout, self.stdout_offset, os.SEEK_SET)
        return replace(request, stdin=self.stdin, stdout=self.stdout)


def run_or_fall_back(request: Request, generic: Path) -> Result:
    """Run on the request's kernel; where that kernel is at fault, on the generic one."""
    again = Again.prepare(request)
    try:
        result = run(request, stand_in=True)
        fault = lacking(result)
    except GuestError as error:
        fault = str(error)
    if fault is None:
        return result
    print(f"kadence: {fault}; running again on the generic kernel", file=sys.stderr, flush=True)
    return run(replace(again.wind_back(request), image=generic), stand_in=True)


def lacking(result: boot.Result) -> str | None:
    """What the kernel lacked, in a sentence, where the command failed for that reason."""
    if result.status == 0 or result.signal in WANTED_ENDS:
        return None
    found = missing.in_log(result.log)
    return missing.sentence(found) if found else None


def _mode(descriptor: int) -> int:
    """0 for a stream that is closed."""
    try:
        return os.fstat(descriptor).st_mode
    except OSError:
        return 0


def _kept(descriptor: int) -> int:
    """A second descriptor, for the first run lets go of the streams; a closed one stays so."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, ABOVE_STANDARD_STREAMS)
    except OSError:
        return descriptor


def _offset(descriptor: int) -> int | None:
    """Where a regular file stands."""
    if not stat.S_ISREG(_mode(descriptor)):
        return None
    return os.lseek(descriptor, 0, os.SEEK_CUR)
