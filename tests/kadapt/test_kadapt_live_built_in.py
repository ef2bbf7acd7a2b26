# SPDX-License-Identifier: GPL-2.0-or-later
"""Units in kernels that were built with them: User-Mode Linux, and x86_64 in QEMU."""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_kadapt_live import CYCLES_END, HERE, IN_EACH_PLACE

from kadence import boot
from kadence.base.errors import KadenceError
from kadence.kconfig.store.build import BuildRequest, build

pytestmark = pytest.mark.kernel

UNITS = (HERE / "answer.c", HERE / "pair.c", HERE / "tallies.c")
# What the guests' programs need of a kernel that else only starts.
NEEDED = ("SYSFS", "POSIX_TIMERS", "HIGH_RES_TIMERS", "FUTEX")

TAKEN = """
mount -t sysfs sysfs /sys 2>/dev/null
unit=/sys/kernel/kadapt/units/answer
[ "$(cat $unit/installed)" = 1 ] || exit 91
cat $unit/functions
@PROGRAM@
@PROGRAM@ stay <@LINES@ &
exec 3>@LINES@
sleep 1
echo 0 >$unit/installed || exit 92
echo 0 >$unit/installed || exit 93
[ "$(cat $unit/installed)" = 0 ] || exit 94
echo >&3
sleep 1
echo 1 >$unit/installed || exit 95
echo 1 >$unit/installed || exit 96
[ "$(cat $unit/installed)" = 1 ] || exit 97
echo >&3
sleep 1
exec 3>&-
wait
echo 0 >$unit/installed || exit 98
@PROGRAM@
exit 0
"""

SHADOWS = """
mount -t sysfs sysfs /sys 2>/dev/null
unit=/sys/kernel/kadapt/units/tallies
@PROGRAM@ <@LINES@ &
exec 3>@LINES@
sleep 1
cat $unit/takers
echo >&3
sleep 1
echo 0 >$unit/installed || exit 91
cat $unit/takers
echo 1 >$unit/installed || exit 92
echo >&3
sleep 1
exec 3>&-
wait
exit 0
"""

CYCLES = """
mount -t sysfs sysfs /sys 2>/dev/null
unit=/sys/kernel/kadapt/units/pair/installed
@PROGRAM@ 30 pair @SECONDS@ &
sleepers=$!
cycles=0
while kill -0 $sleepers 2>/dev/null; do
	echo 0 >$unit || exit 91
	echo 1 >$unit || exit 92
	sleep 0.1
	cycles=$((cycles + 1))
done
cd /sys/module/pair/parameters || exit 93
echo "cycles $cycles whole $(cat whole) torn $(cat torn)"
exit 0
"""


@pytest.fixture(scope="module", params=["um", "x86_64"])
def kernel(request: pytest.FixtureRequest) -> Any:
    """A kernel of each target that contains the units."""
    needed = tuple(sorted((symbol, "y") for symbol in NEEDED))
    return build(BuildRequest(kind="minimal", target=request.param, units=UNITS, overrides=needed))


@pytest.fixture(scope="session")
def phases_program(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapted program of two phases."""
    program = tmp_path_factory.mktemp("phases") / "phases"
    library = root / "build/kadapt/libkadapt.a"
    command = ["gcc-12", "-O2", "-static", f"-I{root / 'kadapt/lib'}", "-o", program]
    subprocess.run([*command, HERE / "phases.c", library], check=True)
    return program


def run(kernel: Any, script: str) -> str:
    """What the script printed in a guest that came to its good end."""
    with tempfile.TemporaryFile() as output:
        request = boot.Request(
            image=kernel.image,
            argv=["/bin/sh", "-c", f"exec 2>&1\n{script}"],
            target=kernel.target,
            stdout=output.fileno(),
            boot_timeout_seconds=600,
        )
        result = boot.run(request)
        output.seek(0)
        said = output.read().decode()
    assert result.status == 0, said + result.log
    assert boot.complaints(result.log) == [], result.log
    return said


def test_phase_takes_a_unit_of_the_kernel(
    kernel: Any, guest_program: Callable[[Path], Path], tmp_path: Path
) -> None:
    script = TAKEN.replace("@PROGRAM@", str(guest_program(HERE / "taker.c")))
    # The guest's files are the host's.
    os.mkfifo(tmp_path / "lines")
    said = run(kernel, script.replace("@LINES@", f"{tmp_path}/lines"))
    variant = "take: 0 0\n" + IN_EACH_PLACE.replace("@VERSION@", "variant")
    assert variant in said, said
    stays = "stays: variant\nstays: original\nstays: original\nentered anew: variant\n"
    assert "take: 0 0\n" + stays in said, said
    assert "take: 19 19\n" + IN_EACH_PLACE.replace("@VERSION@", "original") in said, said
    assert "do_adjtimex\n" in said, said


def test_shadows_go_with_a_unit_of_the_kernel(
    kernel: Any, guest_program: Callable[[Path], Path], tmp_path: Path
) -> None:
    script = SHADOWS.replace("@PROGRAM@", str(guest_program(HERE / "tally.c")))
    os.mkfifo(tmp_path / "lines")
    said = run(kernel, script.replace("@LINES@", f"{tmp_path}/lines"))
    assert re.findall(r"^calls: (\d+)$", said, re.MULTILINE) == ["1", "2", "3", "1"], said
    assert len(re.findall(r"^\d+ tally$", said, re.MULTILINE)) == 1, said


def test_no_task_sees_half_of_a_unit_of_the_kernel(
    kernel: Any, guest_program: Callable[[Path], Path]
) -> None:
    program = guest_program(HERE / "sleepers.c")
    script = CYCLES.replace("@PROGRAM@", str(program)).replace("@SECONDS@", "4")
    said = run(kernel, script)
    found = CYCLES_END.search(said)
    assert found, said
    cycles, whole, torn = map(int, found.groups())
    assert cycles > 3, said
    assert whole > 100, said
    assert torn == 0, said


@pytest.mark.parametrize(
    ("words", "given", "taking"),
    [
        (["answer.c:1"], "", {1}),
        (["answer.c"], "", {0, 1}),
        (["answer.c:0", "pair.c"], "", {0}),
        ([], "nothing answer:7,0 :1 answer:x", {0}),
        (["pair.c"], "", set()),
    ],
)
def test_program_takes_the_units_that_its_user_names(
    kernel: Any,
    kadence: Callable[..., Any],
    phases_program: Path,
    words: list[str],
    given: str,
    taking: set[int],
) -> None:
    units = [word for unit in words for word in ("--unit", HERE / unit)]
    environment = os.environ | ({"KADAPT_UNITS": given} if given else {})
    completed = kadence("run", "--kernel", kernel.id, *units, "--", phases_program, env=environment)
    assert completed.returncode == 0, completed
    versions = ["variant" if phase in taking else "original" for phase in (0, 1, 0)]
    told = "".join(f"phase {p}: {v}\n" for p, v in zip((0, 1, 0), versions, strict=True))
    assert completed.stdout == told


@pytest.mark.parametrize(
    ("unit", "why"),
    [
        ("answer.c:", "is not of the form UNIT.c:PHASE,PHASE"),
        ("answer.c:256", "names phase 256; phases are below 256"),
        ("missing.c", "there is no file"),
        ("other.c", "contains no unit other; build a kernel with"),
    ],
)
def test_unit_that_a_run_cannot_have_is_named(
    kernel: Any,
    kadence: Callable[..., Any],
    refused: Callable[[Any], str],
    tmp_path: Path,
    unit: str,
    why: str,
) -> None:
    for name in ("answer.c", "other.c"):
        (tmp_path / name).write_text("")
    completed = kadence("run", "--kernel", kernel.id, "--unit", tmp_path / unit, "--", "true")
    assert why in refused(completed)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("vfs_wrote", "has no function vfs_wrote; it may be configured out"),
        (
            "schedule",
            r"schedule is void\(void\) in the kernel, but void\(signed integer of 4 bytes",
        ),
        ("init_once", r"has \d+ functions named init_once \(.*\.o, .*\.o"),
    ],
)
def test_function_that_cannot_be_replaced_is_named(tmp_path: Path, function: str, why: str) -> None:
    source = tmp_path / "bad.c"
    source.write_text(
        "#include <kadence/unit.h>\n"
        f"KADENCE_REPLACES({function}, void, int argument)\n"
        f"{{\n\tKADENCE_ORIGINAL({function})(argument);\n}}\nKADENCE_UNIT;\n"
    )
    with pytest.raises(KadenceError, match=why):
        build(BuildRequest(kind="minimal", units=(source,)))


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (BuildRequest(units=UNITS, series="6.1"), "units are written for 6.12, not for 6.1"),
        (BuildRequest(units=(UNITS[0], UNITS[0])), "two units are named answer"),
        (BuildRequest(units=(Path("missing.c"),)), "there is no file missing.c"),
        (BuildRequest(units=(Path("Bad-Name.c"),)), "Bad-Name.c is not the source of a unit"),
    ],
)
def test_units_that_a_kernel_cannot_contain_are_named(request_: BuildRequest, why: str) -> None:
    with pytest.raises(KadenceError, match=re.escape(why)):
        build(request_)
