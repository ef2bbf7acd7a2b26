# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that needs nothing, and a check whose helpers need much: the first kernel serves."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from kadence.base import artefact, codec
from kadence.kconfig.request.needs import Needs
from kadence.kconfig.store.build import BuildRequest
from kadence.kernel.proof import PASSED, REPAIRED
from kadence.kernel.proving import Subject
from kadence.kernel.tailoring import DEFAULT_BUDGET, Tailored, Tailoring
from kadence.measurement import watching
from kadence.measurement.measure import PLAIN
from kadence.measurement.watching import Watch
from kadence.phases.describe import needs
from kadence.program.program import Program

HELPER = Path(__file__).resolve().parent / "programs/helper.c"
CHECK = """\
for what in sockets shared-memory inotify; do ./helper $what & wait $! || failed=1; done
sh -c '(./helper internet; echo $? >told) | cat && read told <told && exit $told' || failed=1
sh -c './helper aio & wait $!' || failed=1
exit $failed
"""
# What CHECK's helpers need, by construction.
SYMBOLS = {"NET", "UNIX", "INET", "SYSVIPC", "INOTIFY_USER", "AIO"}
NOTHING = codec.encode(Needs())


@pytest.fixture
def program(tmp_path: Path) -> Program:
    folder = tmp_path / "plain"
    folder.mkdir()
    subprocess.run(["gcc-12", "-o", folder / "helper", HELPER], check=True)
    (folder / "check").write_text(CHECK)
    return Program(folder, "p", "", ("echo", "same"), (), ("sh", "check"))


@pytest.fixture
def seen(program: Program, generic_kernel: Any, tmp_path: Path) -> Path:
    """The program's needs artefact."""
    path = tmp_path / "p.needs.json"
    watch = Watch(program.folder, tmp_path / "scratch", generic_kernel)
    watching.record(program, watch, path)
    return path


def tailored(program: Program, generic: Any, plan_needs: Any, place: Path) -> Tailored:
    plan = place / "p.plan.json"
    body = {"program": ["echo"], "needs": plan_needs}
    artefact.write(plan, artefact.PLAN, None, ["kadence"], body)
    return Tailoring(
        request=BuildRequest(kind="tailored", plan=plan),
        generic=generic,
        subject=Subject(program, {PLAIN: program.folder}, place / "proof", key=str(place)),
        budget=DEFAULT_BUDGET,
        command=["kadence"],
    ).tailor()


@pytest.mark.kernel
def test_what_helpers_need_is_seen(seen: Path) -> None:
    body = artefact.read(seen, artefact.NEEDS)
    assert body["unseen"] == []
    asked = {"io_setup", "inotify_init1", "shmget", "shmat", "shmctl"}
    assert set(body["system_calls"]) == asked
    assert body["socket_families"] == [1, 2]


@pytest.mark.kernel
@pytest.mark.full
def test_the_first_kernel_serves(
    program: Program, seen: Path, generic_kernel: Any, tmp_path: Path
) -> None:
    found = tailored(program, generic_kernel, needs.united(NOTHING, seen), tmp_path)
    assert (found.proof.outcome, found.proof.builds) == (PASSED, 0)
    assert found.kernel is not None
    assert {s for s, value in found.kernel.manifest["requested"].items() if value == "y"} >= SYMBOLS


@pytest.mark.kernel
@pytest.mark.full
def test_where_nobody_looked_one_repair_does(
    program: Program, generic_kernel: Any, tmp_path: Path
) -> None:
    """The first failure's log names all but the socket families: no helper got as far as those."""
    found = tailored(program, generic_kernel, NOTHING, tmp_path)
    # None is built if the store has the kernel from an earlier run of this test.
    assert found.proof.outcome == REPAIRED
    assert found.proof.builds <= 1
    assert {repair.symbol for repair in found.proof.repairs} >= SYMBOLS
