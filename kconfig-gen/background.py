# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel that is built beside other work, by a process of its own with a lower priority.

Once somebody waits for it, it gets the priority of who does.

It ends with the process that began it, however that ends: what is interrupted clears up after
itself, as an interrupted `kadence kernel build` does.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO

from kadence.errors import BuildError
from kadence.kconfig import build, identity, progress, store
from kadence.kconfig.identity import Inputs
from kadence.kconfig.request import BuildRequest
from kadence.kconfig.store import Kernel

# Enough to leave nine tenths of a processor to whoever else wants it.
NICENESS = "10"
COMPLAINT = "kadence: "
SECONDS_TO_CLEAR_UP = 20
IN_THE_CHILD = "from kadence.kconfig import background; background.in_the_child()"


class Background:
    """A build under way, or one that there is no need for."""

    def __init__(self, inputs: Inputs, process: "subprocess.Popen[bytes] | None", said: IO[bytes]):
        self.inputs = inputs
        self._process = process
        self._said = said

    def kernel(self) -> Kernel:
        """Wait for the kernel; this is where a failure is told."""
        process = self._process
        if process is not None:
            _hurry(process.pid, os.getpriority(os.PRIO_PROCESS, 0))
            title = build.title(self.inputs)
            progress.follow(title, build.note(self.inputs), lambda: process.poll() is not None)
            self._tell_failure(process.returncode)
        # There already, unless somebody killed the process that was to build it.
        return build.build_inputs(self.inputs)

    def _tell_failure(self, status: int) -> None:
        """Its sentence is ours, where it had the time to say one."""
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").splitlines()
        if status > 0 and lines and lines[-1].startswith(COMPLAINT):
            raise BuildError(lines[-1].removeprefix(COMPLAINT))


@contextmanager
def building(request: BuildRequest) -> Iterator[Background]:
    """Begin to build; what is not finished when the context ends is given up."""
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


def in_the_child() -> None:
    """`kadence kernel build …`, interrupted once at most.

    A parent with several threads dies thread by thread, and the signal comes with each: the second
    would interrupt the clearing up that the first began.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    # Here, because the command imports this module too.
    from kadence.cli import main

    sys.exit(main())


def _start(request: BuildRequest, said: IO[bytes]) -> "subprocess.Popen[bytes]":
    """In a group of its own, so that Ctrl-C reaches it once, and from us."""
    # Whoever started us may ignore interrupts (nohup), and children inherit that.
    ending = ["setpriv", "--pdeathsig", "INT", "env", "--default-signal=INT"]
    kadence = [sys.executable, "-P", "-c", IN_THE_CHILD, *request.command()[1:]]
    return subprocess.Popen(
        [*ending, "nice", "-n", NICENESS, *kadence],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=said,
        process_group=0,
    )


def _hurry(process: int, niceness: int) -> None:
    """Give a process and all below it our own priority, now that we wait for it.

    Who is neither root nor allowed to by RLIMIT_NICE waits for it as it is. What is forked
    meanwhile inherits the new priority, for its parent has it before its children are looked for.
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
        # Its make has a group of its own, and is told by the kernel.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
