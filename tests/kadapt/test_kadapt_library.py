# SPDX-License-Identifier: GPL-2.0-or-later
"""libkadapt on a machine without the device: as if it were not there."""

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


def test_archive_needs_libc_only(root: Path) -> None:
    """No symbol of the library's own may clash with a program's."""
    listing = subprocess.run(
        ["nm", "--defined-only", "--extern-only", root / "build/kadapt/libkadapt.a"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = {line.split()[2] for line in listing.splitlines() if len(line.split()) == 3}
    assert names
    assert all(name.startswith("kadapt_") for name in names), names
