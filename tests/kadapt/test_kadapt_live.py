# SPDX-License-Identifier: GPL-2.0-or-later
"""Units in Debian's stock kernel under QEMU: installed, taken by phases, and removed."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kadence import boot
from kadence.base.errors import KadenceError, ToolError
from kadence.boot import debian, qemu
from kadence.live.build import build

pytestmark = pytest.mark.kernel

HERE = Path(__file__).resolve().parent / "live"

# Removal while a program sleeps in the phase, and outside the unit.
TAKEN = """
insmod /kadapt.ko || exit 91
/taker
insmod /answer.ko || exit 92
cat /sys/kernel/kadapt/units/answer/functions
/taker
mkfifo /tmp/lines
/taker stay </tmp/lines &
exec 3>/tmp/lines
sleep 1
rmmod answer 2>/dev/null && exit 93
rmmod kadapt 2>/dev/null && exit 94
echo 0 >/sys/kernel/kadapt/units/answer/installed || exit 95
[ -e /sys/kernel/kadapt/units/answer ] && exit 96
echo >&3
sleep 1
rmmod answer || exit 97
insmod /answer.ko || exit 98
echo >&3
sleep 1
exec 3>&-
wait
echo 0 >/sys/kernel/kadapt/units/answer/installed || exit 99
rmmod answer kadapt || exit 90
[ -e /sys/kernel/kadapt ] && exit 89
exit 0
"""

# Processes sleep in the unit's functions and outside of them, in phases and in none.
CYCLES = """
insmod /kadapt.ko || exit 91
/sleepers @COUNT@ pair @SECONDS@ &
sleepers=$!
cycles=0 whole=0 torn=0
while kill -0 $sleepers 2>/dev/null; do
	insmod /pair.ko || exit 92
	sleep 0.1
	echo 0 >/sys/kernel/kadapt/units/pair/installed || exit 93
	whole=$((whole + $(cat /sys/module/pair/parameters/whole)))
	torn=$((torn + $(cat /sys/module/pair/parameters/torn)))
	rmmod pair || exit 94
	cycles=$((cycles + 1))
done
echo "cycles $cycles whole $whole torn $torn"
rmmod kadapt || exit 95
exit 0
"""
CYCLES_END = re.compile(r"^cycles (\d+) whole (\d+) torn (\d+)\r?$", re.MULTILINE)

IN_EACH_PLACE = """\
before: original
phase 0: original
phase 1: @VERSION@
another thread: original
child: original
phase 1 again: @VERSION@
left: original
closed: original
"""


def run(script: str, files: dict[str, Path], processors: int = 1) -> str:
    """The console of a guest that ran the script to its good end."""
    release = debian.newest_release("6.12")
    machine = qemu.Machine(
        debian.kernel_image(release),
        processors=processors,
        kernel_arguments=["quiet"],
        timeout_seconds=600,
    )
    outcome = qemu.run_script(machine, script, files)
    assert outcome.status == 0, outcome.console
    assert boot.complaints(outcome.console) == [], outcome.console
    return outcome.console.replace("\r\n", "\n")


@pytest.fixture(scope="session")
def driver(kadapt_module: Callable[[str], Path]) -> Path:
    """kadapt.ko for the reference kernel; units are built against it."""
    return kadapt_module(debian.newest_release("6.12"))


@pytest.fixture
def unit(driver: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Builds a unit of this folder."""

    def make(name: str) -> Path:
        module = tmp_path / f"{name}.ko"
        build(HERE / f"{name}.c", debian.newest_release("6.12")).write(module)
        return module

    return make


def test_phase_takes_a_unit(
    driver: Path, unit: Callable[[str], Path], guest_program: Callable[[Path], Path]
) -> None:
    files = {"kadapt.ko": driver, "answer.ko": unit("answer")}
    console = run(TAKEN, files | {"taker": guest_program(HERE / "taker.c")})
    errors = "No such file or directory, No such device, Invalid argument"
    missing = "errors: No such device, No such device, Invalid argument\ntake: 19 19\n"
    assert missing + IN_EACH_PLACE.replace("@VERSION@", "original") in console, console
    present = f"errors: {errors}\ntake: 0 0\n"
    assert present + IN_EACH_PLACE.replace("@VERSION@", "variant") in console, console
    stays = "stays: variant\nstays: original\nstays: original\nentered anew: variant\n"
    assert present + stays in console, console
    assert "do_adjtimex\n" in console


def test_no_task_sees_half_of_a_unit(
    driver: Path, unit: Callable[[str], Path], guest_program: Callable[[Path], Path]
) -> None:
    files = {"kadapt.ko": driver, "pair.ko": unit("pair")}
    script = CYCLES.replace("@COUNT@", "30").replace("@SECONDS@", "4")
    console = run(script, files | {"sleepers": guest_program(HERE / "sleepers.c")})
    found = CYCLES_END.search(console)
    assert found, console
    cycles, whole, torn = map(int, found.groups())
    assert cycles > 3, console
    assert whole > 100, console
    assert torn == 0, console


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("vfs_wrote", "has no symbol vfs_wrote"),
        (
            "vfs_write",
            r"vfs_write is signed integer of 8 bytes\(struct file \*, .*\) in the kernel, "
            r"but void\(signed integer of 4 bytes\) in the unit",
        ),
        ("__mptcp_nmpc_sk", r"the compiler made __mptcp_nmpc_sk\.\w+\.0 of a part"),
        ("__schedule", "__schedule can't be replaced, because the kernel does not let it"),
        ("type_show", r"has \d+ symbols named type_show"),
    ],
)
def test_function_that_cannot_be_replaced_is_named(
    driver: Path, tmp_path: Path, function: str, why: str
) -> None:
    source = tmp_path / "bad.c"
    source.write_text(
        "#include <kadence/unit.h>\n"
        f"KADENCE_REPLACES({function}, void, int argument)\n"
        f"{{\n\tKADENCE_ORIGINAL({function})(argument);\n}}\nKADENCE_UNIT;\n"
    )
    with pytest.raises(KadenceError, match=why):
        build(source, debian.newest_release("6.12"))


def test_driver_that_does_not_build_is_told(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(root / "kadapt", tmp_path / "kadapt")
    (tmp_path / "kadapt/driver/main.c").write_text("#error planted\n")
    monkeypatch.setenv("KADENCE_HOME", str(tmp_path))
    release = debian.newest_release("6.12")
    with pytest.raises(ToolError, match=f"build for {re.escape(release)}: .*planted"):
        build(HERE / "answer.c", release)


def test_source_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(KadenceError, match=r"there is no file .*/missing\.c; name the source"):
        build(tmp_path / "missing.c", debian.newest_release("6.12"))
