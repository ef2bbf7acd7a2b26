# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs whose needs are known by construction, traced on the real traced kernel."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.kconfig.trace import artefact
from kadence.kconfig.trace.symbols import PROGRAM

pytestmark = [pytest.mark.kernel, pytest.mark.full]

MESSAGE_QUEUE = """\
#include <mqueue.h>
#include <fcntl.h>
#include <stdio.h>

int main(void)
{
	struct mq_attr attributes = { .mq_maxmsg = 2, .mq_msgsize = 8 };
	char text[8] = "seven!!";
	mqd_t queue = mq_open("/kadence", O_CREAT | O_RDWR, 0600, &attributes);

	if (queue < 0 || mq_send(queue, text, 8, 0) || mq_receive(queue, text, 8, NULL) != 8)
		return 1;
	mq_unlink("/kadence");
	puts(text);
	return 0;
}
"""


@pytest.fixture
def traced(kadence: Callable[..., Any], tmp_path: Path) -> Callable[..., artefact.Trace]:
    """Trace a command with `kadence kernel trace`; it must print the same as without."""

    def trace(*argv: str) -> artefact.Trace:
        output = tmp_path / "p.ktrace.json"
        words = ["kernel", "trace", "-o", output, "--", *argv]
        done = kadence(*words, cwd=tmp_path, timeout=3600)
        assert done.returncode == 0, done.stderr
        here = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == here.stdout
        return artefact.read(output)

    return trace


def needed(trace: artefact.Trace) -> set[str]:
    return {symbol.symbol for symbol in trace.symbols if symbol.ran == PROGRAM}


def test_a_program_that_computes_needs_no_feature_that_has_calls(
    traced: Callable[..., artefact.Trace], root: Path
) -> None:
    heat = root / "build/examples/heat/heat"
    found = traced(str(heat), "-s", "20", "-e", "5")
    features = {"INET", "IPV6", "UNIX", "SYSVIPC", "POSIX_MQUEUE", "BPF_SYSCALL", "KEYS"}
    assert needed(found).isdisjoint(features | {"USERFAULTFD", "SECURITY_LANDLOCK", "9P_FS"})
    assert found.observed.socket_families == []


def test_a_program_that_sends_needs_what_it_sends_with(
    traced: Callable[..., artefact.Trace], root: Path
) -> None:
    found = traced(str(root / "build/examples/ring/ring"), "3", "5", "7", "1000")
    assert "INET" in needed(found)
    assert needed(found).isdisjoint({"IPV6", "UNIX", "SYSVIPC", "POSIX_MQUEUE"})
    assert found.observed.socket_families == [2]
    assert {"socket", "sendto", "recvfrom", "clone3"} <= set(found.observed.system_calls)


def test_message_queues_and_files_of_proc_are_seen(
    traced: Callable[..., artefact.Trace], tmp_path: Path
) -> None:
    (tmp_path / "queue.c").write_text(MESSAGE_QUEUE)
    subprocess.run(["gcc-12", "-o", "queue", "queue.c"], cwd=tmp_path, check=True)
    found = traced("sh", "-c", "./queue; head -c 8 /proc/self/pagemap > /dev/null")
    assert {"POSIX_MQUEUE", "PROC_PAGE_MONITOR"} <= needed(found)
    assert "SYSVIPC" not in needed(found)
    assert "/proc/PID/pagemap" in found.observed.paths
