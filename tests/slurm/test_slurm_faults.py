# SPDX-License-Identifier: GPL-2.0-or-later
"""Bundles, kernels and nodes that fail, on a real Slurm, do no lasting harm.

After every test the nodes are idle, a plain job runs on each, and no process or folder of the job
and no half-unpacked bundle is left there.
"""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bundles as faults
import pytest
from adapting import AdaptingCluster as Cluster
from bundles import Bundles
from cluster import until
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

pytestmark = pytest.mark.kernel

USER = "nobody"
UM = "--kadence-target=um"
PLAIN = os.uname().release


@pytest.fixture(autouse=True)
def healthy(adapting: Cluster) -> Any:
    """Check after every test what this module's docstring says."""
    yield
    adapting.require_clean()
    for node in adapting.nodes:
        ran = adapting.run(["srun", f"--nodelist={node}", "uname", "-r"], "games")
        assert (ran.stdout.strip(), ran.stderr) == (PLAIN, "")


def _submit_later(
    cluster: Cluster, bundle: Path, change: Callable[[Path], object], fallback: str
) -> tuple[Any, str]:
    """Run a job whose bundle changes between submission and start: the job and its output."""
    copy = bundle.with_name(f"changing-{time.monotonic_ns()}.kbundle")
    shutil.copy(bundle, copy)
    job = cluster.sbatch(
        "echo begun\nsrun uname -r\n", f"--kadence={copy}", UM,
        f"--kadence-fallback={fallback}", "--hold", user=USER,
    )  # fmt: skip
    change(copy)
    cluster.run(["scontrol", "release", job])
    ended = cluster.wait(job)
    copy.unlink(missing_ok=True)
    return ended, cluster.output(job, USER)


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _replace(source: Path) -> Callable[[Path], object]:
    return lambda path: shutil.copy(source, path)


@pytest.fixture(scope="session")
def bad_bundles(bundles: Bundles, good: Path) -> dict[str, tuple[Callable[[Path], object], str]]:
    """What happens to a bundle, and what the error says about it."""
    foreign = bundles.bundle("foreign", arguments="", architecture="aarch64")
    unsigned = bundles.bundle("unsigned", arguments="", key=None)
    stranger = bundles.bundle("stranger", arguments="", key=Ed25519PrivateKey.generate())
    return {
        "missing": (Path.unlink, "No such file or directory"),
        "cut": (_cut, "damaged or cut short"),
        "damaged": (_damage, "damaged or cut short"),
        "empty": (lambda path: os.truncate(path, 0), "damaged or cut short"),
        "foreign": (_replace(foreign), "the bundle is for aarch64, this node is x86_64"),
        "unsigned": (_replace(unsigned), 'signatures = "required"'),
        "stranger": (_replace(stranger), "which is not in the site's key ring"),
        "unreadable": (lambda path: path.chmod(0), "Permission denied"),
        "large": (lambda path: os.truncate(path, 65 << 20), "larger than largest_bundle_mib = 64"),
    }


KINDS = ["missing", "cut", "damaged", "empty", "foreign", "unsigned", "stranger", "unreadable",
         "large"]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_bad_bundle_fails_the_job_alone(
    adapting: Cluster, good: Path, bad_bundles: Any, kind: str
) -> None:
    change, sentence = bad_bundles[kind]
    job, output = _submit_later(adapting, good, change, "fail")
    assert (job.state, job.exit_code) == ("FAILED", 1)
    assert sentence in output and len(output.splitlines()) == 1, output
    assert output.startswith("kadence: ")


@pytest.mark.parametrize("kind", ["missing", "damaged", "unsigned"])
def test_job_of_a_bad_bundle_runs_plain_where_that_is_asked(
    adapting: Cluster, good: Path, bad_bundles: Any, kind: str
) -> None:
    change, sentence = bad_bundles[kind]
    job, output = _submit_later(adapting, good, change, "run")
    assert job.state == "COMPLETED"
    assert [line for line in output.splitlines() if "kadence: " not in line] == ["begun", PLAIN]
    assert sentence in output


def test_bad_bundle_is_refused_where_it_is_submitted(
    adapting: Cluster, good: Path, refused_bundle: Path
) -> None:
    for bundle in (refused_bundle, good.with_name("nothing.kbundle")):
        for client in (["srun", "true"], ["salloc", "true"], ["sbatch", "--wrap", "true"]):
            words = [client[0], f"--kadence={bundle}", *client[1:]]
            completed = adapting.run(words, USER, check=False)
            assert completed.returncode != 0
            assert "kadence: " in completed.stderr


@pytest.fixture(scope="session")
def refused_bundle(bundles: Bundles) -> Path:
    return bundles.bundle("refused", arguments="", key=None)


@pytest.fixture(scope="session")
def panicking(bundles: Bundles) -> Path:
    return bundles.bundle("panicking", arguments=faults.NO_ROOT)


@pytest.fixture(scope="session")
def hanging(bundles: Bundles) -> Path:
    return bundles.bundle("hanging", arguments=faults.NO_INIT)


def test_kernel_that_panics_at_boot(adapting: Cluster, panicking: Path) -> None:
    words = ["srun", f"--kadence={panicking}", UM, "uname", "-r"]
    completed = adapting.run(words, USER)
    assert completed.stdout.strip() == PLAIN
    assert "panicked" in completed.stderr
    completed = adapting.run([*words[:3], "--kadence-fallback=fail", *words[3:]], USER, check=False)
    assert (completed.returncode, completed.stdout) == (1, "")
    assert "panicked" in completed.stderr


def test_kernel_that_hangs_at_boot(adapting: Cluster, hanging: Path) -> None:
    """The step waits for site.toml's boot_seconds, 30 here; then the plain program runs."""
    completed = adapting.run(["srun", f"--kadence={hanging}", UM, "uname", "-r"], USER)
    assert completed.stdout.strip() == PLAIN
    assert "did not start the command within 30 s" in completed.stderr


def test_kernel_that_panics_in_mid_job(adapting: Cluster, good: Path) -> None:
    """Only root may make the kernel panic. A command that has begun is not run a second time."""
    script = "echo begun; sleep 0.5; echo c > /proc/sysrq-trigger; sleep 1000"
    words = ["srun", f"--kadence={good}", UM, "sh", "-c", script]
    completed = adapting.run(words, check=False)
    assert completed.returncode == 125
    assert completed.stdout == "begun\n"
    assert "panicked: somebody in the guest asked for it by SysRq" in completed.stderr


@pytest.mark.parametrize("moment", ["boot", "run"])
def test_cancelled_during(adapting: Cluster, good: Path, hanging: Path, moment: str) -> None:
    bundle = hanging if moment == "boot" else good
    job = adapting.sbatch("srun sleep 1000\n", f"--kadence={bundle}", UM, user=USER)
    until(adapting.guests, "a guest runs")
    adapting.run(["scancel", job])
    assert adapting.wait(job).state == "CANCELLED"


def _waits(pid: int) -> bool:
    try:
        return "wait_for_partner" in Path(f"/proc/{pid}/wchan").read_text()
    except OSError:
        return False


def _blocked_prolog(cluster: Cluster) -> int:
    """The node's tool, once it waits for a site.toml that no process writes."""

    def blocked() -> int:
        return next((pid for pid in cluster.processes("kadence-node") if _waits(pid)), 0)

    found: int = until(blocked, "the prolog waits")
    return found


@pytest.fixture
def stuck(adapting: Cluster, good: Path) -> Any:
    """A job whose prolog waits for ever, and a function that lets later readers succeed.

    site.toml is a FIFO to which no process writes.
    """
    path = adapting.places.site
    text = path.read_text()
    words = [f"--kadence={good}", UM, "--nodelist=node1", "--hold"]
    job = adapting.sbatch("srun uname -r\n", *words, user=USER)

    def mend() -> None:
        path.unlink()
        path.write_text(text)

    path.unlink()
    os.mkfifo(path)
    adapting.run(["scontrol", "release", job])
    yield job, mend
    if path.is_fifo():
        mend()


def test_prolog_killed(adapting: Cluster, bundles: Bundles, stuck: Any) -> None:
    """The step finds that nothing was prepared, and prepares it."""
    job, mend = stuck
    prolog = _blocked_prolog(adapting)
    mend()
    os.kill(prolog, signal.SIGKILL)
    assert adapting.wait(job).state == "COMPLETED"
    assert adapting.output(job, USER).strip() == bundles.release


def test_cancelled_during_unpack(adapting: Cluster, stuck: Any) -> None:
    job, mend = stuck
    prolog = _blocked_prolog(adapting)
    adapting.run(["scancel", job])
    mend()
    os.kill(prolog, signal.SIGTERM)
    assert adapting.wait(job).state == "CANCELLED"


def test_prolog_that_never_ends_is_ended(adapting: Cluster, stuck: Any) -> None:
    """The plugin ends it after `seconds`. The job's output is about the step's own attempt."""
    job, _ = stuck
    with adapting.impatient(2):
        assert adapting.wait(job).state == "COMPLETED"
        assert "the node took longer than" in adapting.output(job, USER)
        assert PLAIN in adapting.output(job, USER)
        adapting.require_idle()


def test_slurmd_restarted_with_the_job_running(
    adapting: Cluster, bundles: Bundles, good: Path
) -> None:
    go = bundles.folder / "go"
    job = adapting.sbatch(
        f"srun sh -c 'while [ ! -e {go} ]; do sleep 0.1; done; uname -r'\n",
        f"--kadence={good}", UM, "--nodelist=node1", user=USER,
    )  # fmt: skip
    until(adapting.guests, "a guest runs")
    adapting.restart_slurmd("node1")
    go.touch()
    assert adapting.wait(job).state == "COMPLETED"
    assert adapting.output(job, USER).strip() == bundles.release


def test_disk_full_in_the_spool(adapting: Cluster, good: Path) -> None:
    """The spool is a file system of 256 KiB, which only node1's slurmd sees."""
    with adapting.small_spool("node1", "256k"):
        completed = adapting.run(
            ["srun", "--nodelist=node1", f"--kadence={good}", UM, "uname", "-r"], USER
        )
    assert completed.stdout.strip() == PLAIN
    assert "No space left on device" in completed.stderr


def test_node_that_went_down_in_mid_job(adapting: Cluster, bundles: Bundles, good: Path) -> None:
    """The node is killed with all its processes and starts as after a reboot: its sweep works."""
    job = adapting.sbatch(
        "srun sleep 1000\n", f"--kadence={good}", UM, "--nodelist=node1", "--no-requeue",
        user=USER,
    )  # fmt: skip
    until(adapting.guests, "a guest runs")
    adapting.crash("node1")
    state = adapting.places.spool("node1") / f"jobs/{job}/state.json"
    document = json.loads(state.read_text())
    state.write_text(json.dumps(document | {"boot_id": "an earlier one"}))
    adapting.start_slurmd("node1")
    assert adapting.wait(job).state in ("NODE_FAIL", "FAILED", "CANCELLED")
    ran = adapting.run(["srun", "--nodelist=node1", f"--kadence={good}", UM, "uname", "-r"], USER)
    assert ran.stdout.strip() == bundles.release
