# SPDX-License-Identifier: GPL-2.0-or-later
"""kadence/usage ends what it runs when its caller dies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from patience import PATIENCE_SECONDS

from kadence.base import resources

# A caller that starts a program by `usage`, tells both numbers, and waits.
CALLER = """
import subprocess, sys, time
usage, report = sys.argv[1:]
with open(report, "wb") as file:
    started = subprocess.Popen(
        [usage, str(file.fileno()), "sh", "-c", "echo $$; exec sleep 1000"],
        pass_fds=[file.fileno()],
        start_new_session=True,
    )
    started.wait()
"""


def is_there(process: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_program_ends_when_its_caller_is_killed(tmp_path: Path) -> None:
    usage = str(resources.built("kadence/usage"))
    with subprocess.Popen(
        [sys.executable, "-c", CALLER, usage, str(tmp_path / "report")],
        stdout=subprocess.PIPE,
        text=True,
    ) as caller:
        assert caller.stdout is not None
        program = int(caller.stdout.readline())
        assert is_there(program)
        os.kill(caller.pid, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while is_there(program):
        assert time.monotonic() < deadline
        time.sleep(0.01)
