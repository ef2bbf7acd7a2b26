# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a kernel beside other work, in a separate process with a lower priority.

Once the parent process waits for the kernel, the build gets the parent's priority.

The build ends with its parent, however the parent ends. The interrupted build clears up after
itself, as an interrupted `kadence kernel build` does.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO

from kadence.base.errors import BuildError
from kadence.kconfig.configuration import identity
from kadence.kconfig.configuration.identity import Inputs
from kadence.kconfig.request.request import BuildRequest
from kadence.kconfig.store import build, store
from kadence.kconfig.store.store import Kernel
from kadence.kconfig.tree import progress

# Leaves nine tenths of a processor to other processes that want it.
NICENESS = 10
COMPLAINT = "kadence: "
SECONDS_TO_CLEAR_UP = 20
# The command imports this module. So its main() comes in here by name.
IN_THE_CHILD = (
    "from kadence.cli import main; from kadence.kconfig.store import background; "
    "background.in_the_child(main)"
)


class Background:
    """A running build, or a kernel that is already in the store."""

    def __init__(self, inputs: Inputs, process: "subprocess.Popen[bytes] | None", said: IO[bytes]):
        self.inputs = inputs
        self._process = process
        self._said = said

    def kernel(self) -> Kernel:
        """Wait for the kernel and return it; raise BuildError if its build failed."""
        process = self._process
        if process is not None:
            _hurry(process.pid, os.getpriority(os.PRIO_PROCESS, 0))
            title = build.title(self.inputs)
            progress.follow(title, build.note(self.inputs), lambda: process.poll() is not None)
            self._tell_failure(process.returncode)
        # The store has the kernel, unless somebody killed the process that built it.
        return build.build_inputs(self.inputs)

    def _tell_failure(self, status: int) -> None:
        """Raise the child's error message as our own, if the child printed one before it ended."""
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").splitlines()
        if status > 0 and lines and lines[-1].startswith(COMPLAINT):
            raise BuildError(lines[-1].removeprefix(COMPLAINT))


@contextmanager
def building(request: BuildRequest) -> Iterator[Background]:
    """Start a build; stop it if it is not finished when the context ends."""
    inputs = identity.gather(request)
    with tempfile.TemporaryFile() as said:
        if store.is_whole(inputs.id):
            yield Background(inputs, None, said)
            return
        process = _start(request, said)
        try:
            yield Background(inputs, process, said)
        finally:
            _stop(process)


def in_the_child(main: Callable[[], int]) -> None:
    """Run `kadence kernel build …`, which takes at most one interrupt.

    A parent with several threads dies thread by thread and sends the signal for each thread. A
    second signal would interrupt the clearing up that the first one started.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    sys.exit(main())


def _start(request: BuildRequest, said: IO[bytes]) -> "subprocess.Popen[bytes]":
    """Start the build in its own process group, so that only this process interrupts it."""
    # If our parent ignores interrupts (nohup), children inherit that.
    ending = ["setpriv", "--pdeathsig", "INT", "env", "--default-signal=INT"]
    kadence = [sys.executable, "-P", "-c", IN_THE_CHILD, *request.command()[1:]]
    process = subprocess.Popen(
        [*ending, *kadence],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=said,
        process_group=0,
    )
    # The child forks nothing before Python has started in it, and must not lower its own
    # priority: it would do so after _hurry(), if we need the kernel at once.
    os.setpriority(os.PRIO_PROCESS, process.pid, os.nice(0) + NICENESS)
    return process


def _hurry(process: int, niceness: int) -> None:
    """Give a process and all its descendants our own priority, now that we wait for them.

    If we are neither root nor allowed to by RLIMIT_NICE, their priority stays. A child forked
    meanwhile inherits the new priority, because its parent gets it before we list the children.
    """
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process, niceness)
        children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
        for child in children.split():
            _hurry(int(child), niceness)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(SECONDS_TO_CLEAR_UP)
    except subprocess.TimeoutExpired:
        # Its make has its own group; the kernel signals it (setpriv in commands.py).
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
