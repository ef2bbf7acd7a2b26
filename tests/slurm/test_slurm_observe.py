# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence observe --job`: the kernel of a node with Debian's stock kernel, by rank."""

import csv
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import Completed, until
from guest_cluster import GuestCluster
from node_guest import stock_release

from kadence import boot
from kadence.observe.probes import modules

pytestmark = [pytest.mark.kernel, pytest.mark.full]

RANKS = 3
USER = "games"
# A rank writes one byte more at a time than the one before, and says that it has begun.
WRITER = """
    my $bytes = "x" x (1 + $ENV{SLURM_PROCID});
    open my $null, ">", "/dev/null";
    open my $begun, ">", "$ENV{HOME}/begun.$ENV{SLURM_PROCID}";
    close $begun;
    for (;;) { syswrite $null, $bytes for 1 .. 50; select undef, undef, undef, 0.01 }
"""
FUNCTIONS = "vfs_write,write_null"


@pytest.fixture(scope="module")
def cluster(slurm: type) -> Iterator[GuestCluster]:
    """A node whose kernel can be instrumented."""
    loads = "; ".join(f"insmod {path}" for path in modules.built(stock_release()))
    with GuestCluster() as started:
        started.run(["srun", "sh", "-ec", f"{loads}; mount -t tracefs none /sys/kernel/tracing"])
        yield started
        assert boot.complaints(started.guests["node1"].console()) == []


@pytest.fixture(scope="module")
def job(cluster: GuestCluster) -> Iterator[str]:
    """A user's job whose ranks all write."""
    home = cluster.home(USER)
    (home / "writer.pl").write_text(WRITER)
    number = cluster.sbatch(f"srun perl {home}/writer.pl", "-n", RANKS, "--mem=300", user=USER)
    begun = [home / f"begun.{rank}" for rank in range(RANKS)]
    until(lambda: all(path.exists() for path in begun), "the ranks write", 120)
    yield number
    cluster.run(["scancel", number])


def observe(cluster: GuestCluster, *words: object) -> Completed:
    """Run the command on the node, as its administrator."""
    inside = f"SLURM_CONF={cluster.places.node('node1')}/slurm.conf"
    command = ["srun", "-n", "1", "--mem=300", "env", inside, "kadence", "observe"]
    return cluster.run([*command, *words], check=False, timeout=300)


def test_each_rank_is_observed(cluster: GuestCluster, job: str) -> None:
    counts = cluster.folder / "share/counts.tsv"
    words = ["--functions", FUNCTIONS, "--seconds", "2", "-o", counts, "--most-slowdown", "100"]
    done = observe(cluster, "--job", job, *words)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^rank (\d+)$", done.stderr, re.MULTILINE) == ["0", "1", "2"]
    assert sizes_by_process(counts) == {1.0, 2.0, 3.0}


def test_the_ranks_have_a_timeline(cluster: GuestCluster, job: str) -> None:
    trace = cluster.folder / "share/node1.json"
    words = ["--functions", "vfs_write", "--seconds", "1", "--most-slowdown", "100"]
    done = observe(cluster, "--job", job, "--timeline", trace, *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(trace.read_text())
    assert document["otherData"]["node"] == "node1"
    # The node has no NTP.
    assert document["otherData"]["clock error ns"] == "unknown"
    began = int(document["otherData"]["begin ns"])
    assert abs(began / 1e9 - time.time()) < 600
    rows = document["traceEvents"]
    owners = {row["tid"]: row["args"]["name"] for row in rows if row["name"] == "thread_name"}
    writes = Counter(owners[row["tid"]].split(" (")[0] for row in rows if row["ph"] == "X"
                     and row["name"] == "vfs_write")  # fmt: skip
    assert {f"rank {rank}, perl" for rank in range(RANKS)} <= set(writes)
    assert min(writes[f"rank {rank}, perl"] for rank in range(RANKS)) > 50


def sizes_by_process(counts: Path) -> set[float]:
    """How many bytes the tasks of each process wrote at a time."""
    calls: dict[str, int] = defaultdict(int)
    moved: dict[str, int] = defaultdict(int)
    for row in csv.DictReader(counts.open(), delimiter="\t"):
        if row["function"] == "vfs_write":
            calls[row["process"]] += int(row["calls"])
            moved[row["process"]] += int(row["bytes"])
    assert all(number > 50 for number in calls.values()), calls
    return {moved[process] / calls[process] for process in calls}


def test_the_ranks_go_on_afterwards(cluster: GuestCluster, job: str) -> None:
    """An observation that has ended leaves nothing behind, so the next one begins at once."""
    for _ in range(2):
        done = observe(cluster, "--job", job, "--functions", "do_nanosleep", "--seconds", "1")
        assert done.returncode == 0, done.stderr
    assert cluster.jobs(job)[0].state == "RUNNING"


def test_a_job_that_is_not_there_is_refused(cluster: GuestCluster) -> None:
    done = observe(cluster, "--job", "4711", "--functions", FUNCTIONS)
    assert done.returncode != 0
    assert "no process of job 4711 runs on this node; `squeue` lists jobs" in done.stderr
    assert "Traceback" not in done.stderr
