# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver's faults in full on User-Mode Linux, and on kernels that check themselves.

The latter have two processors at once, and take a tenth of the kills and calls.

What the kernels say of others than the driver is printed, for it is not ours to mend; what names
one of the driver's functions fails the test. That the programs and the checkers find what they are
there to find is shown on drivers with mistakes that ours has not.
"""

import functools
import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base.errors import GuestError
from kadence.boot import processors, qemu
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.tree import source

pytestmark = [pytest.mark.soak, pytest.mark.kernel, pytest.mark.timeout(0)]

PROCESSORS = 2
MEMORY_MEGABYTES = 1024
LONGEST_SECONDS = 12 * 3600.0
# An emulated machine cannot measure these, so the kernel is told. Without the length of a delay,
# KCSAN never waits for a race. Without a precise clock, all timers expire at a tick. If the values
# are a little wrong, time passes a little faster.
CLOCKS = ("lpj=1500000", "tsc=reliable", "tsc_early_khz=2500000")
MEMORY_CHECKED, RACE_CHECKED = "memory-checked", "race-checked"
# The line of the log that shows a precise clock.
HAS_CLOCK = "clocksource: Switched to clocksource tsc"
# The lines that show that a checker works. For KCSAN, the planted mistakes show more.
CHECKS = {MEMORY_CHECKED: "kmemleak looked", RACE_CHECKED: "kcsan: enabled early"}

# Without the cases that count switches or ticks: checkers and a busy machine add some.
SELFTEST = "/kadapt-selftest error_ ring_ rerror_ guard_ batch_ life_"
ON_TMPFS = "/kadapt-faults -d /tmp -k @KILLS@ -f @CALLS@ -r @ROUNDS@"
ON_UM = "-k @KILLS@ -f @CALLS@ -r @ROUNDS@"
ON_UM_MEMORY = "-r @ROUNDS@ memory_"
ON_DISK = "/kadapt-faults -d /disk -k @KILLS@ kill_file full_disk short_memory closed passed many"

BEGIN = """
mount -t debugfs none /sys/kernel/debug 2>/dev/null
echo 60 > /proc/sys/kernel/hung_task_timeout_secs
"""
ON_BOTH = """
mkdir /disk
dd if=/disk.ext4 of=/dev/ram0 bs=65536 2>/dev/null
mount -t ext4 /dev/ram0 /disk || exit 90
@COMMAND@
echo "program's status $?"
"""
# kmemleak has to scan twice: memory of the first scan may still be in use.
END = """
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

# Some hundreds of drains for each way to empty a ring; some thousand closings of one.
FLIP = "/kadapt-faults -d /tmp -r 50 flip"
TOUCHED = "/kadapt-faults -d /tmp -r 50 touched"
MEMORY = "-r 500 memory_battle"
# In megabytes: one in which memory is always short, and one in which it sometimes is.
MEMORY_GUESTS = (64, 512)

# The driver's functions whose names may begin with other words than its own.
STATIC = re.compile(r"^static (?:[\w *]*\W)?(\w+)\([^;]*?\)\n\{", re.MULTILINE)
# What the kernel itself does without marks, called by us or not.
THEIRS = (
    # Of leases on two files, one asks of its own link whether it is in a list, while its neighbour
    # leaves that. It is, before and after.
    "data-race in locks_unlink_lock_ctx / locks_unlink_lock_ctx",
    # There are two copies of the clock, and who read the one that was written reads again.
    # The writer copies it, and a copy has no name in the report.
    "data-race in ktime_get_mono_fast_ns / timekeeping_update",
    "data-race in ktime_get_mono_fast_ns+",
)
# A report of a checker: KCSAN's are between lines of "=", kmemleak's end with the next one.
RACE = re.compile(r"BUG: KCSAN:.*?={20}", re.DOTALL)
LEAK = re.compile(r"unreferenced object.*?(?=unreferenced object|kmemleak looked)", re.DOTALL)
# In a stack: what an interrupt interrupted, which has no part in what the interrupt does.
INTERRUPTED = re.compile(r"(asm_(?:sysvec_|common_interrupt)\S*).*?(?=\n\s*\n)", re.DOTALL)


@dataclass(frozen=True)
class Sizes:
    """How much of each, from KADENCE_SOAK=KILLS:CALLS:ROUNDS; what is empty is in full."""

    kills: int = 10_000
    calls: int = 10_000_000
    rounds: int = 2_000

    def on_checked(self) -> "Sizes":
        """Of what a checked kernel needs more than ten times as long for."""
        return Sizes(-(-self.kills // 10), -(-self.calls // 10), -(-self.rounds // 4))

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


def run_checked(kernel: Any, script: str, files: dict[str, Path], parallel: bool = True) -> str:
    """The console of a guest of a checked kernel that came to its end."""
    machine = qemu.Machine(
        kernel.image,
        memory_megabytes=MEMORY_MEGABYTES,
        processors=PROCESSORS,
        parallel=parallel,
        kernel_arguments=CLOCKS,
        timeout_seconds=LONGEST_SECONDS,
    )
    outcome = qemu.run_script(machine, BEGIN + script + END, files)
    assert outcome.status == 0, outcome.console
    # Without them nothing races.
    assert processors.brought_up(outcome.console) == PROCESSORS, outcome.console
    assert HAS_CLOCK in outcome.console, outcome.console
    assert CHECKS[kernel.kind] in outcome.console, outcome.console
    return outcome.console


@dataclass(frozen=True)
class Soak:
    """The programs, and how they are run in a guest with two processors."""

    selftest: Path
    faults: Path
    disk: Path

    def run(self, kernel: Any, command: str) -> str:
        """The console of a guest that came to its end."""
        files = {"kadapt-selftest": self.selftest, "kadapt-faults": self.faults}
        sizes = Sizes.asked_for().on_checked()
        script = ON_BOTH.replace("@COMMAND@", sizes.put_into(command))
        return run_checked(kernel, script, {**files, "disk.ext4": self.disk})


@pytest.fixture
def soak(selftest: Path, faults: Path, empty_disk: Path) -> Soak:
    """The programs, and an empty disk."""
    return Soak(selftest, faults, empty_disk)


@pytest.fixture(scope="session", params=[MEMORY_CHECKED, RACE_CHECKED])
def checked_kernel(request: pytest.FixtureRequest) -> Any:
    """An x86_64 kernel that checks memory and locks, and one that checks for races."""
    return build(BuildRequest(kind=request.param, target="x86_64"))


@dataclass(frozen=True)
class Mistake:
    """What stands in the driver, and what would be wrong in its place; who finds it."""

    name: str
    kind: str  # of kernel
    file: str
    right: str
    wrong: str
    command: str = FLIP
    target: str = "x86_64"
    units: tuple[Path, ...] = ()
    points: bool = False  # for probes, in all functions
    overrides: tuple[tuple[str, str], ...] = ()  # symbols of the kernel
    processors: int = PROCESSORS


MISTAKES = [
    # The check is of the tail that was read first, the work by one that is read after it.
    Mistake(
        name="works by a second read",
        kind=MEMORY_CHECKED,
        file="ring/drain.c",
        right="write_until(ring, tail)",
        wrong="write_until(ring, tail_of(ring))",
    ),
    # The other way round.
    Mistake(
        name="checks a second read",
        kind=MEMORY_CHECKED,
        file="ring/drain.c",
        right="if (!is_tail(ring, tail))",
        wrong="if (!is_tail(ring, tail_of(ring)))",
    ),
    # As a compiler may read it, any number of times.
    Mistake(
        name="reads without a mark",
        kind=RACE_CHECKED,
        file="ring/drain.c",
        right="smp_load_acquire(&ring->memory.header->tail)",
        wrong="ring->memory.header->tail",
    ),
    # The worker and the program's calls change the same ring at once.
    Mistake(
        name="works without the lock",
        kind=RACE_CHECKED,
        file="ring/worker.c",
        right="kadapt_ring_lock(ring);\n\tdrain_or_unbind(ring);",
        wrong="drain_or_unbind(ring);\n\tkadapt_ring_lock(ring);",
    ),
    # What the program appends between the two is accepted, and nobody writes it.
    Mistake(
        name="drains before it closes",
        kind=MEMORY_CHECKED,
        file="ring/drain.c",
        right="kadapt_ring_close(ring);\n\terror = kadapt_ring_drain(ring);",
        wrong="error = kadapt_ring_drain(ring);\n\tkadapt_ring_close(ring);",
        command=TOUCHED,
    ),
    # The same between a look at the tail and the bit in it.
    Mistake(
        name="closes by two instructions",
        kind=RACE_CHECKED,
        file="ring/header.c",
        right="atomic64_fetch_or(KADAPT_RING_CLOSED,\n\t\t\t  (atomic64_t *)"
        "&ring->memory.header->tail);",
        wrong="ring->memory.header->tail |= KADAPT_RING_CLOSED;",
        command=TOUCHED,
    ),
]
# Memory in bulk is User-Mode Linux's alone; the case runs a minute or so in a small guest.
MEMORY_MISTAKES = [
    # What begins with zeroes is taken for what was never written, and lost.
    Mistake(
        name="looks at half a page",
        kind="generic",
        target="um",
        file="memory/takeback.c",
        right="!memchr_inv(folio_address(folio), 0, PAGE_SIZE)",
        wrong="!memchr_inv(folio_address(folio), 0, PAGE_SIZE / 2)",
        command=MEMORY,
    ),
    # All but the first page of a block hold what their last owner wrote.
    Mistake(
        name="clears a page of a block",
        kind="generic",
        target="um",
        file="memory/filling.c",
        right="um_clear_pages(page_to_phys(page), count * PAGE_SIZE)",
        wrong="um_clear_pages(page_to_phys(page), PAGE_SIZE)",
        command=MEMORY,
    ),
]


@functools.cache
def ours() -> re.Pattern[str]:
    """Finds the driver's functions in a report."""
    files = [path for path in source.driver_files().values() if path.suffix == ".c"]
    names = {name for path in files for name in STATIC.findall(path.read_text(encoding="utf-8"))}
    return re.compile(rf"kadapt_|kadence_|\b(?:{'|'.join(sorted(names))})(?:\.\w+)*\+0x")


def outcomes(console: str) -> str:
    """The lines of a report."""
    return re.sub(r"(?m)^(?!# |ok |not ok ).*\n", "", console)


def is_of_us(report: str) -> bool:
    """It names one of the driver's functions, and the fault is not known to be another's."""
    named = ours().search(INTERRUPTED.sub(r"\1", report))
    return bool(named) and not any(known in report for known in THEIRS)


def complaints_about_us(console: str) -> list[str]:
    """What the kernel says of the driver; what it says of itself is printed."""
    reports = RACE.findall(console) + LEAK.findall(console)
    ours = [report for report in reports if is_of_us(report)]
    others = Counter(report.splitlines()[0] for report in reports if report not in ours)
    for line, times in others.most_common():
        print(f"the kernel of itself, {times} times: {line}")
    return ours + [line for line in boot.complaints(console) if "KCSAN" not in line]


@pytest.mark.parametrize(
    "command", [SELFTEST, ON_TMPFS, ON_DISK], ids=["selftest", "tmpfs", "disk"]
)
def test_soak(soak: Soak, checked_kernel: Any, tap: Callable[[str], Any], command: str) -> None:
    console = soak.run(checked_kernel, command)
    report = tap(console)
    print(outcomes(console))
    assert report.failed == set(), console
    assert report.passed, console
    assert complaints_about_us(console) == [], console


def test_in_full_on_um(
    run_faults: Callable[..., str], tap: Callable[[str], Any], tmp_path: Path
) -> None:
    text = run_faults(tmp_path, Sizes.asked_for().put_into(ON_UM))
    print(outcomes(text))
    report = tap(text)
    assert report.failed == set(), text
    assert report.passed, text


def test_the_library_in_full_on_um(
    run_library_faults: Callable[..., str], tap: Callable[[str], Any], tmp_path: Path
) -> None:
    text = run_library_faults(tmp_path, Sizes.asked_for().put_into("-k @KILLS@ -r @ROUNDS@"))
    print(outcomes(text))
    report = tap(text)
    assert report.failed == report.skipped == set(), text


@pytest.mark.parametrize("megabytes", MEMORY_GUESTS)
def test_memory_in_full_on_um(
    run_faults: Callable[..., str], tap: Callable[[str], Any], tmp_path: Path, megabytes: int
) -> None:
    words = Sizes.asked_for().put_into(ON_UM_MEMORY)
    text = run_faults(tmp_path, words, memory_bytes=megabytes << 20)
    print(outcomes(text))
    assert tap(text).passed == {"memory_battle", "memory_ending", "memory_shared"}, text


@pytest.mark.parametrize(
    "mistake",
    MEMORY_MISTAKES,
    ids=[mistake.name.replace(" ", "-") for mistake in MEMORY_MISTAKES],
)
def test_a_mistake_about_memory_is_found(
    run_faults_on: Callable[..., tuple[str, list[str]]],
    mistaken_kernel: Callable[[Mistake], Any],
    tap: Callable[[str], Any],
    mistake: Mistake,
    tmp_path: Path,
) -> None:
    """What a page holds says so, not the kernel."""
    kernel = mistaken_kernel(mistake)
    size = MEMORY_GUESTS[0] << 20
    text, complaints = run_faults_on(kernel, tmp_path, mistake.command, memory_bytes=size)
    assert complaints == [], complaints
    assert tap(text).failed == {"memory_battle"}, text
    assert "holds what nobody wrote" in text, text


@pytest.mark.parametrize(
    "mistake", MISTAKES, ids=[mistake.name.replace(" ", "-") for mistake in MISTAKES]
)
def test_a_mistake_is_found(
    soak: Soak,
    mistaken_kernel: Callable[[Mistake], Any],
    tap: Callable[[str], Any],
    mistake: Mistake,
) -> None:
    kernel = mistaken_kernel(mistake)
    try:
        console = soak.run(kernel, mistake.command)
    except GuestError as error:
        # It did not outlive the mistake.
        assert boot.complaints(str(error)), str(error)
        return
    assert tap(console).failed or complaints_about_us(console), console
