# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs jobs for bench/slurm/slurm.py and measures their times, from outside and from their records.

A job starts when slurmctld logs that it has allocated a node to the job. The job's script first
notes the time. The time between the two is the cost of the prolog, and the cost that every job has.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kadence.base import resources

sys.path.insert(0, str(resources.home() / "tests/slurm"))

from cluster import Cluster  # noqa: E402

USER = "games"
SECONDS_AT_MOST = 3600
STARTED = re.compile(
    r"^\[(\S+)\] sched.*(?:Allocate|Started) JobId=(\d+)(?:_\d+\((\d+)\))? .*?(node\d+)", re.M
)
# The script's own process reads the time, because starting another process takes milliseconds.
SCRIPT = """exec bash -c 'echo $EPOCHREALTIME >"$0/$SLURM_JOB_ID"; sleep {seconds}' {folder}\n"""


@dataclass(frozen=True)
class Run:
    """One job."""

    job: str
    node: str
    bundle: str  # name of its bundle; empty for a plain job
    start_ms: float  # from the allocation of its node to its script's first line
    prepare_ms: float | None  # the time that kadence-node reports for its work


class Arrays:
    """Job arrays whose tasks start evenly spread over time. Each task has a node to itself.

    With all nodes free, Slurm would start a task on every node at once, and this machine would do
    the work of all of them. So arrays begin with few tasks at a time, and are gradually allowed
    more. After the length of a task they fill their nodes. From then on a task starts whenever
    another ends.
    """

    def __init__(self, cluster: Cluster, seconds: float) -> None:
        self.cluster, self.seconds = cluster, seconds
        self.tasks = 0
        self._at_once: dict[str, int] = {}
        self._start = time.monotonic()

    def submit(self, bundle: Path | None, tasks: int, at_once: int) -> None:
        """Submit an array. `at_once` is the final number of tasks at a time."""
        options = [f"--array=1-{tasks}%1", "--output=/dev/null", "--cpus-per-task=2"]
        if bundle:
            options += [f"--kadence={bundle}", "--kadence-target=um"]
        script = SCRIPT.format(folder=notes(self.cluster), seconds=self.seconds)
        self._at_once[self.cluster.sbatch(script, *options, user=USER)] = at_once
        self.tasks += tasks

    def wait(self, look: Callable[[], None]) -> None:
        """Wait until all tasks have started and ended. Calls `look` regularly meanwhile."""
        end = time.monotonic() + SECONDS_AT_MOST
        while len(list(notes(self.cluster).iterdir())) < self.tasks or _queued(self.cluster):
            if time.monotonic() > end:
                raise TimeoutError(f"jobs are queued after {SECONDS_AT_MOST} s")
            self._allow_more()
            look()
            time.sleep(0.5)
        self.cluster.require_idle(60)

    def _allow_more(self) -> None:
        share = (time.monotonic() - self._start) / self.seconds
        for job, at_once in list(self._at_once.items()):
            throttle = max(1, min(at_once, round(share * at_once)))
            words = ["scontrol", "update", f"JobId={job}", f"ArrayTaskThrottle={throttle}"]
            self.cluster.run(words, check=False)
            if throttle == at_once:
                del self._at_once[job]


def notes(cluster: Cluster) -> Path:
    """Returns the folder where jobs note their starts."""
    folder = cluster.folder / "share/started"
    if not folder.exists():
        folder.mkdir()
        folder.chmod(0o1777)
    return folder


def _queued(cluster: Cluster) -> int:
    return len(cluster.run(["squeue", "--noheader"]).stdout.splitlines())


def runs(cluster: Cluster) -> list[Run]:
    """Returns all jobs that noted their start, in the order of their allocations."""
    return list(_runs(cluster))


def _runs(cluster: Cluster) -> Iterator[Run]:
    for match in STARTED.finditer(cluster.log("slurmctld")):
        given, job, raw, node = match.groups()
        note = notes(cluster) / (raw or job)
        if not note.exists():
            continue
        elapsed = float(note.read_text()) - datetime.fromisoformat(given).timestamp()
        record = cluster.folder / "records" / note.name / f"{node}.json"
        found = json.loads(record.read_text()) if record.exists() else None
        if found and (found["refused"] or found["target"] != "um"):
            raise ValueError(f"job {note.name} was not prepared: {found}")
        yield Run(
            note.name,
            node,
            found["bundle"]["name"] if found else "",
            elapsed * 1000,
            found["prepare_ms"] if found else None,
        )


def first_of_bundle(all_runs: Sequence[Run]) -> set[str]:
    """Returns the jobs that were the first with their bundle on their node."""
    seen: dict[tuple[str, str], str] = {}
    for run in all_runs:
        if run.bundle:
            seen.setdefault((run.node, run.bundle), run.job)
    return set(seen.values())
