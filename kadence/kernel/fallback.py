# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command on a tailored kernel, and again on the generic one if the tailored one fails."""

import fcntl
import os
import signal
import stat
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from kadence import boot
from kadence.base.errors import GuestError, UsageError
from kadence.boot.request import Request, Result
from kadence.boot.session import run
from kadence.kconfig.configuration import missing

# The sender of one of these signals wanted the command to end, not to run again.
WANTED_ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL}
ABOVE_STANDARD_STREAMS = 10


@dataclass(frozen=True)
class Again:
    """The state that a second run of a command needs to start as the first run did."""

    stdin: int
    stdin_offset: int | None  # None: cannot be rewound
    stdout: int
    stdout_offset: int | None

    @staticmethod
    def prepare(request: Request) -> "Again":
        """Duplicate the streams; raise UsageError if they cannot be used twice."""
        mode = _mode(request.stdin)
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            raise UsageError(
                "--fallback may run the command twice, but a pipe can be read only once; give "
                "its standard input as a file (< FILE), or leave --fallback out"
            )
        return Again(
            stdin=_kept(request.stdin),
            stdin_offset=_offset(request.stdin),
            stdout=_kept(request.stdout),
            stdout_offset=_offset(request.stdout),
        )

    def wind_back(self, request: Request) -> Request:
        """Return the same request with its streams at their original positions."""
        if self.stdin_offset is not None:
            os.lseek(self.stdin, self.stdin_offset, os.SEEK_SET)
        if self.stdout_offset is not None:
            os.ftruncate(self.stdout, self.stdout_offset)
            os.lseek(self.stdout, self.stdout_offset, os.SEEK_SET)
        return replace(request, stdin=self.stdin, stdout=self.stdout)


def run_or_fall_back(request: Request, generic: Path) -> Result:
    """Run on the request's kernel; if that kernel is at fault, run again on the generic one."""
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
    """A sentence on what the kernel lacked; None unless the command failed for that reason."""
    if result.status == 0 or result.signal in WANTED_ENDS:
        return None
    found = missing.in_log(result.log)
    return missing.sentence(found) if found else None


def _mode(descriptor: int) -> int:
    """The mode of a stream; 0 if it is closed."""
    try:
        return os.fstat(descriptor).st_mode
    except OSError:
        return 0


def _kept(descriptor: int) -> int:
    """Duplicate a descriptor, because the first run closes it; leave a closed one as it is."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, ABOVE_STANDARD_STREAMS)
    except OSError:
        return descriptor


def _offset(descriptor: int) -> int | None:
    """The position in a regular file; None for any other stream."""
    if not stat.S_ISREG(_mode(descriptor)):
        return None
    return os.lseek(descriptor, 0, os.SEEK_CUR)
