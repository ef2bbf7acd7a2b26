# SPDX-License-Identifier: GPL-2.0-or-later
"""kadapt.ko, built against Debian's headers, in Debian's stock kernels under QEMU."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.boot import debian, qemu

pytestmark = pytest.mark.kernel

# The module refuses a limit that makes no sense, serves the cases, is not unloaded while a
# process has a phase, and is unloaded after.
SCRIPT = """
insmod /kadapt.ko quantum_max_ns=99999 && exit 90
insmod /kadapt.ko @PARAMETERS@ || exit 91
mount -t cgroup2 none /sys/fs/cgroup
/kadapt-selftest @WORDS@
echo "selftest status $?"
[ "$(stat -c %a /dev/kadapt)" = 660 ] || exit 92
sleep 1000 < /dev/kadapt &
holder=$!
sleep 1
rmmod kadapt 2>/dev/null && exit 93
kill $holder
sleep 1
rmmod kadapt || exit 94
[ -e /dev/kadapt ] && exit 95
exit 0
"""

WITHOUT_LATENCY = "error counters slice ring guard rerror life batch"
LATE_DRAIN = "delay_owing"
# What only one of the kernels has a use for.
NEEDS_QUANTUM = {
    "error_define_erange",
    "error_enter_eopnotsupp",
    "error_limit",
    "slice_set",
    "slice_duplicate",
    "slice_child",
    "slice_threads",
    "slice_closed_by_another",
    "slice_closed_by_child",
    "slice_own_returns",
    "slice_newer_stays",
    "slice_policy_change",
    "slice_fifo_meanwhile",
    "slice_exec",
}


def boot_with_module(
    release: str,
    module: Path,
    selftest: Path,
    words: str,
    parameters: str = "",
    processors: int = 1,
) -> str:
    """The console of a guest that ran the script to its good end."""
    script = SCRIPT.replace("@WORDS@", words).replace("@PARAMETERS@", parameters)
    machine = qemu.Machine(
        debian.kernel_image(release),
        processors=processors,
        kernel_arguments=["quiet"],
        timeout_seconds=3000,
    )
    outcome = qemu.run_script(machine, script, {"kadapt.ko": module, "kadapt-selftest": selftest})
    assert outcome.status == 0, outcome.console
    assert boot.complaints(outcome.console) == [], outcome.console
    return outcome.console


def test_per_cpu_data_have_no_pointers(kadapt_module: Callable[[str], Path]) -> None:
    """Kernels before 6.15 do not relocate them in modules: they would be NULL."""
    module = kadapt_module(debian.newest_release("6.12"))
    told = subprocess.run(["readelf", "-SW", module], capture_output=True, text=True, check=True)
    assert ".rela.text" in told.stdout
    assert ".rela.data..percpu" not in told.stdout


def test_a_late_drain_ends_quanta(kadapt_module: Callable[[str], Path], selftest: Path) -> None:
    """The kernel survives. An emulated processor may be slower than the case allows."""
    release = debian.newest_release("6.12")
    console = boot_with_module(release, kadapt_module(release), selftest, LATE_DRAIN)
    assert f"- {LATE_DRAIN}" in console


def test_module_in_debians_reference_kernel(
    kadapt_module: Callable[[str], Path], selftest: Path, tap: Callable[[str], Any]
) -> None:
    release = debian.newest_release("6.12")
    console = boot_with_module(release, kadapt_module(release), selftest, WITHOUT_LATENCY)
    report = tap(console)
    assert report.failed == set(), console
    unsupported = {"error_quantum_eopnotsupp", "error_rings_eopnotsupp"}
    assert report.skipped == unsupported | {"error_enomem"}, console


@pytest.mark.full
def test_module_with_two_processors(
    kadapt_module: Callable[[str], Path], selftest: Path, tap: Callable[[str], Any]
) -> None:
    """The same promises where what the kernel does for a ring may run beside the program."""
    release = debian.newest_release("6.12")
    module = kadapt_module(release)
    console = boot_with_module(release, module, selftest, WITHOUT_LATENCY, processors=2)
    report = tap(console)
    assert report.failed == set(), console
    unsupported = {"error_quantum_eopnotsupp", "error_rings_eopnotsupp"}
    assert report.skipped == unsupported | {"error_enomem"}, console


def test_quantum_is_unsupported_before_it_exists(
    kadapt_module: Callable[[str], Path], selftest: Path, tap: Callable[[str], Any]
) -> None:
    release = debian.newest_release("6.1")
    console = boot_with_module(release, kadapt_module(release), selftest, WITHOUT_LATENCY)
    report = tap(console)
    assert report.failed == set(), console
    assert report.skipped == NEEDS_QUANTUM | {"error_enomem"}, console
    assert {"error_quantum_eopnotsupp", "error_rings_eopnotsupp"} <= report.passed


@pytest.mark.full
def test_latencies_in_debians_reference_kernel(
    kadapt_module: Callable[[str], Path], selftest: Path, tap: Callable[[str], Any]
) -> None:
    release = debian.newest_release("6.12")
    console = boot_with_module(
        release, kadapt_module(release), selftest, "latency", "quantum_max_ns=10000000000"
    )
    report = tap(console)
    assert report.failed == set(), console
    assert report.skipped == set(), console
