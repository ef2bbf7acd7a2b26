# SPDX-License-Identifier: GPL-2.0-or-later
"""What a check's helpers need is seen, though its program needs nothing."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from kadence import artefact, watching
from kadence.program import Program
from kadence.watching import Watch

HELPER = Path(__file__).resolve().parent / "programs/helper.c"
CHECK = """\
for what in sockets shared-memory inotify; do ./helper $what & wait $! || failed=1; done
sh -c '(./helper internet; echo $? >told) | cat && read told <told && exit $told' || failed=1
sh -c './helper aio & wait $!' || failed=1
exit $failed
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    folder = tmp_path / "plain"
    folder.mkdir()
    subprocess.run(["gcc-12", "-o", folder / "helper", HELPER], check=True)
    (folder / "check").write_text(CHECK)
    return Program(folder, "p", "", ("echo", "same"), (), ("sh", "check"))


@pytest.fixture
def seen(program: Program, generic_kernel: Any, tmp_path: Path) -> Path:
    """Its needs artefact."""
    path = tmp_path / "p.needs.json"
    watch = Watch(program.folder, tmp_path / "scratch", generic_kernel)
    watching.record(program, watch, path)
    return path


@pytest.mark.kernel
def test_what_helpers_need_is_seen(seen: Path) -> None:
    body = artefact.read(seen, artefact.NEEDS)
    assert body["unseen"] == []
    asked = {"io_setup", "inotify_init1", "shmget", "shmat", "shmctl"}
    assert set(body["system_calls"]) == asked
    assert body["socket_families"] == [1, 2]
