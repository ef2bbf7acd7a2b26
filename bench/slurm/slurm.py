# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the cost of a bundle for Slurm jobs: prologs, unpacking, the spool, simultaneous starts.

The cluster is real, with a slurmd for each node, but it runs on this machine alone. All nodes share
this machine's processors, so starts are spread over time. Nothing else should run ("busy" says how
busy the machine was). When all nodes start at once, the machine does the work of all nodes.
"""

import argparse
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from bench.base import rows
from bench.base.rows import Goal, Row
from bench.slurm import slurm_jobs
from bench.slurm.slurm_bundles import Workshop
from bench.slurm.slurm_jobs import USER, Arrays, Cluster, Run
from kadence.base import resources

PLUGIN = resources.home() / "build/slurm/kadence.so"
BUNDLES = 3
STARTS_PER_SECOND = 5  # job starts, on all nodes together
GOAL_MS = Goal(most=150)
STORE_MIB = 24
ROUNDS = 5  # of starts on all nodes at once


class Busy:
    """The share of the machine's processor time that was busy while this context was open."""

    def __enter__(self) -> "Busy":
        self._before = self._times()
        self._start = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        spent = [after - before for before, after in zip(self._before, self._times(), strict=True)]
        self.share = 1 - (spent[3] + spent[4]) / sum(spent)
        self.seconds = time.monotonic() - self._start

    @staticmethod
    def _times() -> list[int]:
        line = Path("/proc/stat").read_text().splitlines()[0]
        return [int(word) for word in line.split()[1:]]

    def __str__(self) -> str:
        return f"{self.seconds:.0f} s, the machine {self.share:.0%} busy"


@contextmanager
def cluster_with_bundles(nodes: int, count: int, **site: int) -> Iterator[tuple[Cluster, Workshop]]:
    """Yields a cluster that accepts bundles signed with a workshop's key, and the workshop."""
    with Cluster(nodes=nodes, plugin=PLUGIN, site=site) as cluster:
        workshop = Workshop(cluster.folder / "share/bundles", count)
        shutil.copy(workshop.public_key, cluster.folder / "keys/bench.pub")
        yield cluster, workshop


def percentile(values: Sequence[float], share: float) -> float | None:
    """Returns a percentile of the values, or None without values."""
    return float(np.percentile(values, share)) if values else None


def spread_rows(what: str, plain: Sequence[float], values: Sequence[float]) -> list[Row]:
    """Returns median and 99th centile of starts, and of the time above a plain job's median."""
    middle = percentile(plain, 50) or 0.0
    above = [value - middle for value in values]
    shares = {"median": 50, "99th centile": 99}
    starts = [
        Row(f"{what}, {name}", percentile(plain, share), percentile(values, share))
        for name, share in shares.items()
    ]
    return starts + [
        Row(f"  above a plain job, {name}", None, percentile(above, share), GOAL_MS)
        for name, share in shares.items()
    ]


def starts(runs: Sequence[Run]) -> list[Row]:
    """Returns the times until jobs' first line, and the part that kadence-node reports."""
    first = slurm_jobs.first_of_bundle(runs)
    plain = [run.start_ms for run in runs if not run.bundle]
    groups = {
        "all jobs": [run for run in runs if run.bundle],
        "bundle new to the node": [run for run in runs if run.job in first],
        "bundle there already": [run for run in runs if run.bundle and run.job not in first],
    }
    table = []
    for name, group in groups.items():
        label = f"{name} ({len(group)})"
        table += spread_rows(label, plain, [run.start_ms for run in group])
        table += own_rows([run.prepare_ms for run in group if run.prepare_ms is not None])
    return table


def own_rows(milliseconds: Sequence[float]) -> list[Row]:
    """Returns the times of kadence-node by its own clock."""
    return [
        Row("  of it kadence-node's work, median", None, percentile(milliseconds, 50)),
        Row("  of it kadence-node's work, 99th centile", None, percentile(milliseconds, 99)),
    ]


def measure_jobs(nodes: int, tasks: int) -> tuple[list[Row], list[str]]:
    """Run arrays of jobs with three bundles, and as many plain jobs among them."""
    seconds = nodes / STARTS_PER_SECOND
    with cluster_with_bundles(nodes, BUNDLES) as (cluster, workshop), Busy() as busy:
        arrays = Arrays(cluster, seconds)
        for number in range(BUNDLES):
            share = tasks // BUNDLES + (number < tasks % BUNDLES)
            arrays.submit(workshop.bundles[number], share, nodes // 6)
        arrays.submit(None, tasks, nodes // 2)
        watch = Unpackings(cluster)
        arrays.wait(watch.look)
        runs = slurm_jobs.runs(cluster)
        lines = [watch.summary(runs), remains(cluster)]
    return starts(runs), [f"{len(runs)} jobs on {nodes} nodes: {busy}", *lines]


def measure_without_plugin(nodes: int, tasks: int) -> str:
    """Run plain jobs at the same rate on a cluster without Kadence."""
    with Cluster(nodes=nodes) as cluster:
        arrays = Arrays(cluster, nodes / STARTS_PER_SECOND)
        arrays.submit(None, tasks, nodes)
        arrays.wait(lambda: None)
        taken = [run.start_ms for run in slurm_jobs.runs(cluster)]
    middle, tail = np.percentile(taken, [50, 99])
    return f"without the plugin {len(taken)} plain jobs: median {middle:.0f}, 99th {tail:.0f}"


class Unpackings:
    """Counts the folders that appear in the nodes' spools."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.seen: set[tuple[str, str, int]] = set()
        self.largest_mib = 0.0

    def look(self) -> None:
        """Record the folders. A bundle that was unpacked again has another inode."""
        for node in self.cluster.nodes:
            store = self.cluster.places.spool(node) / "store"
            found = [path for path in store.glob("[!.]*") if path.is_dir()]
            self.seen |= {(node, path.name, path.stat().st_ino) for path in found}

    def summary(self, runs: Sequence[Run]) -> str:
        self.look()
        pairs = {(run.node, run.bundle) for run in runs if run.bundle}
        return f"unpacked {len(self.seen)} times, for {len(pairs)} pairs of a node and a bundle"


def remains(cluster: Cluster) -> str:
    """Returns what jobs left on the nodes, apart from unpacked bundles, after all have ended."""
    found = []
    for node in cluster.nodes:
        spool = cluster.places.spool(node)
        found += [str(path) for path in (*spool.glob("jobs/*"), *spool.glob("store/.*"))]
    found += [f"{node} {state}" for node, state in cluster.node_states().items() if state != "idle"]
    words = ["pgrep", "--full", f"kadence-node .*{cluster.folder}"]
    processes = subprocess.run(words, capture_output=True, text=True)
    found += [f"process {number}" for number in processes.stdout.split()]
    return f"left on the nodes: {', '.join(found) or 'nothing'}"


def measure_store(tasks: int) -> list[str]:
    """Run jobs with more bundles than a node's spool may hold."""
    nodes, count = 2, 12
    with cluster_with_bundles(nodes, count, largest_store_mib=STORE_MIB) as (cluster, workshop):
        watch = Unpackings(cluster)
        largest = 0
        order = random.Random(1)
        for _ in range(tasks):
            bundle = order.choice(workshop.bundles)
            cluster.run(["srun", *unpacked_only(bundle), "--nodes=2", "true"], user=USER)
            cluster.require_idle()
            watch.look()
            largest = max(largest, *(stored_mib(cluster, node) for node in cluster.nodes))
        unpacked, left = len(watch.seen), remains(cluster)
    return [
        f"{tasks} jobs on {nodes} nodes, {count} bundles at random, largest_store_mib = "
        f"{STORE_MIB}: at most {largest} MiB after a job, unpacked {unpacked} times",
        left,
    ]


def unpacked_only(bundle: Path) -> list[str]:
    """Returns the options of a job that boots no kernel. Booting is not measured here."""
    return [f"--kadence={bundle}", "--kadence-target=none"]


def stored_mib(cluster: Cluster, node: str) -> int:
    """Returns the size of a node's unpacked bundles as du counts it."""
    folder = cluster.places.spool(node) / "store"
    words = ["du", "--summarize", "--block-size=1M", folder]
    return int(subprocess.run(words, capture_output=True, check=True, text=True).stdout.split()[0])


def measure_together(nodes: int) -> list[Row]:
    """Run one job on all nodes, from srun's start to its end. Returns medians of the rounds.

    The nodes share this machine's /tmp, so with --kadence-broadcast they would all write the same
    file. Instead this measures how long srun takes to copy a program of a bundle's size.
    """
    with cluster_with_bundles(nodes, ROUNDS) as (cluster, workshop):
        taken: dict[str, list[float]] = {}
        for number, bundle in enumerate(workshop.bundles):
            copies = cluster.home(USER) / f"copies{number}"
            cluster.run(["mkdir", copies], user=USER)
            commands = {
                "plain": ["true"],
                "new": [*unpacked_only(bundle), "true"],
                "there": [*unpacked_only(bundle), "true"],
                "broadcast": [f"--bcast={copies}/", padded_program(bundle)],
            }
            for name, words in commands.items():
                seconds = _seconds(cluster, ["srun", f"--nodes={nodes}", *words])
                taken.setdefault(name, []).append(seconds)
            if len(list(copies.iterdir())) != nodes:
                raise ValueError("srun's copy did not reach all nodes")
    plain = percentile(taken["plain"], 50)
    labels = {
        "new": "bundle new to all nodes",
        "there": "the same bundle again",
        "broadcast": "a program as large as the bundle, copied by srun",
    }
    return [
        Row(label, plain, percentile(taken[name], 50), digits=2) for name, label in labels.items()
    ]


def padded_program(bundle: Path) -> Path:
    """Returns a copy of `true` that is larger by a bundle, which is appended to it."""
    path = bundle.with_suffix(".program")
    path.write_bytes(Path("/usr/bin/true").read_bytes() + bundle.read_bytes())
    path.chmod(0o755)
    return path


def _seconds(cluster: Cluster, words: Sequence[object]) -> float:
    start = time.monotonic()
    cluster.run(words, user=USER, timeout=300)
    elapsed = time.monotonic() - start
    cluster.require_idle(120)
    return elapsed


def main() -> int:
    """Measure, print, and say whether the goals were met."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument(
        "--tasks", type=int, default=1000, help="jobs with a bundle, and plain ones"
    )
    options = parser.parse_args()
    table, lines = measure_jobs(options.nodes, options.tasks)
    lines.append(measure_without_plugin(options.nodes, options.tasks // 4))
    print("From the allocation of a node to the job's first line, ms", *lines, sep="\n")
    print(*rows.table(("plain job", "with bundle"), table), rows.summary(table), sep="\n")
    print("", "The spool", *measure_store(60), "", sep="\n")
    together = measure_together(options.nodes)
    print(f"One job on all {options.nodes} nodes, s, median of {ROUNDS}")
    print(*rows.table(("plain job", "with bundle"), together), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
