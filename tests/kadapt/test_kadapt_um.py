# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver inside User-Mode Linux: every errno, every promise of undo, latencies in ticks."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.kconfig.store.build import BuildRequest, build

pytestmark = pytest.mark.kernel

# Cases about control groups, which a kernel for one job has none of.
OF_GROUPS = {"group_charged", "group_limit", "group_around"}
# Cases that are about something this kernel hasn't got, or has for everyone.
NOT_HERE = OF_GROUPS | {
    "error_quantum_eopnotsupp",  # it has the quantum
    "error_eacces",  # the guest belongs to one user
    "error_enomem",  # no fault injection in an ordinary kernel
    "error_rings_eopnotsupp",  # it has rings
    "error_memory_eopnotsupp",  # it has ranges of memory
}
# Of a guest whose memory a case fills.
FILLED_BYTES = 512 << 20
# Errors about the quantum that a kernel without it does not look for.
ABOUT_QUANTUM = {"error_define_erange", "error_enter_eopnotsupp", "error_limit"}


def run_in_guest(kernel: Any, program: Path, *words: str, memory_bytes: int | None = None) -> str:
    """The program's output; the guest's log must be clean."""
    with tempfile.TemporaryFile() as output:
        request = boot.Request(
            image=kernel.image,
            argv=[str(program), *words],
            stdout=output.fileno(),
            memory_bytes=memory_bytes,
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
    text = run_in_guest(generic_kernel, selftest, memory_bytes=FILLED_BYTES)
    report = tap(text)
    assert report.failed == set(), text
    assert report.skipped == NOT_HERE, text


def test_memory_in_bulk_gives_way_in_a_small_machine(
    generic_kernel: Any, selftest: Path, tap: Callable[[str], Any]
) -> None:
    """What is planted sparsely would take twice the machine's memory, were all of it present."""
    text = run_in_guest(generic_kernel, selftest, "memory_", memory_bytes=64 << 20)
    report = tap(text)
    assert report.failed == report.skipped == set(), text
    assert {"memory_short", "memory_random", "memory_killed"} <= report.passed, text


@pytest.mark.full
def test_memory_in_bulk_is_charged_to_control_groups(
    selftest: Path, tap: Callable[[str], Any]
) -> None:
    """Where a group is short, adaptation gives way before the program is killed."""
    kernel = build(BuildRequest(overrides=(("MEMCG", "y"),)))
    text = run_in_guest(kernel, selftest, "group_", "memory_", memory_bytes=FILLED_BYTES)
    report = tap(text)
    assert report.failed == report.skipped == set(), text
    assert report.passed >= OF_GROUPS, text


@pytest.mark.full
def test_older_series_keeps_them_without_the_quantum(
    selftest: Path, tap: Callable[[str], Any]
) -> None:
    text = run_in_guest(build(BuildRequest(series="6.1")), selftest)
    report = tap(text)
    assert report.failed == set(), text
    unsupported = {
        "error_quantum_eopnotsupp",
        "error_rings_eopnotsupp",
        "error_memory_eopnotsupp",
    }
    assert unsupported <= report.passed, text
    others = {name for name in report.skipped if not name.startswith(("slice_", "latency_"))}
    about_rings = unsupported | OF_GROUPS
    assert others == ABOUT_QUANTUM | NOT_HERE - about_rings, text


# All but the cases that take minutes.
DAILY = "burst life midst process jump step thread order filter flush end around size batch"


def test_library_writes_through_rings(
    generic_kernel: Any, io_selftest: Path, tap: Callable[[str], Any]
) -> None:
    text = run_in_guest(generic_kernel, io_selftest, *DAILY.split(), memory_bytes=FILLED_BYTES)
    report = tap(text)
    assert report.failed == set(), text
    assert report.skipped == set(), text


# Only its names tell the library that the program installs a filter, and makes the calls of
# size_cases.c. The kernel refuses to bind after a filter, and after two threads' tables differ.
BY_NAME = {
    *("filter_strict", "filter_ioctl", "filter_beside", "filter_write"),
    *("size_read", "size_limit", "size_capabilities", "size_table", "size_synced"),
}


def test_nothing_else_depends_on_names(
    generic_kernel: Any, static_io_selftest: Path, tap: Callable[[str], Any]
) -> None:
    """Without interposition no files, sizes, times and errors differ from the plain program's."""
    words = DAILY.split()
    text = run_in_guest(generic_kernel, static_io_selftest, *words, memory_bytes=FILLED_BYTES)
    report = tap(text)
    assert report.failed <= BY_NAME, text
    assert report.skipped == set(), text


@pytest.mark.full
def test_library_at_each_instruction(
    generic_kernel: Any, io_selftest: Path, tap: Callable[[str], Any]
) -> None:
    text = run_in_guest(generic_kernel, io_selftest, "walk", memory_bytes=FILLED_BYTES)
    report = tap(text)
    assert report.failed == report.skipped == set(), text


# What each program prints must be what the plain one prints. Files are the machine's own, and on
# a tmpfs.
MIX_SCRIPT = """
mount -t tmpfs none /mnt || exit 89
for seed in $(seq @FIRST@ @LAST@); do
	[ $((seed % 4)) = 0 ] && MIX_FOLDER=/tmp || MIX_FOLDER=/mnt
	export MIX_FOLDER
	@PLAIN@ $seed @COUNT@ > @FOLDER@/plain || exit 90
	KADAPT_COUNTERS=@FOLDER@/counters @ADAPTED@ $seed @COUNT@ > @FOLDER@/adapted || exit 91
	cmp @FOLDER@/plain @FOLDER@/adapted || { echo "$seed differs"; exit 92; }
done
echo "all the same"
"""


@dataclass(frozen=True)
class Mixes:
    """Which mixes are run: the two builds, from which seed to which, how many calls of each."""

    plain: Path
    adapted: Path
    first: int
    last: int
    count: int


def run_mixes(kernel: Any, mixes: Mixes, folder: Path) -> int:
    """Compare the two builds in one guest; records that went into rings."""
    script = MIX_SCRIPT.replace("@FOLDER@", str(folder))
    for name, value in asdict(mixes).items():
        script = script.replace(f"@{name.upper()}@", str(value))
    path = folder / "script"
    path.write_text(script)
    text = run_in_guest(kernel, Path("/bin/sh"), str(path))
    assert "all the same" in text, text
    lines = (folder / "counters").read_text().splitlines()
    return sum(json.loads(line)["io"]["appends"] for line in lines)


@pytest.mark.parametrize("kind", [1, 2], ids=["redirected", "interposed"])
def test_random_mixes_leave_the_same(
    generic_kernel: Any, mixes: tuple[Path, Path, Path], tmp_path: Path, kind: int
) -> None:
    """Thousands of calls in random order."""
    mix = Mixes(mixes[0], mixes[kind], 1, 12, 400)
    assert run_mixes(generic_kernel, mix, tmp_path) > 10_000


@pytest.mark.full
@pytest.mark.parametrize("kind", [1, 2], ids=["redirected", "interposed"])
def test_many_random_mixes_leave_the_same(
    generic_kernel: Any, mixes: tuple[Path, Path, Path], tmp_path: Path, kind: int
) -> None:
    mix = Mixes(mixes[0], mixes[kind], 100, 160, 1000)
    assert run_mixes(generic_kernel, mix, tmp_path) > 100_000


STREAMS_SCRIPT = """
mount -t tmpfs none /mnt && cd /mnt || exit 89
@PLAIN@ plain > plain.output || exit 90
KADAPT_COUNTERS=@FOLDER@/counters @ADAPTED@ adapted > adapted.output || exit 91
cmp plain adapted && cmp plain.copy adapted.copy && cmp plain.output adapted.output || exit 92
echo "all the same"
"""


@pytest.mark.parametrize("source", ["records.cc", "records.f90"])
def test_libraries_of_languages_use_rings(
    generic_kernel: Any,
    stream_programs: Callable[[str], tuple[Path, Path]],
    source: str,
    tmp_path: Path,
) -> None:
    """Their own writes are interposed; files, output and offsets are the plain program's."""
    plain, adapted = stream_programs(source)
    script = STREAMS_SCRIPT.replace("@FOLDER@", str(tmp_path))
    script = script.replace("@PLAIN@", str(plain)).replace("@ADAPTED@", str(adapted))
    path = tmp_path / "script"
    path.write_text(script)
    text = run_in_guest(generic_kernel, Path("/bin/sh"), str(path))
    assert "all the same" in text, text
    counters = json.loads((tmp_path / "counters").read_text())
    assert counters["io"]["appends"] > 20, counters


def test_library_enters_phases(
    generic_kernel: Any, library_selftest: Path, tap: Callable[[str], Any]
) -> None:
    text = run_in_guest(generic_kernel, library_selftest, "adapted")
    report = tap(text)
    assert report.failed == set(), text
    assert report.skipped == set(), text
