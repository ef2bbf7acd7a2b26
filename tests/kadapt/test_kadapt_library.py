# SPDX-License-Identifier: GPL-2.0-or-later
"""libkadapt on a machine without the device: as if it were not there."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DEVICE = Path("/dev/kadapt")


@pytest.mark.skipif(DEVICE.exists(), reason="this machine has the device")
def test_calls_do_nothing_without_device(library_selftest: Path, tap: Callable[[str], Any]) -> None:
    completed = subprocess.run(
        [library_selftest, "plain"], capture_output=True, text=True, check=False
    )
    assert tap(completed.stdout).passed == {"plain_calls"}, completed.stdout


@pytest.mark.skipif(DEVICE.exists(), reason="this machine has the device")
def test_no_system_call_besides_one_open(library_selftest: Path, tmp_path: Path) -> None:
    """A program that finds no device has looked for it once."""
    strace = tmp_path / "calls"
    command = ["strace", "-o", str(strace), "-e", "trace=open,openat,ioctl", str(library_selftest)]
    try:
        subprocess.run([*command, "none"], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("strace is not installed")
    calls = [line for line in strace.read_text().splitlines() if "kadapt" in line]
    assert len(calls) == 1, calls
    assert "ENOENT" in calls[0]


def defined_names(file: Path) -> set[str]:
    """The global symbols that a file defines."""
    listing = subprocess.run(
        ["nm", "--defined-only", "--extern-only", file], capture_output=True, text=True, check=True
    ).stdout
    return {line.split()[2] for line in listing.splitlines() if len(line.split()) == 3}


# All objects with USDT probes share this hidden symbol, also a program's own.
PROBES_BASE = "_.stapsdt.base"


def foreign_names(archive: Path) -> set[str]:
    """Those that are no names of the library's own."""
    return {
        name
        for name in defined_names(archive)
        if not name.startswith("kadapt_") and name != PROBES_BASE
    }


def test_archive_needs_libc_only(root: Path) -> None:
    """No symbol of the library's own may clash with a program's, but those that it interposes."""
    for archive in ("libkadapt.a", "libkadapt-io-static.a", "libkadapt-memory-static.a"):
        assert defined_names(root / "build/kadapt" / archive)
        assert foreign_names(root / "build/kadapt" / archive) == set()


def test_page_lists_what_memory_interposes(root: Path) -> None:
    """Each weak, so that a program's own wins; no other name could clash."""
    page = set(re.findall(r"`(\w+)`", (root / "docs/memory.md").read_text()))
    archive = root / "build/kadapt/libkadapt-memory.a"
    listing = subprocess.run(["nm", "--extern-only", archive], capture_output=True, text=True)
    rows = [line.split() for line in listing.stdout.splitlines()]
    defined = {(row[2], row[1]) for row in rows if len(row) == 3}
    own = {name for name, _ in defined if name.startswith("kadapt_")} | {PROBES_BASE}
    foreign = {(name, kind) for name, kind in defined if name not in own}
    assert {kind for _, kind in foreign} == {"W"}
    assert {name.removesuffix("64") for name, _ in foreign} <= page


def test_page_lists_what_is_interposed(root: Path) -> None:
    """What is no call of this library's has its place in docs/io.md."""
    page = (root / "docs/io.md").read_text()
    interposed = foreign_names(root / "build/kadapt/libkadapt-io.a")
    assert interposed <= set(re.findall(r"`(\w+)`", page))
    assert f"defines {len(interposed)} functions of the C library" in page


def test_phases_alone_interpose_nothing(root: Path, tmp_path: Path) -> None:
    """A program whose plan has no I/O is linked without."""
    source = tmp_path / "phases.c"
    source.write_text('#include "libkadapt.h"\nint main(void) { return kadapt_leave() == 0; }\n')
    program = tmp_path / "phases"
    parts = [root / "build/kadapt/libkadapt.a", "-lc", root / "build/kadapt/libkadapt-io.a"]
    command = ["gcc-12", f"-I{root / 'kadapt/lib'}", "-o", program, source, *parts]
    subprocess.run(command, check=True)
    assert not {"write", "writev", "fflush", "syscall"} & defined_names(program)


def test_batches_are_the_loops(io_selftest: Path, tap: Callable[[str], Any]) -> None:
    """Without the device, by grouping, and in a file, pipe or socket the same arrives."""
    completed = subprocess.run([io_selftest, "batch"], capture_output=True, text=True, check=False)
    report = tap(completed.stdout)
    assert report.failed == set(), completed.stdout
    assert len(report.passed) == 6, completed.stdout


@pytest.mark.skipif(DEVICE.exists(), reason="this machine has the device")
def test_redirected_calls_are_plain_without_device(mixes: tuple[Path, ...]) -> None:
    for seed in range(3):
        outputs = {
            subprocess.run([program, str(seed), "400"], capture_output=True, check=True).stdout
            for program in mixes
        }
        assert len(outputs) == 1, seed


def test_static_program_works(root: Path, tmp_path: Path) -> None:
    """Nothing is interposed there; without the device its redirected calls are plain."""
    sources = [str(path) for path in sorted((root / "tests/kadapt/mix").glob("*.c"))]
    library = root / "build/kadapt/libkadapt-io-static.a"
    outputs = []
    for options in ([], ["-static", "-DADAPTED", f"-I{root / 'kadapt/lib'}"]):
        program = tmp_path / "mix"
        subprocess.run(["gcc-12", *options, "-o", program, *sources, library], check=True)
        command = [program, "1", "400"]
        outputs.append(subprocess.run(command, capture_output=True, check=True).stdout)
    assert outputs[0] == outputs[1]
