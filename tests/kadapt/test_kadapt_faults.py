# SPDX-License-Identifier: GPL-2.0-or-later
"""Rings when things go wrong, at a size for every day, inside User-Mode Linux.

On tmpfs and on ext4; `make soak` does the same in full on kernels that check themselves.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence import boot

pytestmark = pytest.mark.kernel

KILLS, CALLS, ROUNDS = 100, 20_000, 20
# Large enough for a journal, small enough to be filled.

# Of the guest; the host's files are its root, so that it mounts over a folder of the host's.
SCRIPT = """
set -e
mount -t @TYPE@ @DEVICE@ @FOLDER@
exec @PROGRAM@ -d @FOLDER@ @WORDS@
"""


def run_in_guest(kernel: Any, folder: Path, program: Path, disk: Path | None, words: str) -> str:
    """The program's output, on tmpfs or on the disk; the guest's log must be clean."""
    script = SCRIPT
    values = {
        "TYPE": "ext4" if disk else "tmpfs",
        "DEVICE": "/dev/ubda" if disk else "none",
        "FOLDER": str(folder),
        "PROGRAM": str(program),
        "WORDS": words,
    }
    for name, value in values.items():
        script = script.replace(f"@{name}@", value)
    with tempfile.TemporaryFile() as output:
        request = boot.Request(
            image=kernel.image,
            argv=["sh", "-c", script],
            stdout=output.fileno(),
            stderr=output.fileno(),
            kernel_arguments=[f"ubd0={disk}"] if disk else [],
            hang_timeout_seconds=600.0,
        )
        result = boot.run(request)
        output.seek(0)
        text = output.read().decode()
    assert boot.complaints(result.log) == [], result.log
    return text


def test_rings_survive_faults_on_tmpfs(
    generic_kernel: Any, faults: Path, tap: Callable[[str], Any], tmp_path: Path
) -> None:
    words = f"-k {KILLS} -f {CALLS} -r {ROUNDS}"
    text = run_in_guest(generic_kernel, tmp_path, faults, None, words)
    report = tap(text)
    assert report.failed == set(), text
    assert report.skipped == {"full_disk", "short_memory"}, text


def test_rings_survive_faults_on_a_disk(
    generic_kernel: Any,
    faults: Path,
    tap: Callable[[str], Any],
    empty_disk: Path,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "mounted"
    folder.mkdir()
    words = f"-k {KILLS} kill_file full_disk short_memory number_taken closed passed_file many"
    text = run_in_guest(generic_kernel, folder, faults, empty_disk, words)
    report = tap(text)
    assert report.failed == set(), text
    assert report.skipped <= {"short_memory"}, text
