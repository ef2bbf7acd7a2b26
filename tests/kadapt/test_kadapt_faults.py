# SPDX-License-Identifier: GPL-2.0-or-later
"""Rings and ranges of memory when things go wrong, at a size for every day, inside User-Mode Linux.

On tmpfs and on ext4; `make soak` does the same in full on kernels that check themselves.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.kernel

KILLS, CALLS, ROUNDS = 100, 20_000, 20


def test_rings_survive_faults_on_tmpfs(
    run_faults: Callable[..., str], tap: Callable[[str], Any], tmp_path: Path
) -> None:
    text = run_faults(tmp_path, f"-k {KILLS} -f {CALLS} -r {ROUNDS}")
    report = tap(text)
    assert report.failed == set(), text
    assert report.skipped == {"full_disk", "short_memory", "memory_ending", "memory_shared"}, text


def test_so_do_records_by_the_library(
    run_library_faults: Callable[..., str], tap: Callable[[str], Any], tmp_path: Path
) -> None:
    text = run_library_faults(tmp_path, f"-k {KILLS} -r {ROUNDS}")
    report = tap(text)
    assert report.failed == report.skipped == set(), text


def test_memory_holds_what_threads_wrote_in_a_small_machine(
    run_faults: Callable[..., str], tap: Callable[[str], Any], tmp_path: Path
) -> None:
    text = run_faults(tmp_path, f"-r {2 * ROUNDS} memory_", memory_bytes=64 << 20)
    report = tap(text)
    assert report.passed == {"memory_battle", "memory_ending", "memory_shared"}, text


def test_rings_survive_faults_on_a_disk(
    run_faults: Callable[..., str],
    tap: Callable[[str], Any],
    empty_disk: Path,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "mounted"
    folder.mkdir()
    words = f"-k {KILLS} kill_file full_disk short_memory number_taken closed passed_file many"
    text = run_faults(folder, words, empty_disk)
    report = tap(text)
    assert report.failed == set(), text
    assert report.skipped <= {"short_memory"}, text
