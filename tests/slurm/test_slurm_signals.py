# SPDX-License-Identifier: GPL-2.0-or-later
"""Signals from Slurm, which reach every process of a guest, and what a job's records say."""

import json
import time
from pathlib import Path

import pytest
from adapting import AdaptingCluster as Cluster
from bundles import Bundles
from cluster import until

pytestmark = pytest.mark.kernel

USER = "games"
UM = "--kadence-target=um"
# Words that scripts print; shells also report a `sleep` that the signal ended.
SAID = {"ready", "got", "warned", "saved", "end"}
# On a machine that is not too busy, a signal delivered twice arrives again within this time.
AGAIN_SECONDS = 0.5


def _ready_step(cluster: Cluster, good: Path, text: str, *options: str) -> str:
    """Start a job whose step runs a script, and wait for its "ready"; returns the job's number."""
    script = cluster.home(USER) / "script"
    script.write_text(f"#!/bin/bash\n{text}\n")
    script.chmod(0o755)
    words = [f"--kadence={good}", UM, *options]
    job = cluster.sbatch(f"srun {script}\nexit $?\n", *words, user=USER)
    until(lambda: "ready" in cluster.written(job, USER), "the command runs")
    return job


def _proceed(cluster: Cluster) -> Path:
    """The path of a file that does not exist yet; guests see the machine's files."""
    path = cluster.home(USER) / "proceed"
    path.unlink(missing_ok=True)
    return path


def _said(cluster: Cluster, job: str) -> list[str]:
    return [line for line in cluster.output(job, USER).splitlines() if line in SAID]


@pytest.mark.parametrize("name", ["USR1", "USR2", "HUP", "INT", "TERM"])
def test_every_signal_reaches_the_command_once(adapting: Cluster, good: Path, name: str) -> None:
    proceed = _proceed(adapting)
    wait = f"until test -e {proceed}; do sleep 0.05; done"
    job = _ready_step(adapting, good, f"trap 'echo got' {name}; echo ready; {wait}; echo end")
    adapting.run(["scancel", f"--signal={name}", f"{job}.0"])
    until(lambda: "got" in _said(adapting, job), "the signal arrived")
    time.sleep(AGAIN_SECONDS)
    proceed.touch()
    assert adapting.wait(job).state == "COMPLETED"
    assert _said(adapting, job) == ["ready", "got", "end"]


@pytest.mark.parametrize(
    ("options", "signal", "word"),
    [(["--time=10", "--signal=USR1@60"], "USR1", "warned"), ([], "TERM", "saved")],
    ids=["time limit", "cancelled"],
)
def test_a_command_may_end_in_its_own_way(
    adapting: Cluster, good: Path, options: list[str], signal: str, word: str
) -> None:
    text = f"trap 'echo {word}; exit 0' {signal}; echo ready; while :; do sleep 0.05; done"
    job = _ready_step(adapting, good, text, *options)
    # Shorten the time limit only now, when the command can receive the signal.
    limit = ["scontrol", "update", f"JobId={job}", "TimeLimit=1"]
    adapting.run(limit if options else ["scancel", job])
    assert adapting.wait(job).state == ("COMPLETED" if options else "CANCELLED")
    until(lambda: _said(adapting, job) == ["ready", word], "all of the script's output")
    adapting.require_clean()


def test_input_reaches_the_command(adapting: Cluster, good: Path) -> None:
    given = "line\n" * 20000
    ended = adapting.run(["srun", f"--kadence={good}", UM, "cat"], USER, input=given)
    assert ended.stdout == given


def test_the_record_is_what_the_report_shows(
    adapting: Cluster, bundles: Bundles, good: Path
) -> None:
    plain = bundles.folder / "plain/work"
    job = adapting.sbatch(f"srun {plain}\n", f"--kadence={good}", UM, user=USER)
    assert adapting.wait(job).state == "COMPLETED"
    until(lambda: adapting.records(job), "the record")
    entry = json.loads(adapting.records(job)[0].read_text())["steps"][0]
    assert (entry["step"], entry["task"], entry["program"]) == ("0", 0, "adapted")
    assert 0 < entry["boot_seconds"] + entry["wall_seconds"] < entry["task_seconds"]
    shown = adapting.run(["kadence", "report", "--job", job, "--site", adapting.places.site], USER)
    row = shown.stdout.splitlines()[1].split()
    assert row[1:4] == ["0.0", "work", "adapted"]
    assert f"{entry['task_seconds']:.3f}" in row


def _is_stopped(cluster: Cluster) -> bool:
    """Whether the guest's kernel itself is stopped; it keeps its programs' processes stopped."""
    return any(_state(process) == "T" for process in cluster.guests())


def _state(process: int) -> str | None:
    """The process's state, or None if it has ended, as the guest's programs may at any time."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return stat.rpartition(")")[2].split()[0]


def test_a_suspended_job_goes_on_where_it_was(adapting: Cluster, good: Path) -> None:
    proceed = _proceed(adapting)
    text = (
        f"(while :; do :; done) & echo ready; until test -e {proceed}; do sleep 0.02; done; "
        "kill -9 $! && echo end"
    )
    job = _ready_step(adapting, good, text)
    adapting.run(["scontrol", "suspend", job])
    until(lambda: _is_stopped(adapting), "the guest's kernel is stopped")
    proceed.touch()
    adapting.run(["scontrol", "resume", job])
    assert adapting.wait(job).state == "COMPLETED"
    assert _said(adapting, job) == ["ready", "end"]
