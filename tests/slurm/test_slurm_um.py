# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps on their bundle's kernel under a real Slurm: signals, limits, status and records."""

import json
import platform
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cluster
import pytest
from packing import Workshop, noted_build_id

from kadence.kconfig.store import Kernel
from kadence.slurm import bundle

pytestmark = pytest.mark.kernel

PLUGIN = cluster.ROOT / "build/slurm/kadence.so"
USER = "games"
PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def um(
    slurm: type[cluster.Cluster], generic_kernel: Kernel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[cluster.Cluster]:
    """A cluster with target um, a bundle `toy.kbundle` and its plain program `toy`."""
    workshop = Workshop.make(tmp_path_factory.mktemp("workshop"))
    kernel = bundle.Kernel(generic_kernel.image, generic_kernel.id, "6.12")
    made = workshop.written(kernels={"um": kernel})
    with slurm(nodes=2, plugin=PLUGIN, lines=("KillWait=3",)) as started:
        shutil.copy(workshop.public, started.folder / "keys/tester.pub")
        for file in (made, workshop.plain):
            shutil.copy(file, started.folder / "share")
        yield started
        started.require_idle()


def words(um: cluster.Cluster, *options: str) -> list[str]:
    """The options of a job on the bundle's kernel."""
    path = um.folder / "share/toy.kbundle"
    return [f"--kadence={path}", "--kadence-target=um", *options]


def record(um: cluster.Cluster, job: str) -> Any:
    """What the epilog of a job on one node kept."""
    folder = um.folder / "records" / job
    cluster.until(lambda: folder.is_dir() and list(folder.glob("[!.]*")), "the record")
    paths = list(folder.glob("[!.]*.json"))
    assert len(paths) == 1
    return json.loads(paths[0].read_text())


def running_step(um: cluster.Cluster, script: Path, *options: str) -> str:
    """A job whose step has said that it is ready; returns its number."""
    job = um.sbatch(f"srun {script}\nexit $?\n", *words(um, *options), user=USER)
    output = um.home(USER) / f"slurm-{job}.out"
    cluster.until(lambda: output.exists() and "ready" in output.read_text(), "the step")
    return job


def own_lines(um: cluster.Cluster, job: str) -> list[str]:
    """What a script echoed; the shell tells of the `sleep` that a signal ended, too."""
    said = {"ready", "got", "warned", "end"}
    return [line for line in um.output(job, USER).splitlines() if line in said]


def script(um: cluster.Cluster, name: str, text: str) -> Path:
    path = um.home(USER) / name
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_step_runs_on_the_bundles_kernel(um: cluster.Cluster) -> None:
    said = um.run(["srun", *words(um), "uname", "-r"], USER)
    assert said.stdout.strip().endswith("-kadence-generic")
    toy = um.folder / "share/toy"
    assert um.run(["srun", *words(um), toy], USER).stdout == "adapted\n"
    assert um.run(["srun", toy], USER).stdout == "plain\n"


def test_statuses_are_the_commands(um: cluster.Cluster) -> None:
    for status in (0, 3, 143):
        command = ["srun", *words(um), "sh", "-c", f"exit {status}"]
        assert um.run(command, USER, check=False).returncode == status
    job = um.sbatch("exec srun sh -c 'kill -11 $$'\n", *words(um), user=USER)
    assert um.wait(job).state == "FAILED"
    entry = record(um, job)["steps"][0]
    assert (entry["status"], entry["signal"]) == (128, signal.SIGSEGV)


def test_the_epilog_keeps_what_the_step_used(um: cluster.Cluster) -> None:
    toy = um.folder / "share/toy"
    job = um.sbatch(f"srun {toy}\n", *words(um), user=USER)
    assert um.wait(job).state == "COMPLETED"
    entry = record(um, job)["steps"][0]
    assert (entry["step"], entry["task"], entry["program"]) == ("0", 0, "adapted")
    assert 0 < entry["boot_seconds"] + entry["wall_seconds"] < entry["task_seconds"]
    assert entry["minor_faults"] > 0
    shown = um.run(["kadence", "report", "--job", job, "--site", um.places.site], USER)
    assert "toy" in shown.stdout.splitlines()[1] and "adapted" in shown.stdout


@pytest.mark.parametrize("name", ["USR1", "USR2", "HUP", "INT", "TERM"])
def test_scancels_signals_reach_the_command_once(um: cluster.Cluster, name: str) -> None:
    text = f"trap 'echo got' {name}; echo ready; for i in $(seq 40); do sleep 0.05; done; echo end"
    job = running_step(um, script(um, f"count-{name}", text))
    um.run(["scancel", f"--signal={name}", f"{job}.0"], USER)
    assert um.wait(job).state == "COMPLETED"
    assert own_lines(um, job) == ["ready", "got", "end"]


def test_a_time_limits_warning_reaches_the_command(um: cluster.Cluster) -> None:
    text = "trap 'echo warned; exit 0' USR1; echo ready; while :; do sleep 0.05; done"
    path = script(um, "warned", text)
    job = running_step(um, path, "--time=1", "--signal=USR1@60")
    assert um.wait(job).state == "COMPLETED"
    assert own_lines(um, job) == ["ready", "warned"]


def test_a_cancelled_job_may_end_in_its_own_way(um: cluster.Cluster) -> None:
    text = "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    job = running_step(um, script(um, "saving", text))
    um.run(["scancel", job], USER)
    assert um.wait(job).state == "CANCELLED"
    assert "saved" in um.output(job, USER)
    um.require_idle()


def test_a_cancelled_job_that_does_not_listen_is_killed(um: cluster.Cluster) -> None:
    text = "trap '' TERM INT; echo ready; while :; do sleep 0.05; done"
    job = running_step(um, script(um, "deaf", text))
    um.run(["scancel", job], USER)
    assert um.wait(job).state == "CANCELLED"
    um.require_idle()
    assert um.run(["srun", "uname", "-r"], USER).stdout == f"{platform.release()}\n"


def test_a_larger_step_runs_plain_with_one_notice(um: cluster.Cluster) -> None:
    toy = um.folder / "share/toy"
    ended = um.run(["srun", *words(um, "--ntasks=3", "--overcommit"), toy], USER)
    assert ended.stdout == 3 * "plain\n"
    assert ended.stderr.count("running unadapted") == 1 and "3 tasks" in ended.stderr


def test_two_users_kernels_side_by_side(um: cluster.Cluster) -> None:
    """Each sees its own; neither the other's processes."""
    steps = [
        um.start(["srun", *words(um, "--nodelist=node1"), "sh", "-c", "id -u; ls /proc"], user)
        for user in (USER, "nobody")
    ]
    said = [step.communicate(timeout=PATIENCE_SECONDS)[0].split() for step in steps]
    assert said[0][0] != said[1][0]
    for words_of_one in said:
        assert len([word for word in words_of_one[1:] if word.isdecimal()]) < 60


def test_input_and_environment_reach_the_command(um: cluster.Cluster) -> None:
    given = "line\n" * 20000
    ended = um.run(["srun", *words(um), "cat"], USER, input=given)
    assert ended.stdout == given
    said = um.run(["srun", *words(um), "env"], USER, environment={"OWN": "of the user"}).stdout
    names = {line.partition("=")[0] for line in said.splitlines()}
    assert "OWN" in names and not any(name.startswith("KADENCE_STEP") for name in names)


def test_the_bundle_is_of_this_build(um: cluster.Cluster) -> None:
    """What tells a stale bundle from a fresh one is the linker's build-id."""
    shown = um.run(["kadence", "bundle", "--show", um.folder / "share/toy.kbundle"], USER).stdout
    assert f"stands in for {noted_build_id(um.folder / 'share/toy')}" in shown
