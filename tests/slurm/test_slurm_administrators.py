# SPDX-License-Identifier: GPL-2.0-or-later
"""What administrators see: node checks, metrics, logs and accounting."""

import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from adapting import AdaptingCluster as Cluster
from bundles import Bundles
from cluster import until
from configuration import free_ports

from kadence.base import resources

USER = "nobody"
Check = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Run the health check under rules of this folder's."""

    def run(**changed: str) -> "subprocess.CompletedProcess[str]":
        places = {name: tmp_path / name for name in ("key_ring", "spool", "records", "store")}
        rules = {name: f'"{place}"' for name, place in places.items()} | changed
        file = tmp_path / "site.toml"
        file.write_text("".join(f"{name} = {value}\n" for name, value in rules.items()))
        tool = resources.built("slurm/kadence-node")
        return subprocess.run(
            [tool, "--site", file, "--node", "n1", "check"],
            capture_output=True,
            text=True,
            check=False,
        )

    (tmp_path / "key_ring").mkdir()
    return run


def add_key(folder: Path) -> None:
    made = folder / "private"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", made], check=True)
    words = ["openssl", "pkey", "-in", made, "-pubout", "-out", folder / "alice.pub"]
    subprocess.run(words, check=True)


def test_a_fit_node_has_no_problem(check: Check, tmp_path: Path) -> None:
    add_key(tmp_path / "key_ring")
    ran = check()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == ""
    assert all(line.startswith("ok       ") for line in ran.stdout.splitlines())


def test_each_problem_is_named(check: Check, tmp_path: Path) -> None:
    (tmp_path / "spool/jobs/7").mkdir(parents=True)
    (tmp_path / "spool").chmod(0o777)
    said = check(targets='["um", "module", "kexec"]')
    problems = [line for line in said.stdout.splitlines() if line.startswith("problem  ")]
    for problem, words in zip(
        problems,
        (
            *("has no key NAME.pub", "can be changed by users", "kadence-node sweep"),
            *("/dev/kadapt", "store/kernels has no kernel"),
        ),
        strict=True,
    ):
        assert words in problem
    assert said.returncode == 1
    assert said.stderr == "kadence: 5 problems on this node\n"
    assert (tmp_path / "spool/jobs/7").exists()


def test_an_unreadable_rule_is_one_sentence(check: Check) -> None:
    ran = check(metrics="7")
    assert ran.returncode == 1
    assert ran.stderr.endswith("metrics must be an absolute path\n")
    assert len(ran.stderr.splitlines()) == 1


def exported(folder: Path) -> dict[str, float]:
    """What the real node_exporter makes of the files."""
    port = free_ports(1)
    command = ["prometheus-node-exporter", "--collector.disable-defaults",
               "--collector.textfile", f"--collector.textfile.directory={folder}",
               f"--web.listen-address=127.0.0.1:{port}"]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        try:
            text = until(lambda: _fetched(port), "node_exporter answers")
        finally:
            server.terminate()
    rows = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in rows}


def _fetched(port: int) -> str | None:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            found: str = answer.read().decode()
            return found
    except OSError:
        time.sleep(0.1)
        return None


@pytest.mark.kernel
def test_a_job_is_counted_logged_and_commented(
    adapting: Cluster, bundles: Bundles, good: Path
) -> None:
    folder = bundles.folder / "metrics/node1"
    before = exported(folder)
    script = "srun work\nsrun true\n"
    words = [f"--kadence={good}", "--kadence-target=um", "--nodelist=node1"]
    job = adapting.sbatch(script, *words, user=USER)
    assert adapting.wait(job).state == "COMPLETED"
    adapting.require_clean()
    after = exported(folder)
    grown = {name: value - before.get(name, 0) for name, value in after.items()}
    assert after["node_textfile_scrape_error"] == 0
    assert grown['kadence_jobs_total{target="um"}'] == 1
    assert grown['kadence_jobs_refused_total{target="um"}'] == 0
    assert grown['kadence_tasks_adapted_total{target="um"}'] == 1
    assert grown['kadence_tasks_total{target="um"}'] >= 2
    log = adapting.log("node1")
    assert f"kadence: job {job}: target um, bundle {good.name}" in log
    assert f"kadence: job {job} ended: 1 of " in log

    def comment() -> str:
        told = ["sacct", "--jobs", job, "--allocations", "--noheader", "--format=AdminComment%200"]
        return str(adapting.run(told).stdout).strip()

    shown = until(comment, "the accounting has the comment")
    assert shown.startswith("kadence: 1 of ")
    assert f"target um, bundle {good.name}" in shown


@pytest.mark.kernel
def test_a_name_cannot_forge_lines_or_labels(adapting: Cluster, bundles: Bundles) -> None:
    odd = bundles.folder / 'odd"} 7\nkadence: job 1: target kexec'
    odd.write_bytes(b"not a bundle")
    words = [f"--kadence={odd}", "--kadence-target=um", "--nodelist=node1", "--export=NONE"]
    site = adapting.places.configuration.with_name("plugstack.conf")
    text = site.read_text()
    site.write_text(text.rstrip("\n") + " check=no\n")
    try:
        job = adapting.sbatch("true\n", *words, user=USER)
        adapting.wait(job)
    finally:
        site.write_text(text)
    adapting.require_clean()
    lines = [line for line in adapting.log("node1").splitlines() if f"job {job}" in line]
    assert any("refused: " in line for line in lines)
    assert not any(line.startswith("kadence: job 1") for line in adapting.log("node1").splitlines())
    assert exported(bundles.folder / "metrics/node1")["node_textfile_scrape_error"] == 0
