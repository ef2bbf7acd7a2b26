# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's number of processors, the numbers that are refused, and processors running at once."""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base.errors import ArtefactError, KadenceError, UsageError
from kadence.boot import acceleration, debian, processors
from kadence.prediction import tasks

X86_64 = "x86_64"
MEMORY_BYTES = 512 << 20
BOOT_TIMEOUT_SECONDS = 300.0
HERE = Path(__file__).resolve().parent

SEVERAL = "CONFIG_SMP=y\nCONFIG_NR_CPUS=64\n"
SINGLE = "# CONFIG_SMP is not set\nCONFIG_NR_CPUS=1\n"


@pytest.fixture
def image_with(tmp_path: Path) -> Callable[[str], Path]:
    """Make an image with a configuration beside it. No test starts this kernel."""

    def make(settings: str) -> Path:
        (tmp_path / "config").write_text(settings)
        image = tmp_path / "image"
        image.touch()
        return image

    return make


@pytest.mark.parametrize(
    ("target", "settings", "cpus", "sentence"),
    [
        (X86_64, SEVERAL, "0", "can't have 0 processors"),
        (X86_64, SEVERAL, "-1", "can't have -1 processors"),
        (X86_64, SEVERAL, "two", "invalid int value: 'two'"),
        (X86_64, SEVERAL, "1.5", "invalid int value: '1.5'"),
        (X86_64, SEVERAL, "", "invalid int value: ''"),
        (X86_64, SEVERAL, "65", "but 64 at most"),
        (X86_64, SEVERAL, "9" * 30, "but 64 at most"),
        (X86_64, "CONFIG_SMP=y\nCONFIG_NR_CPUS=8192\n", "256", "but 255 at most"),
        (X86_64, SINGLE, "2", "it is built for one; tailor one to a plan with threads"),
        ("um", "", "2", "User-Mode Linux of its series has one"),
        ("um", "CONFIG_SMP=y\nCONFIG_NR_CPUS=8\n", "9", "but 8 at most"),
    ],
)
def test_what_a_guest_cannot_have(
    kadence: Callable[..., Any],
    refused: Callable[..., str],
    image_with: Callable[[str], Path],
    target: str,
    settings: str,
    cpus: str,
    sentence: str,
) -> None:
    image = image_with(settings)
    words = ["run", "--target", target, "--kernel", image, "--cpus", cpus, "--", "true"]
    assert sentence in refused(kadence(*words))


def test_lab_and_trace_have_one(
    kadence: Callable[..., Any],
    refused: Callable[..., str],
    image_with: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    told = refused(kadence("lab", "--cpus", "2", "--", "true"))
    assert "the lab has one processor" in told
    image = image_with(SEVERAL)
    request = boot.Request(image, ["true"], target=X86_64, processors=2, lab=True)
    with pytest.raises(UsageError, match="the lab has one processor"):
        boot.run(request)
    request = boot.Request(image, ["true"], target=X86_64, processors=2, trace=tmp_path)
    with pytest.raises(UsageError, match="traced on one processor"):
        boot.run(request)


@pytest.mark.parametrize(
    ("settings", "machine", "wanted", "expected"),
    [
        (SEVERAL, 4, 1, 1),
        (SEVERAL, 4, 3, 3),
        (SEVERAL, 4, 1000, 4),
        (SEVERAL, 1000, 1000, 64),
        (SINGLE, 4, 3, 1),
        ("", 4, 3, 1),
    ],
)
def test_default_is_what_tasks_kernel_and_machine_allow(
    image_with: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    settings: str,
    machine: int,
    wanted: int,
    expected: int,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(machine)))
    request = boot.Request(image_with(settings), ["true"], target=X86_64)
    assert processors.granted(request, wanted) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 1), ("1", 1), ("8", 8), (" 4 ", 4), ("4,2", 4), ("0", 1), ("-3", 1), ("many", 1)],
)
def test_tasks_of_the_environment(text: str, expected: int) -> None:
    assert tasks.of_environment({"OMP_NUM_THREADS": text}, X86_64) == expected
    assert tasks.of_environment({"OMP_NUM_THREADS": text}, "um") == 1


@pytest.mark.parametrize(
    ("needs", "expected", "on_um"),
    [
        ({}, 1, 1),
        ({"tasks": 3, "threads": True}, 3, 1),
        ({"tasks": 3, "processes": True}, 3, 3),
        ({"tasks": 0}, 1, 1),
    ],
)
def test_tasks_of_a_plan(
    make_plan: Callable[..., Path],
    tmp_path: Path,
    needs: dict[str, Any],
    expected: int,
    on_um: int,
) -> None:
    """Under User-Mode Linux, the threads of one process take turns."""
    plan = make_plan(tmp_path / "p.plan.json", **needs)
    assert tasks.of_plan(plan, X86_64) == expected
    assert tasks.of_plan(plan, "um") == on_um


def test_plan_whose_needs_nobody_saw(make_plan: Callable[..., Path], tmp_path: Path) -> None:
    plan = make_plan(tmp_path / "p.plan.json")
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"needs": None}))
    assert tasks.of_plan(plan, X86_64) == 1


@pytest.mark.parametrize("wrong", ["two", None, [2]])
def test_plan_that_counts_no_tasks(
    make_plan: Callable[..., Path], tmp_path: Path, wrong: object
) -> None:
    with pytest.raises(ArtefactError, match="needs.tasks is not a whole number"):
        tasks.of_plan(make_plan(tmp_path / "p.plan.json", tasks=wrong), X86_64)


def test_each_number_of_processors_is_probed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A guest that boots with one processor under KVM may fail to boot with two."""
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path))
    device = tmp_path / "kvm"
    device.touch()
    monkeypatch.setattr(acceleration, "DEVICE", device)
    works = ["sh", "-c", "echo kadence: probe"]
    assert acceleration.chosen(works, []) == acceleration.KVM
    assert acceleration.chosen(["false"], [], 2) == acceleration.TCG
    assert acceleration.remembered() == acceleration.KVM
    assert acceleration.remembered(2) == acceleration.TCG


@pytest.fixture
def stock_image() -> Path:
    """Debian's kernel, which finds its processors by ACPI, as on any machine."""
    if os.geteuid() != 0:
        pytest.skip("Debian's kernel reaches the host by virtiofs, whose server needs root")
    try:
        return debian.kernel_image(debian.newest_release("6.12"))
    except KadenceError as error:
        pytest.skip(f"no stock kernel: {error}")


@pytest.fixture
def tailored_image(sockets_kernel_x86_64: Any) -> Path:
    """A kernel for a program with threads. Without ACPI, it finds its processors in another way."""
    return Path(sockets_kernel_x86_64.image)


@pytest.fixture(
    params=[
        pytest.param("stock_image", marks=pytest.mark.kernel),
        pytest.param("tailored_image", marks=[pytest.mark.kernel, pytest.mark.full]),
    ]
)
def run(request: pytest.FixtureRequest) -> Callable[..., str]:
    """Run a command in a guest with `count` processors; returns its output. Asserts a clean log."""
    image = request.getfixturevalue(request.param)

    def run_in_guest(count: int, *argv: str) -> str:
        with tempfile.TemporaryFile() as output:
            asked = boot.Request(
                image,
                argv,
                target=X86_64,
                processors=count,
                memory_bytes=MEMORY_BYTES,
                stdout=output.fileno(),
                boot_timeout_seconds=BOOT_TIMEOUT_SECONDS,
            )
            result = boot.run(asked)
            assert boot.complaints(result.log) == []
            assert (result.status, result.processors) == (0, count), result.log
            output.seek(0)
            return output.read().decode()

    return run_in_guest


LOOK = """
grep -c ^processor /proc/cpuinfo
nproc
grep Cpus_allowed_list /proc/self/status | cut -f 2
cat /sys/devices/system/cpu/online
cat /sys/devices/system/node/online 2>/dev/null || echo 0
"""


@pytest.mark.parametrize("count", [2, 3])
def test_all_see_the_processors_on_one_node(run: Callable[..., str], count: int) -> None:
    """The guest may have more processors than this machine."""
    span = f"0-{count - 1}"
    assert run(count, "sh", "-c", LOOK).split() == [str(count), str(count), span, span, "0"]


@pytest.mark.kernel
def test_openmp_says_how_many_and_who_asks_may_have_more(
    kadence: Callable[..., Any], stock_image: Path
) -> None:
    """Kadence grants more processors than this machine has, and prints a line about it."""
    words = ["run", "--target", X86_64, "--kernel", stock_image, "--mem", "512M"]
    here = processors.usable()
    told = kadence(*words, "--", "nproc", env=os.environ | {"OMP_NUM_THREADS": "2,8"})
    # nproc obeys OMP_NUM_THREADS too, but prints no more processors than the guest has.
    assert told.stdout == f"{min(2, here)}\n", told.stderr
    more = kadence(*words, "--cpus", str(here + 1), "--", "nproc")
    assert more.stdout == f"{here + 1}\n", more.stderr
    assert f"kadence: {here + 1} processors of the guest share {here} of this" in more.stderr


def test_two_threads_run_at_once(run: Callable[..., str], tmp_path: Path) -> None:
    """Each thread spins until the other's turn is over. On one processor, each turn costs a switch.

    The time must never go backwards from one processor to the other.
    """
    program = tmp_path / "handshake"
    source = HERE / "programs/handshake.c"
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu11"]
    subprocess.run(["gcc-12", *flags, "-o", program, source], check=True)
    turns, apart, backwards, switches = map(int, run(2, str(program)).split())
    assert apart > turns // 2
    assert backwards == 0
    assert switches < turns // 10
