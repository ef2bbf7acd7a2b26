# SPDX-License-Identifier: GPL-2.0-or-later
"""What a unit can do in Debian's kernel: points in loops that never end, shadows, callers."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from test_kadapt_live import HERE
from test_kadapt_live_document import in_guest

from kadence.boot import debian
from kadence.live.build import build

pytestmark = pytest.mark.kernel

# What a program has to take before the kernel is short of memory.
MEMORY_BYTES = 512 << 20

# A task that sleeps in schedule() keeps the unit that is on its stack, and not the other one.
SLEEPS = """
insmod @DRIVER@ || exit 90
mkfifo @FOLDER@/lines
for unit in waits holds; do
	insmod $unit.ko || exit 91
	@SLEEPER@ $unit <@FOLDER@/lines &
	exec 3>@FOLDER@/lines
	sleep 0.5
	[ $unit = holds ] || @KADENCE@ live status
	echo 0 >/sys/kernel/kadapt/units/$unit/installed
	echo "$unit: $?"
	exec 3>&-
	wait
	[ ! -e /sys/kernel/kadapt/units/$unit ] || echo 0 >/sys/kernel/kadapt/units/$unit/installed
	rmmod $unit || exit 92
done
"""

# A live patch is used when all tasks have changed, and can go when all have changed back.
EVERYBODY = """
await() {
	for turn in $(seq 100); do
		[ "$(cat /sys/kernel/livepatch/$1/transition 2>/dev/null)" = 1 ] || return 0
		sleep 0.1
	done
	return 1
}
remove() {
	echo 0 >/sys/kernel/livepatch/$1/enabled && await $1 && rmmod $1
}
"""

# A program takes most of the memory, of which the kernel is told to keep a third free.
LOOPS = f"""
{EVERYBODY}
echo 3000 >/proc/sys/vm/watermark_scale_factor
insmod loops.ko && await loops || exit 91
@KADENCE@ live status
cd /sys/module/loops/parameters
idles=$(cat idles)
megabytes=$(($(sed -n 's/^MemFree: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo) * 8 / 10240))
head -c ${{megabytes}}M /dev/zero | tail -c ${{megabytes}}M >/dev/null
sleep 0.5
[ "$(cat reclaims)" -gt 0 ] && echo kswapd
[ "$(cat idles)" -gt "$idles" ] && echo idle
cd @FOLDER@
remove loops || exit 92
"""

SHADOWS = """
insmod @DRIVER@ || exit 90
insmod tallies.ko || exit 91
mkfifo @FOLDER@/lines
has() { for turn in $(seq 100); do [ $(wc -l <calls) -ge $1 ] && return; sleep 0.1; done; }
@TALLY@ <@FOLDER@/lines >calls &
exec 3>@FOLDER@/lines
has 2
echo >&3
has 3
# A unit stays while a task is inside, as on a busy machine.
gone() { for turn in $(seq 100); do echo 0 >$1 && return; sleep 0.1; done; return 1; }
gone /sys/kernel/kadapt/units/tallies/installed || exit 92
rmmod tallies || exit 93
insmod tallies.ko || exit 94
echo >&3
has 4
exec 3>&-
wait
cat calls
"""

WHOSE = f"""
{EVERYBODY}
mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
mkdir /sys/fs/cgroup/job || exit 90
@KADENCE@ live install whose.ko user=1000 group=$(stat -c %i /sys/fs/cgroup/job) || exit 91
ask() {{ echo "$1: $(shift; "$@")"; }}
ask root @ONCE@
ask user setpriv --reuid 1000 @ONCE@
ask another setpriv --reuid 1001 @ONCE@
mkdir /sys/fs/cgroup/job/step
ask group sh -c 'echo $$ >/sys/fs/cgroup/job/step/cgroup.procs; exec @ONCE@'
remove whose || exit 92
ask removed setpriv --reuid 1000 @ONCE@
"""

# A unit for phases and one for everybody, in both orders.
TWICE = f"""
{EVERYBODY}
insmod @DRIVER@ || exit 90
insmod answer.ko || exit 91
insmod whose.ko && exit 92
echo 0 >/sys/kernel/kadapt/units/answer/installed && rmmod answer || exit 93
insmod whose.ko && await whose || exit 94
insmod answer.ko && exit 95
remove whose || exit 96
dmesg | grep 'another unit or a live patch'
"""


@pytest.fixture
def said(root: Path, tmp_path: Path) -> Callable[..., str]:
    """Runs a script in a guest with these units, and gives what the script printed."""

    def run(script: str, *units: str, **values: object) -> str:
        for unit in units:
            module = tmp_path / f"{unit}.ko"
            build(HERE / f"{unit}.c", debian.newest_release("6.12")).write(module)
        command = [str(root / ".venv/bin/python"), "-m", "kadence.cli"]
        values |= {"FOLDER": tmp_path, "KADENCE": shlex.join(command)}
        text = re.sub(r"@(\w+)@", lambda found: str(values[found.group(1)]), script)
        return in_guest(text, tmp_path, memory_bytes=MEMORY_BYTES)

    return run


@pytest.fixture(scope="session")
def driver(kadapt_module: Callable[[str], Path]) -> Path:
    """kadapt.ko for the reference kernel; units are built against it."""
    return kadapt_module(debian.newest_release("6.12"))


def test_sleeper_keeps_only_what_is_on_its_stack(
    said: Callable[..., str], driver: Path, guest_program: Callable[[Path], Path]
) -> None:
    sleeper = guest_program(HERE / "sleeper.c")
    text = said(SLEEPS, "waits", "holds", DRIVER=driver, SLEEPER=sleeper)
    assert re.search(r"^waits +taken by task \d+ \(sleeper\)$", text, re.MULTILINE), text
    assert "waits: 0\n" in text, text
    assert re.search(r"^holds: [12]$", text, re.MULTILINE), text


def test_loops_that_never_end_get_points(said: Callable[..., str]) -> None:
    text = said(LOOPS, "loops")
    assert re.search(r"^loops +taken by everybody$", text, re.MULTILINE), text
    assert "kswapd\nidle\n" in text, text


def test_shadows_go_with_their_unit(
    said: Callable[..., str], driver: Path, guest_program: Callable[[Path], Path]
) -> None:
    tally = guest_program(HERE / "tally.c")
    text = said(SHADOWS, "tallies", DRIVER=driver, TALLY=tally)
    assert re.findall(r"^calls: (\d+)$", text, re.MULTILINE) == ["1", "2", "3", "1"], text


def test_variant_is_for_a_user_and_a_group(
    said: Callable[..., str], guest_program: Callable[[Path], Path]
) -> None:
    text = said(WHOSE, "whose", ONCE=guest_program(HERE / "once.c"))
    found = dict(re.findall(r"^(\w+): (\w+)$", text, re.MULTILINE))
    assert found == {
        "root": "original",
        "user": "variant",
        "another": "original",
        "group": "variant",
        "removed": "original",
    }, text


def test_function_has_one_variant_at_a_time(said: Callable[..., str], driver: Path) -> None:
    text = said(TWICE, "answer", "whose", DRIVER=driver)
    assert "unit answer: another unit or a live patch has one of its functions" in text, text
