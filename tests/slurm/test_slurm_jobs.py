# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs with a bundle, on a real Slurm, look to users like any other job.

The same command in a plain job gives the expected result.
"""

import json
import os
import pwd
import subprocess
from pathlib import Path
from typing import Any

import pytest
from adapting import AdaptingCluster as Cluster
from bundles import Bundles
from cluster import until

pytestmark = pytest.mark.kernel

USER = "nobody"
PROGRAMS = Path(__file__).with_name("programs")
UM = "--kadence-target=um"
# Variables of Kadence that a step may see.
OWN_VARIABLES = ("KADENCE_BUNDLE", "KADENCE_TARGET", "KADENCE_FALLBACK", "KADAPT_COUNTERS")
# Variables that tell MPI launchers in a guest not to use Slurm.
LAUNCHERS = (
    *("OMPI_MCA_plm", "OMPI_MCA_ras", "PRTE_MCA_plm", "PRTE_MCA_ras"),
    *("HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP", "HYDRA_RMK"),
)
# Variables that differ from job to job or from step to step.
VARYING = ("SLURM", "SRUN_", "PWD=", "_=", "SHLVL=")


def _srun(cluster: Cluster, bundle: Path, *words: object, **options: Any) -> Any:
    return cluster.run(["srun", f"--kadence={bundle}", *words], USER, **options)


def _environment(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if not line.startswith(VARYING)]
    return sorted(line for line in lines if line.partition("=")[0] not in OWN_VARIABLES + LAUNCHERS)


def test_steps_run_on_the_kernel_of_the_bundle(
    adapting: Cluster, bundles: Bundles, good: Path
) -> None:
    job = adapting.sbatch("uname -r\nsrun uname -r\n", f"--kadence={good}", UM, user=USER)
    assert adapting.wait(job).state == "COMPLETED"
    assert adapting.output(job, USER).split() == [os.uname().release, bundles.release]


def test_program_of_the_bundle_takes_the_place_of_the_plain_one(
    adapting: Cluster, bundles: Bundles, good: Path
) -> None:
    plain = bundles.folder / "plain/work"
    release = bundles.release
    completed = _srun(adapting, good, UM, plain, "a", "b c", "")
    assert (completed.stdout, completed.stderr) == (f"adapted on {release} with a b c \n", "")
    # If no such program exists, the name means the bundle's program.
    assert _srun(adapting, good, UM, "work").stdout.startswith("adapted on ")
    # Without a target that was measured faster the plain program runs, and a message says so.
    completed = _srun(adapting, good, plain)
    assert completed.stdout == f"plain on {os.uname().release} with\n"
    assert "no target was measured faster" in completed.stderr
    assert len(completed.stderr.splitlines()) == 1


def test_target_that_was_measured_faster_is_chosen(adapting: Cluster, bundles: Bundles) -> None:
    from kadence.slurm.manifest import Measured

    faster = {"um": Measured("faster", 0.5, "half the time")}
    bundle = bundles.bundle("measured", measured=faster)
    assert bundles.release in _srun(adapting, bundle, "work").stdout


def test_program_that_was_built_anew_is_not_replaced(
    adapting: Cluster, bundles: Bundles, good: Path
) -> None:
    anew = bundles.program("anew", "anew")
    completed = _srun(adapting, good, UM, anew)
    assert completed.stdout.startswith("anew on " + os.uname().release)
    assert "is not the program that bundle work was made from" in completed.stderr
    completed = _srun(adapting, good, UM, "--kadence-fallback=fail", anew, check=False)
    assert (completed.returncode, completed.stdout) == (1, "")
    assert "make the bundle anew" in completed.stderr


@pytest.mark.parametrize("target", ["um", "none"])
def test_environment_and_limits_are_those_of_any_step(
    adapting: Cluster, good: Path, target: str
) -> None:
    """TaskProlog, TMPDIR, limits, umask, directory, groups: as in the step without a bundle."""
    probe = "env -0 | tr '\\0\\n' '\\n~'; ulimit -a; umask; pwd; id; cat"
    words = ["sh", "-c", probe]
    given = {"input": "from standard input\n", "environment": {"TMPDIR": "/var/tmp", "A": "b\nc"}}
    limits = {"preexec_fn": _lower_limits}
    plain = adapting.run(["srun", *words], USER, **given, **limits)
    ours = _srun(adapting, good, f"--kadence-target={target}", *words, **given, **limits)
    assert "FROM_TASK_PROLOG=yes" in plain.stdout
    assert "TMPDIR=/var/tmp" in plain.stdout
    assert _environment(ours.stdout) == _environment(plain.stdout)


def _lower_limits() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_STACK, (4 << 20, 4 << 20))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    os.umask(0o027)


def test_affinity_is_that_of_any_step(adapting: Cluster, good: Path) -> None:
    """The wrapper is bound like the task; the guest's kernel runs on one of its processors."""
    words = ["--nodelist=node1", "grep", "Cpus_allowed_list", "/proc/self/status"]
    plain = adapting.run(["srun", *words], USER).stdout
    allowed = int(plain.split()[-1])
    assert _srun(adapting, good, "--kadence-target=none", *words).stdout == plain
    job = adapting.sbatch(
        "srun sleep 1000\n", f"--kadence={good}", UM, "--nodelist=node1", user=USER
    )
    found = until(lambda: adapting.affinities(adapting.guests()), "a guest runs")
    assert found == {frozenset({allowed})}
    adapting.run(["scancel", job])
    adapting.wait(job)


@pytest.mark.parametrize("target", ["um", "none"])
@pytest.mark.parametrize(
    "script", ["exit 0", "exit 7", "kill -9 $$", "kill -USR1 $$", "nothing-of-this-name"]
)
def test_end_of_a_step_is_that_of_the_command(
    adapting: Cluster, good: Path, script: str, target: str
) -> None:
    words = ["sh", "-c", script]
    plain = adapting.run(["srun", *words], USER, check=False)
    ours = _srun(adapting, good, f"--kadence-target={target}", *words, check=False)
    assert ours.returncode == plain.returncode


@pytest.mark.parametrize("target", ["um", "none"])
def test_command_that_is_not_there(adapting: Cluster, good: Path, target: str) -> None:
    plain = adapting.run(["srun", "nothing-of-this-name"], USER, check=False)
    ours = _srun(adapting, good, f"--kadence-target={target}", "nothing-of-this-name", check=False)
    assert ours.returncode == plain.returncode
    assert "nothing-of-this-name: No such file or directory" in ours.stderr


def test_arrays_and_output_files(adapting: Cluster, good: Path) -> None:
    job = adapting.sbatch(
        "srun --output=out.%a sh -c 'echo $SLURM_ARRAY_TASK_ID on $(uname -r)'\n",
        f"--kadence={good}",
        UM,
        "--array=1-4",
        user=USER,
    )
    assert [task.state for task in adapting.wait_all(job)] == ["COMPLETED"] * 4
    for number in range(1, 5):
        text = (adapting.home(USER) / f"out.{number}").read_text()
        assert text.startswith(f"{number} on 6.12")


def test_signals_and_cancelling(adapting: Cluster, good: Path) -> None:
    """scancel --signal reaches the command once; scancel ends it, and nothing is left."""
    script = "trap 'echo caught' USR1; echo ready; while :; do sleep 0.1; done"
    job = adapting.sbatch(f'srun sh -c "{script}"\n', f"--kadence={good}", UM, user=USER)
    until(lambda: "ready" in adapting.written(job, USER), "the command runs")
    adapting.run(["scancel", "--signal=USR1", f"{job}.0"])
    until(lambda: "caught" in adapting.written(job, USER), "the signal was caught")
    adapting.run(["scancel", job])
    assert adapting.wait(job).state == "CANCELLED"
    assert adapting.output(job, USER).count("caught") == 1


@pytest.mark.full
def test_time_limit(adapting: Cluster, good: Path) -> None:
    """The limit is a minute, Slurm's shortest; the signal comes before it."""
    script = "trap 'echo warned' USR1; while :; do sleep 0.1; done"
    job = adapting.sbatch(
        f'srun sh -c "{script}"\n', f"--kadence={good}", UM, "--time=1", "--signal=USR1@30",
        user=USER,
    )  # fmt: skip
    assert adapting.wait(job, seconds=300).state == "TIMEOUT"
    assert adapting.output(job, USER).count("warned") == 1


def test_accounting(adapting: Cluster, good: Path) -> None:
    job = adapting.sbatch("srun true\nsrun sh -c 'exit 3'\n", f"--kadence={good}", UM, user=USER)
    adapting.wait(job)
    rows = {row["JobID"]: (row["State"], row["ExitCode"]) for row in adapting.sacct(job)}
    assert rows[f"{job}.0"] == ("COMPLETED", "0:0")
    assert rows[f"{job}.1"] == ("FAILED", "3:0")


def test_allocation_hands_the_bundle_to_its_steps(
    adapting: Cluster, bundles: Bundles, good: Path
) -> None:
    script = "uname -r; srun uname -r; srun --kadence-target=none uname -r"
    words = ["salloc", f"--kadence={good}", UM, "sh", "-c", script]
    node, guest = os.uname().release, bundles.release
    assert adapting.run(words, USER).stdout.split() == [node, guest, node]


def test_step_with_a_bundle_of_its_own(adapting: Cluster, bundles: Bundles, good: Path) -> None:
    script = f"srun uname -r; srun --kadence={good} {UM} uname -r"
    words = ["salloc", "sh", "-c", script]
    node, guest = os.uname().release, bundles.release
    assert adapting.run(words, USER).stdout.split() == [node, guest]


def test_environment_that_is_not_handed_on(adapting: Cluster, bundles: Bundles, good: Path) -> None:
    """--export=NONE, and a bundle path that is relative to a directory other than the job's."""
    job = adapting.run(
        ["sbatch", "--parsable", "--export=NONE", f"--chdir={adapting.home(USER)}", "--wait",
         f"--kadence={good.name}", UM, "--wrap", "srun /bin/uname -r"],
        USER, cwd=good.parent,
    ).stdout.strip()  # fmt: skip
    assert adapting.output(job, USER).strip() == bundles.release


def test_steps_too_large_for_the_target_run_plain(adapting: Cluster, good: Path) -> None:
    completed = _srun(adapting, good, UM, "--ntasks=2", "uname", "-r")
    assert completed.stdout.split() == [os.uname().release] * 2
    assert len(completed.stderr.splitlines()) == 1, completed.stderr
    assert "um" in completed.stderr


def test_ranks_of_an_mpi_program_under_one_guest(
    adapting: Cluster, bundles: Bundles, good: Path
) -> None:
    """Its own mpirun starts the ranks; in the guest mpirun sees no Slurm to start them with."""
    program = bundles.folder / "ranks"
    subprocess.run(["mpicc", PROGRAMS / "ranks.c", "-o", program], check=True)
    words = ["mpirun", "--oversubscribe", "-n", "4", program]
    there = _srun(adapting, good, UM, "--mem=1G", *words)
    here = adapting.run(words, USER)
    assert there.stdout == here.stdout != ""


def test_broadcast_bundle(adapting: Cluster, bundles: Bundles, good: Path) -> None:
    """srun copies the bundle to the node, which removes the copy after unpacking it."""
    completed = _srun(adapting, good, UM, "--kadence-broadcast", "--nodes=1", "uname", "-r")
    assert completed.stdout.strip() == bundles.release
    assert not list(Path("/tmp").glob("kadence-*.kbundle"))


def test_records_are_the_user_s(adapting: Cluster, good: Path) -> None:
    job = adapting.sbatch("srun work\nsrun false\n", f"--kadence={good}", UM, user=USER)
    adapting.wait(job)
    (path,) = until(lambda: list(adapting.records(job)), "the epilog wrote a record")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.owner() == path.parent.owner() == USER
    record = json.loads(path.read_text())
    assert record["target"] == "um" and not record["refused"]
    steps = {step["step"]: step for step in record["steps"]}
    assert (steps["0"]["command"], steps["0"]["status"]) == ("work", 0)
    assert (steps["1"]["command"], steps["1"]["status"]) == ("false", 1)


def test_records_of_trials_are_kept_for_adapted_steps(adapting: Cluster, good: Path) -> None:
    """A file for each step. What else the user puts there is neither kept nor read as root."""
    steps = "$(dirname $KADAPT_COUNTERS)"
    attack = f"cd {steps} && ln -s /etc/shadow 8.trials; mkfifo 9.trials; echo x >../x.trials"
    script = f"srun work\nsrun sh -c '{attack}; echo x >y.trials'\nsrun work; srun work\n"
    job = adapting.sbatch(script, f"--kadence={good}", UM, "--nodelist=node1", user=USER)
    assert adapting.wait(job).state == "COMPLETED"
    (record,) = until(lambda: list(adapting.records(job)), "the epilog wrote a record")
    kept = sorted(record.parent.glob("*.trials"))
    assert [path.name for path in kept] == [f"node1.{step}.trials" for step in (0, 2, 3)]
    assert [path.read_text() for path in kept] == ["adapted\n"] * 3
    assert {(path.owner(), path.stat().st_mode & 0o777) for path in kept} == {(USER, 0o600)}
    notice = json.loads(record.read_text())["notice"]
    assert notice.startswith("not all records of trials were kept: ")
    assert ".trials cannot be read" in notice


def test_two_users_with_different_kernels_at_once(
    adapting: Cluster, bundles: Bundles, good: Path
) -> None:
    """Both jobs are on one node; neither user can read the other job's files there."""
    other = bundles.bundle("other", arguments="hostname=other")
    script = "srun sh -c 'cat /proc/cmdline; sleep 2'; ls %s 2>&1 | head -1\n"
    jobs = {}
    for user, bundle in ((USER, good), ("games", other)):
        listing = adapting.places.spool("node1") / "store/*/tree"
        jobs[user] = adapting.sbatch(
            script % listing, f"--kadence={bundle}", UM, "--nodelist=node1", "--mem=512",
            user=user,
        )  # fmt: skip
    for user, job in jobs.items():
        assert adapting.wait(job).state == "COMPLETED"
        assert ("hostname=other" in adapting.output(job, user)) == (user == "games")


# What a user might try on files that belong to root once they are unpacked.
ATTEMPTS = (
    *("chmod u+w .", "mv kernel kernel.old", "rm -f manifest.json", "touch new"),
    *("echo x >>manifest.json", "ln -sf /bin/true bin/work", "mv . ../other", "chmod 755 ."),
)


def test_a_user_can_change_nothing_in_a_kept_bundle(adapting: Cluster, good: Path) -> None:
    """The user's next job runs the files that were verified."""
    options = (f"--kadence={good}", UM, "--nodelist=node1")
    first = adapting.sbatch("srun true\n", *options, user=USER)
    assert adapting.wait(first).state == "COMPLETED"
    store = adapting.places.spool("node1") / "store"
    tree = max(store.glob(f"{pwd.getpwnam(USER).pw_uid}-*/tree"), key=os.path.getctime)
    before = _contents(tree)
    tries = "".join(f"({attempt}) 2>/dev/null && echo '{attempt}'\n" for attempt in ATTEMPTS)
    second = adapting.sbatch(f"cd {tree} && echo inside\n{tries}true\n", *options, user=USER)
    assert adapting.wait(second).state == "COMPLETED"
    assert adapting.output(second, USER) == "inside\n"
    assert _contents(tree) == before
    assert {path.stat().st_uid for path in (tree, *tree.rglob("*"))} == {0}


def _contents(tree: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in tree.rglob("*") if path.is_file()}
