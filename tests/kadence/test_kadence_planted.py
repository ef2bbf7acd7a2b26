# SPDX-License-Identifier: GPL-2.0-or-later
"""A removal planted in a real kernel is found and put back."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kadence.base import codec
from kadence.kconfig.configuration import configure
from kadence.kconfig.request.needs import Needs
from kadence.kconfig.store.build import BuildRequest
from kadence.kernel.proof import REPAIRED
from kadence.kernel.proving import Subject
from kadence.kernel.tailoring import Tailoring
from kadence.measurement.measure import PLAIN
from kadence.program.program import Program

pytestmark = [pytest.mark.kernel, pytest.mark.full]

# Joining a running thread sleeps in futex(); without that call glibc aborts.
SOURCE = """\
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *work(void *unused)
{
	usleep(100000);
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		return 1;
	puts("joined");
	return 0;
}
"""


@pytest.fixture
def joiner(tmp_path: Path) -> Path:
    """The folder of a program that joins a thread."""
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "p.c").write_text(SOURCE)
    subprocess.run(["gcc-12", "-pthread", "-o", "p", "p.c"], cwd=folder, check=True)
    return folder


def plan(path: Path) -> Path:
    calls = frozenset({"futex", "clone3"})
    needs = codec.encode(Needs(system_calls=calls, threads=True, shared_memory=True))
    envelope = {"schema": "kadence.plan", "version": 6, "kadence": "0", "build_id": None}
    path.write_text(json.dumps(envelope | {"command": [], "program": ["p"], "needs": needs}))
    return path


def test_a_removed_futex_is_found_and_put_back(
    joiner: Path, generic_kernel: Any, tmp_path: Path
) -> None:
    program = Program(joiner, "p", "", ("./p",), (), ("./p",))
    found = Tailoring(
        request=BuildRequest(
            kind="tailored",
            plan=plan(tmp_path / "p.plan.json"),
            overrides=(("FUTEX", "n"), ("FUTEX_PI", "n")),
        ),
        generic=generic_kernel,
        subject=Subject(program, {PLAIN: joiner}, tmp_path / "scratch", key=str(tmp_path)),
        budget=12,
        command=["kadence", "kernel", "tailor"],
    ).tailor()
    assert found.proof.outcome == REPAIRED
    assert found.proof.minimal
    assert [repair.symbol for repair in found.proof.repairs] == ["FUTEX"]
    assert "p asked for futex, which this kernel lacks" in found.proof.reason
    # The kernel's own log names the symbol, so the first trial is the right one.
    assert found.proof.builds <= 1
    assert found.kernel is not None
    assert configure.values(found.kernel.config)["FUTEX"] == "y"
