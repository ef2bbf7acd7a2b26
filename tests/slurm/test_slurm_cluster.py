# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests' own Slurm works, and leaves nothing behind."""

import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster import Cluster, until
from trial_programs import linked

# Starts a cluster with a job, prints the cluster's folder, and waits to be ended.
OWNER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from cluster import Cluster
with Cluster(nodes=1) as cluster:
    cluster.wait_for_state(cluster.sbatch("sleep 1000"), "RUNNING")
    print(cluster.folder, flush=True)
    time.sleep(1000)
"""


def _mentioning(text: str) -> list[str]:
    """Processes with this text in their command or environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if text.encode() in told:
            found.append(process.name)
    return found


def test_job_runs(plain_cluster: Cluster) -> None:
    job = plain_cluster.sbatch("echo out of $SLURM_JOB_ID\nexit 3\n")
    ended = plain_cluster.wait(job)
    assert (ended.state, ended.exit_code) == ("FAILED", 3)
    assert plain_cluster.output(job) == f"out of {job}\n"
    plain_cluster.require_idle()


def test_step_on_every_node(plain_cluster: Cluster) -> None:
    words = ["srun", "-N2", "printenv", "SLURMD_NODENAME"]
    assert sorted(plain_cluster.run(words).stdout.split()) == ["node1", "node2"]


def test_libkadapt_knows_the_ranks_of_a_step(
    plain_cluster: Cluster, root: Path, tmp_path: Path
) -> None:
    """Local ranks, nodes, and a number that only the ranks of one step have."""
    program = linked(root, "ranks.c", tmp_path)
    told = [
        plain_cluster.run(["srun", "-N2", "-n4", program, "job"]).stdout.splitlines()
        for _ in range(2)
    ]
    numbers = [{line.split()[2] for line in step} for step in told]
    assert [len(step) for step in told] == [4, 4]
    assert {tuple(line.split()[:2]) for step in told for line in step} == {("2", "2")}
    assert [len(step) for step in numbers] == [1, 1]
    assert numbers[0] != numbers[1]


def test_sacct_shows_job_and_steps(plain_cluster: Cluster) -> None:
    job = plain_cluster.sbatch("srun -n1 true\nsrun -n1 sh -c 'exit 5'\n", "-J", "two")
    plain_cluster.wait(job)
    rows = plain_cluster.sacct(job, "JobID,JobName,ExitCode")
    shown = {row["JobID"]: (row["JobName"], row["State"], row["ExitCode"]) for row in rows}
    assert shown == {
        job: ("two", "FAILED", "5:0"),
        f"{job}.batch": ("batch", "FAILED", "5:0"),
        f"{job}.0": ("true", "COMPLETED", "0:0"),
        f"{job}.1": ("sh", "FAILED", "5:0"),
    }


def test_jobs_of_two_users(plain_cluster: Cluster) -> None:
    for user in ("nobody", "games"):
        job = plain_cluster.sbatch("id -un; id -u", user=user)
        assert plain_cluster.wait(job).state == "COMPLETED"
        assert plain_cluster.output(job, user).split() == [user, str(pwd.getpwnam(user).pw_uid)]


def test_array(plain_cluster: Cluster) -> None:
    job = plain_cluster.sbatch("exit $SLURM_ARRAY_TASK_ID", "--array=0-3", user="nobody")
    tasks = plain_cluster.wait_all(job)
    assert sorted(task.exit_code for task in tasks) == [0, 1, 2, 3]


def test_cancelled_job_is_gone(plain_cluster: Cluster) -> None:
    # proctrack/linuxproc walks the parents of processes, so it misses a process that its parent
    # starts meanwhile: cancel no earlier than the script waits.
    started = plain_cluster.folder / "share/started"
    job = plain_cluster.sbatch(f"sleep 1234 & touch {started}; wait", user="games")
    until(started.exists, "the job's script runs")
    plain_cluster.run(["scancel", job])
    assert plain_cluster.wait(job).state == "CANCELLED"
    until(lambda: not _mentioning(f"SLURM_JOB_ID={job}\0"), "the job's processes gone")
    plain_cluster.require_idle()


def test_job_outlives_its_slurmd(slurm: type[Cluster]) -> None:
    with slurm(nodes=1) as cluster:
        started, proceed = cluster.folder / "share/started", cluster.folder / "share/proceed"
        script = f"touch {started}; until [ -e {proceed} ]; do sleep 0.1; done; exit 7"
        job = cluster.sbatch(script)
        until(started.exists, "the job's script runs")
        cluster.kill_slurmd("node1")
        cluster.start_slurmd("node1")
        proceed.touch()
        assert cluster.wait(job).exit_code == 7
        cluster.require_idle()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_nothing_is_left(slurm: type[Cluster], number: int) -> None:
    words = [sys.executable, "-c", OWNER, Path(__file__).parent]
    owner = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert owner.stdout is not None
    folder = Path(owner.stdout.readline().strip())
    assert folder.is_dir()
    assert _mentioning(str(folder))
    os.kill(owner.pid, number)
    owner.wait()
    _until_gone(lambda: folder.exists() or bool(_mentioning(str(folder))))


def _until_gone(remains: Callable[[], bool]) -> None:
    until(lambda: not remains(), "folder and processes gone")
