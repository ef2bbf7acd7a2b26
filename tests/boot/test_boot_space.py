# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest reserves and frees space in the host's files."""

import sys
from pathlib import Path
from typing import Any

import pytest

MEBIBYTE = 1 << 20
BLOCK = 512


@pytest.fixture(scope="session")
def machine(um_machine: Any) -> Any:
    """User-Mode Linux alone: an x86_64 guest reaches files by 9p, which cannot reserve space."""
    return um_machine


def _allocated(path: Path) -> int:
    return path.stat().st_blocks * BLOCK


def test_space_beyond_the_end_is_reserved(guest: Any, tmp_path: Path) -> None:
    path = tmp_path / "reserved"
    guest("sh", "-c", f"printf 0123456789 >{path}; fallocate --keep-size --length 1M {path}")
    assert path.read_text() == "0123456789"
    assert _allocated(path) >= MEBIBYTE


def test_a_file_grows_by_what_is_reserved(guest: Any, tmp_path: Path) -> None:
    path = tmp_path / "grown"
    sizes = guest("sh", "-c", f"fallocate --length 1M {path} && stat --format %s {path}").stdout
    assert sizes == b"%d\n" % MEBIBYTE
    assert path.stat().st_size == MEBIBYTE
    assert path.read_bytes() == bytes(MEBIBYTE)


def test_space_is_given_back_and_no_time_changed(guest: Any, tmp_path: Path) -> None:
    path = tmp_path / "trimmed"
    path.write_text("0123456789")
    truncate = f'import os; os.truncate("{path}", 10)'
    script = f"fallocate --keep-size --length 1M {path}; touch -d @1000000000 {path}"
    guest("sh", "-c", f"exec 9<>{path}; {script}; {sys.executable} -c '{truncate}'")
    assert path.read_text() == "0123456789"
    assert _allocated(path) < MEBIBYTE
    assert path.stat().st_mtime == 1000000000


def test_what_the_file_system_can_t_do_is_refused(guest: Any, tmp_path: Path) -> None:
    path = tmp_path / "punched"
    path.write_text("0123456789")
    script = f"fallocate --punch-hole --offset 0 --length 5 {path} 2>/dev/null; echo $?"
    assert guest("sh", "-c", script).stdout == b"1\n"
    assert path.read_text() == "0123456789"


def test_more_than_there_is_is_refused(guest: Any, tmp_path: Path) -> None:
    path = tmp_path / "vast"
    script = f"fallocate --length 1E {path} 2>/dev/null; echo $?"
    assert guest("sh", "-c", script).stdout == b"1\n"
    assert _allocated(path) == 0
