# SPDX-License-Identifier: GPL-2.0-or-later
"""A task on its bundle's kernel, with the environment that Slurm and kadence-step give it."""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from packing import Workshop
from patience import PATIENCE_SECONDS

from kadence.kconfig.store.store import Kernel
from kadence.slurm import bundle

pytestmark = pytest.mark.kernel

SLURM = {
    "SLURM_JOB_ID": "7",
    "SLURM_STEP_ID": "0",
    "SLURM_PROCID": "0",
    "SLURM_LOCALID": "0",
    "SLURM_NNODES": "1",
    "SLURM_STEP_NUM_NODES": "1",
    "SLURM_STEP_NUM_TASKS": "1",
    "SLURM_CPUS_ON_NODE": "2",
    "SLURM_MEM_PER_NODE": "512",
}

LAUNCHERS = (
    *("OMPI_MCA_plm", "OMPI_MCA_ras", "PRTE_MCA_plm", "PRTE_MCA_ras"),
    *("HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP", "HYDRA_RMK"),
)


@dataclass
class Job:
    """A job's folder as the prolog leaves it."""

    place: Path
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        return self.place / "store"

    @property
    def image(self) -> Path:
        return self.store / "kernel/um"

    def note(self, task: int = 0) -> Any:
        """The note that the task left for the epilog."""
        return json.loads((self.place / f"steps/0.{task}.json").read_text())

    def environment(self, command: str, program: str, **more: str) -> dict[str, str]:
        """The environment that kadence-step passes on."""
        own = {
            "KADENCE_JOB": str(self.place),
            "KADENCE_STEP": "0",
            "KADENCE_STEP_COMMAND": command,
            "KADENCE_STEP_PROGRAM": program,
            "KADENCE_PROBLEM": "",
            "KADENCE_STEP_FALLBACK": self.state["fallback"],
        }
        usual = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        return usual | SLURM | own | more

    def start(self, *argv: str, program: str = "", **more: Any) -> "subprocess.Popen[bytes]":
        """Start a task; `program` stands in for the command."""
        (self.place / "state.json").write_text(json.dumps(self.state))
        pipes = {name: more.pop(name, subprocess.PIPE) for name in ("stdin", "stdout", "stderr")}
        found = program or shutil.which(argv[0]) or argv[0]
        return subprocess.Popen(
            [sys.executable, "-I", "-m", "kadence.slurm.step", *argv[1:]],
            env=self.environment(argv[0], found, **more),
            cwd=self.place,
            **pipes,
        )

    def run(self, *argv: str, given: bytes = b"", **more: Any) -> tuple[int, str, str]:
        """Run a task; returns its exit status, standard output and standard error."""
        process = self.start(*argv, **more)
        said, complained = process.communicate(given, timeout=PATIENCE_SECONDS)
        return process.returncode, said.decode(), complained.decode()


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop.make(tmp_path_factory.mktemp("workshop"))


@pytest.fixture(scope="module")
def unpacked(
    workshop: Workshop, generic_kernel: Kernel, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A bundle whose kernel is the generic one, as it lies in a node's store."""
    kernel = bundle.Kernel(generic_kernel.image, generic_kernel.id, "6.12")
    found = bundle.read(workshop.written(kernels={"um": kernel}))
    store = tmp_path_factory.mktemp("store")
    for path, content in {"manifest.json": found.manifest_bytes, **found.files}.items():
        file = store / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(0o755)
    return store


@pytest.fixture
def job(unpacked: Path, tmp_path: Path) -> Job:
    """A job with the unpacked bundle."""
    job = Job(tmp_path / "job")
    shutil.copytree(unpacked, job.store)
    (job.place / "steps").mkdir()
    job.state |= {
        "schema": "kadence.job",
        "version": 1,
        "store": str(job.store),
        "steps": str(job.place / "steps"),
        "target": "um",
        "fallback": "run",
        "boot_seconds": 30,
    }
    return job


def broken(job: Job, script: str) -> None:
    """Replace the job's kernel by a shell script, in which $KERNEL is the real kernel."""
    true = job.image.rename(job.image.with_name("true"))
    job.image.write_text(f"#!/bin/sh\nKERNEL={true}\n{script}\n")
    job.image.chmod(0o755)


PANIC = 'exec $KERNEL "$@" init=/nowhere panic=-1'
HANG = "exec sleep 1000"
BROKEN = {"panics": PANIC, "hangs": HANG, "ends": "exit 3"}


def test_the_command_runs_on_the_bundles_kernel(job: Job) -> None:
    status, said, complained = job.run("sh", "-c", "uname -r; cat; exit 3", given=b"given\n")
    assert (status, complained) == (3, "")
    release, given = said.splitlines()
    assert release.endswith("-kadence-generic") and release != platform.release()
    assert given == "given"


def test_the_bundles_program_stands_in(job: Job, workshop: Workshop) -> None:
    adapted = str(job.store / "bin/toy")
    assert job.run(str(workshop.plain), program=adapted) == (0, "adapted\n", "")
    note = job.note()
    assert (note["program"], note["command"]) == ("adapted", str(workshop.plain))


def test_the_note_says_what_was_used(job: Job, generic_kernel: Kernel) -> None:
    script = "i=0; while test $i -lt 20000; do i=$((i+1)); done; sleep 0.2; exit 4"
    assert job.run("sh", "-c", script)[0] == 4
    note = job.note()
    assert (note["schema"], note["version"]) == ("kadence.step", 1)
    assert (note["step"], note["task"], note["status"], note["signal"]) == ("0", 0, 4, 0)
    assert (note["target"], note["program"]) == ("um", "plain")
    assert note["kernel"] == generic_kernel.id and note["complaints"] == []
    assert note["arguments"] == ["-c", script]
    assert 0.2 <= note["wall_seconds"] < PATIENCE_SECONDS
    assert 0 < note["boot_seconds"] < 30
    assert note["user_seconds"] + note["system_seconds"] < note["wall_seconds"]
    assert note["minor_faults"] > 0 and note["voluntary_switches"] > 0
    assert 0 < note["max_resident_bytes"] < 512 << 20


def test_counters_go_where_the_epilog_looks(job: Job) -> None:
    assert job.run("sh", "-c", 'echo {} >> "$KADAPT_COUNTERS"')[0] == 0
    assert (job.place / "steps/0.0.counters").read_text() == "{}\n"


def test_the_environment_is_the_commands_own(job: Job) -> None:
    """Added are only the variables for counters and those that hide Slurm from MPI launchers."""
    _, said, _ = job.run("env", OWN="of the user", PYTHONHOME="/nowhere", PYTHONPATH="/nowhere")
    found = dict(line.partition("=")[::2] for line in said.splitlines())
    given = job.environment("env", "", OWN="of the user", PYTHONHOME="/nowhere")
    expected = {name for name in given if not name.startswith("KADENCE_")}
    assert set(found) == expected | {"PYTHONPATH", "KADAPT_COUNTERS", *LAUNCHERS}
    assert all(found[name] == given[name] for name in expected)


def test_launchers_of_ranks_do_not_look_for_slurm(job: Job) -> None:
    """Slurm 24.11 sets HYDRA_BOOTSTRAP; what the user chose stays."""
    script = 'echo "$HYDRA_BOOTSTRAP" "$PRTE_MCA_plm" "$PRTE_MCA_ras"'
    chosen = {"HYDRA_BOOTSTRAP": "slurm", "PRTE_MCA_plm": "ssh"}
    assert job.run("sh", "-c", script, **chosen)[1] == "fork ssh ^slurm\n"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGTERM, signal.SIGKILL, signal.SIGUSR1])
def test_a_command_that_a_signal_ends_is_seen_to(job: Job, number: signal.Signals) -> None:
    assert job.run("sh", "-c", f"kill -{number.value} $$")[0] == -number
    assert (job.note()["status"], job.note()["signal"]) == (128, number)


def test_a_shell_that_tells_of_a_signal_did_not_die_of_it(job: Job) -> None:
    assert job.run("sh", "-c", "exit 143")[0] == 143


@pytest.mark.parametrize(
    ("larger", "what"),
    [
        ({"SLURM_STEP_NUM_NODES": "2"}, "2 nodes"),
        ({"SLURM_STEP_NUM_TASKS": "4"}, "4 tasks"),
        ({"SLURM_CPUS_PER_TASK": "8"}, "8 processors"),
    ],
)
def test_a_larger_step_runs_plain_and_says_so_once(
    job: Job, larger: Mapping[str, str], what: str
) -> None:
    first = job.run("uname", "-r", **larger)
    second = job.run("uname", "-r", **larger, SLURM_PROCID="1")
    assert first[:2] == second[:2] == (0, f"{platform.release()}\n")
    assert first[2].count("\n") == 1 and what in first[2] and "running unadapted" in first[2]
    assert second[2] == ""
    assert what in job.note()["why"] and job.note(1)["target"] == "none"


def test_what_runs_plain_is_as_if_we_had_not_been_there(job: Job) -> None:
    script = "env; grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; ls /proc/self/fd; pwd; umask"
    given = job.environment("sh", "", SLURM_STEP_NUM_TASKS="2")
    own = {name: text for name, text in given.items() if not name.startswith("KADENCE_")}
    plain = subprocess.run(
        ["sh", "-c", script], env=own, cwd=job.place, capture_output=True, text=True, input=""
    )
    status, said, _ = job.run("sh", "-c", script, SLURM_STEP_NUM_TASKS="2")
    assert status == 0
    assert sorted(said.splitlines()) == sorted(plain.stdout.splitlines())


def test_a_command_that_is_not_there(job: Job) -> None:
    status, _, complained = job.run("nowhere", SLURM_STEP_NUM_TASKS="2", SLURM_PROCID="1")
    assert status == 2
    assert complained == "kadence: error: execve(): nowhere: No such file or directory\n"


@pytest.mark.parametrize("kind", BROKEN)
def test_a_kernel_that_does_not_come_up_leaves_the_command_to_the_machines(
    job: Job, kind: str
) -> None:
    broken(job, BROKEN[kind])
    job.state["boot_seconds"] = 2
    given = os.urandom(1 << 20).hex().encode()
    status, said, complained = job.run("sh", "-c", "uname -r; cat; exit 5", given=given)
    assert status == 5
    assert said == f"{platform.release()}\n{given.decode()}"
    assert complained.count("\n") == 1 and complained.endswith("; running unadapted\n")
    assert complained.startswith("kadence: ") and "kernel/um" in complained
    assert job.note()["target"] == "none" and "kernel/um" in job.note()["why"]


@pytest.mark.parametrize("kind", BROKEN)
def test_a_kernel_that_does_not_come_up_fails_the_step_on_demand(job: Job, kind: str) -> None:
    broken(job, BROKEN[kind])
    job.state |= {"boot_seconds": 2, "fallback": "fail"}
    status, said, complained = job.run("touch", "ran")
    assert (status, said) == (1, "")
    assert complained.startswith("kadence: ") and complained.count("\n") == 1
    assert not (job.place / "ran").exists()
    assert job.note()["status"] == 1


def kernel_of(job: Job) -> int:
    """The first process of the job's kernel."""
    running = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(job.image) == (folder / "cmdline").read_bytes().split(b"\0")[0]:
                running.append(int(folder.name))
        except OSError:
            continue
    return min(running)


@pytest.mark.parametrize("fallback", ["run", "fail"])
def test_a_guest_that_dies_in_mid_job_is_not_run_again(job: Job, fallback: str) -> None:
    job.state["fallback"] = fallback
    process = job.start("sh", "-c", "echo ran >> ran; echo ready; exec sleep 1000")
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    os.kill(kernel_of(job), signal.SIGKILL)
    said, complained = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, said) == (125, b"")
    assert complained.startswith(b"kadence: the guest of ") and complained.count(b"\n") == 1
    assert b"the command is not run again" in complained
    assert (job.place / "ran").read_text() == "ran\n"
    assert job.note()["status"] == 125


def test_a_job_cancelled_during_boot_ends_by_that(job: Job) -> None:
    started = job.place / "started"
    broken(job, f"touch {started}; {HANG}")
    process = job.start("touch", "ran")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.terminate()
    process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == -signal.SIGTERM
    assert not (job.place / "ran").exists()


@pytest.mark.parametrize(
    "given",
    [
        {"SLURM_MEM_PER_NODE": "200"},
        {"SLURM_MEM_PER_NODE": "", "SLURM_MEM_PER_CPU": "100"},
    ],
)
def test_the_guest_has_no_more_memory_than_the_step(job: Job, given: Mapping[str, str]) -> None:
    status, said, _ = job.run("grep", "MemTotal", "/proc/meminfo", **given)
    assert status == 0
    assert 100 << 10 < int(said.split()[1]) < 200 << 10


def test_too_little_memory_for_a_guest(job: Job) -> None:
    job.state["fallback"] = "fail"
    status, _, complained = job.run("true", SLURM_MEM_PER_NODE="32")
    assert status == 1
    assert "this step was given" in complained and complained.count("\n") == 1


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda job: (job.store / "manifest.json").write_text("{"), "is not a kadence.bundle"),
        (lambda job: (job.store / "manifest.json").unlink(), "cannot read"),
        (lambda job: job.image.unlink(), "there is no kernel"),
        (lambda job: job.image.chmod(0o644), "is not executable"),
    ],
)
def test_a_damaged_store_falls_back(job: Job, damage: Callable[[Job], Any], expected: str) -> None:
    if "executable" in expected and os.geteuid() == 0:
        job.image.write_bytes(b"")
        expected = "kernel/um"
    damage(job)
    status, said, complained = job.run("echo", "plain")
    assert (status, said) == (0, "plain\n")
    assert expected in complained and complained.count("\n") == 1


def test_no_place_for_the_note_is_no_fault_of_the_command(job: Job) -> None:
    (job.place / "steps").rmdir()
    assert job.run("sh", "-c", "exit 6") == (6, "", "")


def test_it_is_for_slurm_to_start() -> None:
    words = [sys.executable, "-I", "-m", "kadence.slurm.step"]
    ended = subprocess.run(words, env={}, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "for Slurm to start" in ended.stderr and ended.stderr.count("\n") == 1


def test_a_program_is_called_as_slurm_was_told(job: Job) -> None:
    """The bundle's file is executed, but argv[0] stays as the user gave it."""
    script = job.store / "bin/toy"
    script.unlink()
    script.symlink_to("/bin/busybox")
    assert job.run("echo", "this", program=str(script)) == (0, "this\n", "")
