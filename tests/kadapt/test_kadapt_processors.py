# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver in an x86_64 guest with two processors: its promises, rings and quanta at once."""

import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.boot import processors, qemu

pytestmark = [pytest.mark.kernel, pytest.mark.full]

PROCESSORS = 2
MEMORY_BYTES = 512 << 20
FILES = ("first", "second", "shared")
# As in threads/threads.c: what two threads write in 20 rounds, each alone and both in turns.
RECORDS = 20 * (2 * 500 + 50)
# Cases that are about something this kernel hasn't got, or has for everyone.
NOT_HERE = {
    "error_quantum_eopnotsupp",  # it has the quantum
    "error_enomem",  # no fault injection in an ordinary kernel
    "error_rings_eopnotsupp",  # it has rings
    "rerror_seccomp",  # it filters no calls
    *(
        "guard_aio",
        "guard_io_uring",
        "guard_io_uring_at",
        "guard_io_uring_sync",
        "guard_io_uring_splice",
        "rerror_io_uring",
    ),  # nor has it these
}
# All but the latencies, which are about one processor's time.
WORDS = "error counters slice ring rerror life batch guard"
SCRIPT = """
mount -t tmpfs none /mnt || exit 89
KADAPT_COUNTERS=counters @PROGRAM@ /mnt || exit 90
cp /mnt/* .
"""


def run_in_guest(kernel: Any, folder: Path, *argv: str) -> str:
    """The output; both processors must be there, and the log clean."""
    with tempfile.TemporaryFile() as output:
        request = boot.Request(
            image=kernel.image,
            argv=argv,
            target="x86_64",
            processors=PROCESSORS,
            directory=folder,
            stdout=output.fileno(),
            stderr=output.fileno(),
            memory_bytes=MEMORY_BYTES,
            hang_timeout_seconds=600.0,
        )
        result = boot.run(request)
        output.seek(0)
        text = output.read().decode()
    assert boot.complaints(result.log) == [], result.log
    assert (result.status, result.processors) == (0, PROCESSORS), text
    return text


def test_driver_keeps_the_promises_of_its_header(
    sockets_kernel_x86_64: Any, selftest: Path, tap: Callable[[str], Any]
) -> None:
    """On file systems of the guest's own: on the host's, nothing can be bound."""
    machine = qemu.Machine(sockets_kernel_x86_64.image, processors=PROCESSORS, timeout_seconds=3000)
    outcome = qemu.run_script(machine, f"/kadapt-selftest {WORDS}", {"kadapt-selftest": selftest})
    assert boot.complaints(outcome.console) == [], outcome.console
    assert processors.brought_up(outcome.console) == PROCESSORS, outcome.console
    report = tap(outcome.console)
    assert report.failed == set(), outcome.console
    assert report.skipped == NOT_HERE, outcome.console


# All but what needs a finer timer than this kernel's, to jump or fork anywhere in a record, and
# filters and the loopback, which it has not.
LIBRARY_WORDS = (
    *("burst_binds", "burst_many", "burst_next", "burst_pieces", "burst_read_back"),
    *("burst_refused", "life", "midst", "step", "thread", "order", "flush", "end"),
    *("process_forks", "process_line", "process_together", "process_vfork", "process_clone"),
    *("process_commands", "process_midst"),
    *("batch_files", "batch_limit", "batch_pipes", "batch_datagrams", "batch_errors"),
)


def test_library_writes_through_rings(
    sockets_kernel_x86_64: Any, static_io_selftest: Path, tap: Callable[[str], Any]
) -> None:
    machine = qemu.Machine(sockets_kernel_x86_64.image, processors=PROCESSORS, timeout_seconds=3000)
    command = " ".join(["/io-selftest", *LIBRARY_WORDS])
    outcome = qemu.run_script(machine, command, {"io-selftest": static_io_selftest})
    assert boot.complaints(outcome.console) == [], outcome.console
    report = tap(outcome.console)
    assert report.failed == report.skipped == set(), outcome.console


def test_two_threads_leave_what_they_leave_on_this_machine(
    sockets_kernel_x86_64: Any, threads: tuple[Path, Path], tmp_path: Path
) -> None:
    """Rings of two threads, one ring of both, long quanta: the same bytes."""
    plain, adapted = threads
    here, guest = tmp_path / "here", tmp_path / "guest"
    here.mkdir()
    guest.mkdir()
    subprocess.run([plain, here], check=True)
    run_in_guest(
        sockets_kernel_x86_64, guest, "sh", "-c", SCRIPT.replace("@PROGRAM@", str(adapted))
    )
    for name in FILES:
        assert (guest / name).read_bytes() == (here / name).read_bytes(), name
    counters = json.loads((guest / "counters").read_text())
    assert counters["io"]["appends"] > RECORDS // 2, counters
    entries = {phase["phase"]: phase["entries"] for phase in counters["phases"]}
    assert entries == {0: 40, 1: 40}, counters
