# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver inside User-Mode Linux: every errno, every promise of undo, latencies in ticks."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.kconfig.build import BuildRequest, build

pytestmark = pytest.mark.kernel

# Cases that are about something this kernel hasn't got, or has for everyone.
NOT_HERE = {
    "error_quantum_eopnotsupp",  # it has the quantum
    "error_eacces",  # the guest belongs to one user
    "error_enomem",  # no fault injection in an ordinary kernel
    "error_rings_eopnotsupp",  # it has rings
}
# Errors about the quantum that a kernel without it does not look for.
ABOUT_QUANTUM = {"error_define_erange", "error_enter_eopnotsupp", "error_limit"}


def run_in_guest(kernel: Any, program: Path, *words: str) -> str:
    """The program's output; the guest's log must be clean."""
    with tempfile.TemporaryFile() as output:
        request = boot.Request(
            image=kernel.image,
            argv=[str(program), *words],
            stdout=output.fileno(),
            hang_timeout_seconds=600.0,
        )
        result = boot.run(request)
        output.seek(0)
        text = output.read().decode()
    assert boot.complaints(result.log) == [], result.log
    return text


def test_driver_keeps_the_promises_of_its_header(
    generic_kernel: Any, selftest: Path, tap: Callable[[str], Any]
) -> None:
    text = run_in_guest(generic_kernel, selftest)
    report = tap(text)
    assert report.failed == set(), text
    assert report.skipped == NOT_HERE, text


@pytest.mark.full
def test_older_series_keeps_them_without_the_quantum(
    selftest: Path, tap: Callable[[str], Any]
) -> None:
    text = run_in_guest(build(BuildRequest(series="6.1")), selftest)
    report = tap(text)
    assert report.failed == set(), text
    unsupported = {"error_quantum_eopnotsupp", "error_rings_eopnotsupp"}
    assert unsupported <= report.passed, text
    others = {name for name in report.skipped if not name.startswith(("slice_", "latency_"))}
    assert others == ABOUT_QUANTUM | NOT_HERE - unsupported, text


def test_library_enters_phases(
    generic_kernel: Any, library_selftest: Path, tap: Callable[[str], Any]
) -> None:
    text = run_in_guest(generic_kernel, library_selftest, "adapted")
    report = tap(text)
    assert report.failed == set(), text
    assert report.skipped == set(), text
