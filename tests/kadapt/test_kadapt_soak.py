# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver's faults in full, on two processors at once, on kernels that check themselves.

What the kernels say of others than the driver is printed, for it is not ours to mend; what names
one of the driver's functions fails the test. That the hostile program finds what it is there to
find is shown on a driver that reads a tail twice.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.boot import qemu
from kadence.errors import GuestError
from kadence.kconfig import source
from kadence.kconfig.build import BuildRequest, build

pytestmark = [pytest.mark.soak, pytest.mark.kernel, pytest.mark.timeout(0)]

PROCESSORS = 2
MEMORY_MEGABYTES = 1024
LONGEST_SECONDS = 12 * 3600.0
MEMORY_CHECKED, RACE_CHECKED = "memory-checked", "race-checked"
# What shows that a checker did check.
CHECKS = {MEMORY_CHECKED: "kmemleak looked", RACE_CHECKED: "kcsan: enabled early"}

# Without what counts switches or ticks, which the checkers add to.
SELFTEST = "/kadapt-selftest error_ ring_ batch_ life_"
ON_TMPFS = "/kadapt-faults -d /tmp -k @KILLS@ -f @CALLS@ -r @ROUNDS@"
ON_DISK = "/kadapt-faults -d /disk -k @KILLS@ kill_file full_disk short_memory closed passed many"
HOSTILE = "/kadapt-faults -d /tmp -r @ROUNDS@ hostile"

# A leak shows when it was looked for twice: what is found at once may only be under way.
SCRIPT = """
mount -t debugfs none /sys/kernel/debug 2>/dev/null
echo 60 > /proc/sys/kernel/hung_task_timeout_secs
mkdir /disk
dd if=/disk.ext4 of=/dev/ram0 bs=65536 2>/dev/null
mount -t ext4 /dev/ram0 /disk || exit 90
@COMMAND@
echo "program's status $?"
if [ -e /sys/kernel/debug/kmemleak ]; then
    for look in first second; do
        echo scan > /sys/kernel/debug/kmemleak
        sleep 6
    done
    cat /sys/kernel/debug/kmemleak
    echo "kmemleak looked"
fi
exit 0
"""

# The check is of the tail that was read first, the work by one that is read after it.
ONE_READ = "write_until(path, tail)"
TWO_READS = "write_until(path, READ_ONCE(path->memory.header->tail))"

OURS = re.compile(r"kadapt_")
# A report of a checker: KCSAN's are between lines of "=", kmemleak's end with the next one.
RACE = re.compile(r"BUG: KCSAN:.*?={20}", re.DOTALL)
LEAK = re.compile(r"unreferenced object.*?(?=unreferenced object|kmemleak looked)", re.DOTALL)


@dataclass(frozen=True)
class Sizes:
    """How much of each, from KADENCE_SOAK=KILLS:CALLS:ROUNDS; what is empty is in full."""

    kills: int = 10_000
    calls: int = 10_000_000
    rounds: int = 2_000

    @classmethod
    def asked_for(cls) -> "Sizes":
        words = [*os.environ.get("KADENCE_SOAK", "").split(":"), "", ""][:3]
        full = (cls.kills, cls.calls, cls.rounds)
        return cls(*(int(word or most) for word, most in zip(words, full, strict=True)))

    def put_into(self, command: str) -> str:
        """The command with its sizes."""
        for name, value in vars(self).items():
            command = command.replace(f"@{name.upper()}@", str(value))
        return command


@dataclass(frozen=True)
class Soak:
    """The programs, and how they are run in a guest with two processors."""

    selftest: Path
    faults: Path
    disk: Path

    def run(self, kernel: Any, command: str) -> str:
        """The console of a guest that came to its end."""
        machine = qemu.Machine(
            kernel.image,
            memory_megabytes=MEMORY_MEGABYTES,
            processors=PROCESSORS,
            timeout_seconds=LONGEST_SECONDS,
        )
        files = {"kadapt-selftest": self.selftest, "kadapt-faults": self.faults}
        script = SCRIPT.replace("@COMMAND@", Sizes.asked_for().put_into(command))
        outcome = qemu.run_script(machine, script, {**files, "disk.ext4": self.disk})
        assert outcome.status == 0, outcome.console
        assert CHECKS[kernel.kind] in outcome.console, outcome.console
        return outcome.console


@pytest.fixture
def soak(selftest: Path, faults: Path, empty_disk: Path) -> Soak:
    """The programs, and an empty disk."""
    return Soak(selftest, faults, empty_disk)


@pytest.fixture(scope="session", params=[MEMORY_CHECKED, RACE_CHECKED])
def checked_kernel(request: pytest.FixtureRequest) -> Any:
    """An x86_64 kernel that checks memory and locks, and one that checks for races."""
    return build(BuildRequest(kind=request.param, target="x86_64"))


@pytest.fixture
def kernel_with_two_reads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A memory-checked kernel whose driver has a mistake that the driver has not."""
    files = dict(source.driver_files())
    text = files["drain.c"].read_text(encoding="utf-8")
    assert text.count(ONE_READ) == 1, "the driver is another: plant the mistake where it is now"
    planted = tmp_path / "drain.c"
    planted.write_text(text.replace(ONE_READ, TWO_READS), encoding="utf-8")
    monkeypatch.setattr(source, "driver_files", lambda: files | {"drain.c": planted})
    return build(BuildRequest(kind=MEMORY_CHECKED, target="x86_64"))


def complaints_about_us(console: str) -> list[str]:
    """What the kernel says of the driver; what it says of itself is printed."""
    reports = RACE.findall(console) + LEAK.findall(console)
    for report in reports:
        if not OURS.search(report):
            print(f"the kernel of itself: {report.splitlines()[0]}")
    others = [line for line in boot.complaints(console) if "KCSAN" not in line]
    return [report for report in reports if OURS.search(report)] + others


@pytest.mark.parametrize(
    "command", [SELFTEST, ON_TMPFS, ON_DISK], ids=["selftest", "tmpfs", "disk"]
)
def test_soak(soak: Soak, checked_kernel: Any, tap: Callable[[str], Any], command: str) -> None:
    console = soak.run(checked_kernel, command)
    report = tap(console)
    print(re.sub(r"(?m)^(?!# |ok |not ok ).*\n", "", console))
    assert report.failed == set(), console
    assert report.passed, console
    assert complaints_about_us(console) == [], console


def test_a_tail_that_is_read_twice_is_found(soak: Soak, kernel_with_two_reads: Any) -> None:
    try:
        said = soak.run(kernel_with_two_reads, HOSTILE)
    except GuestError as error:
        said = str(error)
    assert boot.complaints(said), said
