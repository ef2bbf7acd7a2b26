# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts a cluster's daemons and kills all their descendants: `python keeper.py FOLDER`.

Requests are lines of JSON on standard input, `{"words", "environment", "log"}`. The answer to each
is the process's number. Standard input ends when the process at its other end does, for any
reason. The keeper then kills every descendant and removes FOLDER. Slurm's step managers are
daemons: they leave their parent and session, and outlive the slurmd that started them. The kernel
makes this process the parent of orphans, so it misses none.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

PR_SET_CHILD_SUBREAPER = 36
# A Ctrl-C is for the tests; this process ends after them.
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def start(request: dict[str, Any]) -> int:
    """Start a process in a new session, with its output appended to a log."""
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    streams = [(os.POSIX_SPAWN_DUP2, nothing, 0)]
    streams += [(os.POSIX_SPAWN_DUP2, log, number) for number in (1, 2)]
    words = request["words"]
    try:
        return os.posix_spawnp(
            words[0],
            words,
            request["environment"],
            file_actions=streams,
            setsid=True,
            setsigdef=[signal.SIGCHLD, *IGNORED],
        )
    finally:
        os.close(log)
        os.close(nothing)


def reap(*_: object) -> None:
    """Wait for all children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def parents() -> dict[int, int]:
    """The parent of every process on the machine."""
    found = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = status.read_text().rpartition(")")[2].split()
            found[int(status.parent.name)] = int(fields[1])
    return found


def descendants(ancestor: int) -> list[int]:
    """All descendants of a process, nearest first."""
    children: dict[int, list[int]] = {}
    for process, parent in parents().items():
        children.setdefault(parent, []).append(process)
    found = list(children.get(ancestor, []))
    for process in found:
        found.extend(children.get(process, []))
    return found


def end_all() -> None:
    """Kill until no descendant is left: a killed process may just have started another."""
    while below := descendants(os.getpid()):
        for process in below:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        reap()
        time.sleep(0.005)


def main() -> None:
    """Serve until standard input ends."""
    folder = Path(sys.argv[1])
    adopt_orphans()
    signal.signal(signal.SIGCHLD, reap)
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    try:
        for line in sys.stdin:
            print(start(json.loads(line)), flush=True)
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        end_all()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
