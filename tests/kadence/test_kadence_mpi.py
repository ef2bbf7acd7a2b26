# SPDX-License-Identifier: GPL-2.0-or-later
"""MPI launchers start their ranks inside one guest, and what these ask for is seen."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base import artefact, codec
from kadence.kconfig.request.needs import Needs
from kadence.kconfig.store.build import BuildRequest, build
from kadence.measurement import watching
from kadence.measurement.watching import Watch
from kadence.phases.describe import needs

RANKS = 3
SOURCE = Path(__file__).resolve().parent / "programs/ring.c"
# After whole rounds each token is back: 0 + 1 + 2, and 42 from each rank.
PRINTED = f"{RANKS} ranks, {RANKS * (RANKS - 1) // 2 + 42 * RANKS}\n"


@dataclass(frozen=True)
class Launcher:
    """The command that starts a program's ranks, and the environment that it needs."""

    argv: list[str]
    environment: dict[str, str]


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def launcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    kind = request.param
    folder = tmp_path_factory.mktemp(kind)
    subprocess.run([f"mpicc.{kind}", "-O2", "-o", folder / "ring", SOURCE], check=True)
    mine = {
        "openmpi": {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
        }
    }
    argv = [f"mpirun.{kind}", "-n", str(RANKS), str(folder / "ring")]
    return Launcher(argv, mine.get(kind, {}))


def output_of(image: Path, launcher: Launcher, folder: Path) -> str:
    with (folder / "output").open("w+") as output:
        result = boot.run(
            boot.Request(
                image=image,
                argv=launcher.argv,
                directory=folder,
                environment=os.environ | launcher.environment,
                stdout=output.fileno(),
            )
        )
        assert (result.status, boot.complaints(result.log)) == (0, [])
        output.seek(0)
        return output.read()


@pytest.mark.kernel
def test_ranks_run_in_a_guest(launcher: Launcher, generic_kernel: Any, tmp_path: Path) -> None:
    assert output_of(generic_kernel.image, launcher, tmp_path) == PRINTED


@pytest.mark.kernel
@pytest.mark.full
def test_ranks_run_on_a_kernel_for_what_was_seen_of_them(
    launcher: Launcher, generic_kernel: Any, tmp_path: Path
) -> None:
    """Nothing else is known about the ranks: the profile's part of the needs is empty."""
    seen = watching.Seen()
    environment = tuple(launcher.environment.items())
    Watch(tmp_path, tmp_path / "scratch", generic_kernel, environment).see(launcher.argv, "", seen)
    assert seen.unseen == []
    watching.write(tmp_path / "p.needs.json", seen, [launcher.argv], ["kadence"])
    nothing = codec.encode(Needs())
    body = {"program": ["ring"], "needs": needs.united(nothing, tmp_path / "p.needs.json")}
    plan = tmp_path / "p.plan.json"
    artefact.write(plan, artefact.PLAN, None, ["kadence"], body)
    kernel = build(BuildRequest(kind="tailored", plan=plan))
    assert output_of(kernel.image, launcher, tmp_path) == PRINTED


# Opens, by its number in /proc, a file that another process has open and that has no name left.
UNLINKED = """
import os, sys, tempfile
with tempfile.TemporaryFile(dir=sys.argv[1]) as file:
    os.ftruncate(file.fileno(), 8192)
    child = f"/proc/{os.getpid()}/fd/{file.fileno()}"
    if os.fork() == 0:
        with open(child, "r+b") as again:
            os.pwrite(again.fileno(), b"from the child", 4096)
        os._exit(0)
    os.wait()
    print(os.pread(file.fileno(), 14, 4096).decode())
"""


@pytest.mark.kernel
@pytest.mark.parametrize("folder", ["/dev/shm", "/tmp"])
def test_a_file_without_a_name_is_opened_by_way_of_proc(
    folder: str, generic_kernel: Any, tmp_path: Path
) -> None:
    python = Launcher([sys.executable, "-Sc", UNLINKED, folder], {})
    assert output_of(generic_kernel.image, python, tmp_path) == "from the child\n"
