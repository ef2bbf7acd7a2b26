# SPDX-License-Identifier: GPL-2.0-or-later
"""libkadapt on a machine without the device: as if it were not there."""

import re
import signal
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


def test_archive_needs_libc_only(root: Path) -> None:
    """No symbol of the library's own may clash with a program's, but those that it interposes."""
    for archive in ("libkadapt.a", "libkadapt-io-static.a", "libkadapt-memory-static.a"):
        own = defined_names(root / "build/kadapt" / archive)
        assert own
        assert all(name.startswith("kadapt_") for name in own), own
    interposed = {
        name
        for file in (root / "build/kadapt/lib").glob("interpose_*.o")
        for name in defined_names(file)
    }
    others = defined_names(root / "build/kadapt/libkadapt-io.a") - interposed
    assert all(name.startswith("kadapt_") for name in others), others


def test_page_lists_what_memory_interposes(root: Path) -> None:
    """Each weak, so that a program's own wins; no other name could clash."""
    page = set(re.findall(r"`(\w+)`", (root / "docs/memory.md").read_text()))
    archive = root / "build/kadapt/libkadapt-memory.a"
    listing = subprocess.run(["nm", "--extern-only", archive], capture_output=True, text=True)
    rows = [line.split() for line in listing.stdout.splitlines()]
    defined = {(row[2], row[1]) for row in rows if len(row) == 3}
    foreign = {(name, kind) for name, kind in defined if not name.startswith("kadapt_")}
    assert {kind for _, kind in foreign} == {"W"}
    assert {name.removesuffix("64") for name, _ in foreign} <= page


def test_page_lists_what_is_interposed(root: Path) -> None:
    """What is no call of this library's has its place in docs/io.md."""
    page = (root / "docs/io.md").read_text()
    listed = set(re.findall(r"`(\w+)`", page))
    for file in (root / "build/kadapt/lib").glob("interpose_*.o"):
        names = {name for name in defined_names(file) if not name.startswith("kadapt_")}
        # The other names of one function: of large files, of fortified and of older programs.
        names = {re.sub(r"^__(\w+)_chk$", r"\1", name).removesuffix("64") for name in names}
        assert names - listed == {name for name in names - listed if name.startswith("_")}, names


def test_phases_alone_interpose_nothing(root: Path, tmp_path: Path) -> None:
    """A program whose plan has no I/O is linked without."""
    source = tmp_path / "phases.c"
    source.write_text('#include "libkadapt.h"\nint main(void) { return kadapt_leave() == 0; }\n')
    program = tmp_path / "phases"
    parts = [root / "build/kadapt/libkadapt.a", "-lc", root / "build/kadapt/libkadapt-io.a"]
    command = ["gcc-12", f"-I{root / 'kadapt/lib'}", "-o", program, source, *parts]
    subprocess.run(command, check=True)
    assert not {"read", "write", "close", "fwrite"} & defined_names(program)


FORTIFIED_READ = """
#include <unistd.h>
#include "libkadapt.h"
int main(int count, char **arguments)
{
	char room[16];
	ssize_t found = kadapt___read_chk(0, room, count > 1 ? 17 : 16, sizeof(room));
	(void)arguments;
	return write(1, room, (size_t)found) != found;
}
"""


@pytest.mark.parametrize("archive", ["libkadapt-io.a", "libkadapt-io-static.a"])
def test_fortified_read_reads_what_there_is_room_for(
    root: Path, tmp_path: Path, archive: str
) -> None:
    """And ends the program, as the C library's does, that asks for more."""
    source, program = tmp_path / "read.c", tmp_path / "read"
    source.write_text(FORTIFIED_READ)
    option = "-static" if "static" in archive else "-lc"
    parts = [root / "build/kadapt/libkadapt.a", option, root / "build/kadapt" / archive]
    command = ["gcc-12", f"-I{root / 'kadapt/lib'}", "-o", program, source, *parts]
    subprocess.run(command, check=True)
    kept = subprocess.run([program], input=b"0123456789abcdefgh", capture_output=True)
    assert (kept.returncode, kept.stdout) == (0, b"0123456789abcdef")
    ended = subprocess.run([program, "more"], input=b"x" * 20, capture_output=True)
    assert ended.returncode == -signal.SIGABRT
    assert b"buffer overflow detected" in ended.stderr


def test_batches_are_the_loops(io_selftest: Path, tap: Callable[[str], Any]) -> None:
    """Without the device, by grouping, and in a file, pipe or socket the same arrives."""
    completed = subprocess.run([io_selftest, "batch"], capture_output=True, text=True, check=False)
    report = tap(completed.stdout)
    assert report.failed == set(), completed.stdout
    assert len(report.passed) == 6, completed.stdout


@pytest.mark.skipif(DEVICE.exists(), reason="this machine has the device")
@pytest.mark.parametrize("kind", ["file", "read", "pipe", "unix", "tcp"])
def test_redirected_calls_are_plain_without_device(mixes: tuple[Path, ...], kind: str) -> None:
    for seed in range(3):
        plain, adapted, strict = (
            subprocess.run([program, kind, str(seed), "400"], capture_output=True, check=True)
            for program in mixes
        )
        assert adapted.stdout == plain.stdout, (kind, seed)
        assert strict.stdout == plain.stdout, (kind, seed)


def test_static_program_works(root: Path, tmp_path: Path) -> None:
    """Nothing can be interposed there, so redirected calls are plain."""
    sources = [str(path) for path in sorted((root / "tests/kadapt/mix").glob("*.c"))]
    library = root / "build/kadapt/libkadapt-io-static.a"
    outputs = []
    for options in ([], ["-static", "-DADAPTED", f"-I{root / 'kadapt/lib'}"]):
        program = tmp_path / "mix"
        subprocess.run(["gcc-12", *options, "-o", program, *sources, library], check=True)
        command = [program, "file", "1", "400"]
        outputs.append(subprocess.run(command, capture_output=True, check=True).stdout)
    assert outputs[0] == outputs[1]
