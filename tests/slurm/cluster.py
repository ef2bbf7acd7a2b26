# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests' own Slurm: real daemons on loopback ports, in a folder that is removed at the end.

    with Cluster(nodes=2, accounting=True) as cluster:
        job = cluster.sbatch("hostname\\n")
        assert cluster.wait(job).state == "COMPLETED"

Every node is a slurmd on this machine, in Slurm's multiple-slurmd mode. The cluster changes nothing
on the machine: no service, no cgroup, no file outside the folder.
"""

import contextlib
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import configuration
import daemons
from configuration import Options, Places
from waiting import PATIENCE_SECONDS, ClusterError, until

ROOT = Path(__file__).resolve().parents[2]
FINAL = {
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL"),
    *("OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"),
}

Completed = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Job:
    """A job as `scontrol show job` shows it."""

    id: str
    state: str
    exit_code: int
    signal: int
    fields: Mapping[str, str]


def missing() -> str:
    """The reason why no cluster can be started here, or an empty string."""
    if os.geteuid() != 0:
        return "a Slurm with jobs of several users needs root"
    programs = ["slurmctld", "slurmd", "munged", "slurmdbd", "mariadbd", "sbatch", "setpriv"]
    absent = [name for name in programs if not shutil.which(name, path=daemons.PATH)]
    return f"not installed: {', '.join(absent)}" if absent else ""


class Cluster:
    """A running cluster; at the end its processes and files are removed."""

    def __init__(self, **options: Any) -> None:
        self.options = Options(**options)
        self.nodes = configuration.node_names(self.options)
        self._processes: dict[str, int] = {}
        self._clients: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="kadence-slurm-"))
        self.places = Places(self.folder)
        try:
            self._keeper = _start_keeper(self.folder)
            self._set_up()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _set_up(self) -> None:
        self.make_folders()
        ports = configuration.free_ports(2 + self.options.nodes)
        configuration.write(self.places, self.options, ports)
        self.add_files()
        daemons.start_munged(self)
        if self.options.accounting:
            daemons.start_database(self)
            daemons.start_slurmdbd(self)
        daemons.start_slurmctld(self)
        for name in self.nodes:
            self.start_slurmd(name)
        self.require_idle()

    def make_folders(self) -> None:
        """Make the folders below the cluster's folder; all users' jobs must be able to enter it."""
        self.folder.chmod(0o755)
        for name in ("etc", "log", "nodes", "state", "home", "keys", "records", "share"):
            (self.folder / name).mkdir()
        (self.folder / "share").chmod(0o1777)

    def add_files(self) -> None:
        """Subclasses add the files that they need before the daemons start."""

    def stop(self) -> None:
        """End every process and remove the folder."""
        for client in self._clients:
            client.kill()
            client.wait()
        if hasattr(self, "_keeper"):
            assert self._keeper.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._keeper.stdin.close()
            self._keeper.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # Daemons.

    def daemon(self, name: str, words: Sequence[object], **environment: object) -> None:
        """Start a daemon; it runs until it ends by itself or the cluster ends."""
        request = {
            "words": [str(word) for word in words],
            "environment": daemons.ENVIRONMENT
            | {key: str(value) for key, value in environment.items()},
            "log": str(self.places.logs / f"{name}.output"),
        }
        assert self._keeper.stdin is not None and self._keeper.stdout is not None
        self._keeper.stdin.write(json.dumps(request) + "\n")
        self._keeper.stdin.flush()
        answer = self._keeper.stdout.readline()
        if not answer:
            raise ClusterError(f"{words[0]} could not be started")
        self._processes[name] = int(answer)

    def is_running(self, name: str) -> bool:
        """Whether a daemon exists; `name` is the name of its log."""
        return Path("/proc", str(self._processes[name])).exists()

    def start_slurmd(self, node: str) -> None:
        """Start a node's slurmd."""
        daemons.start_slurmd(self, node)

    def kill_slurmd(self, node: str, number: int = signal.SIGKILL) -> None:
        """Kill a node's slurmd alone; its steps continue, as after a crash of slurmd."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._processes[node], number)
        until(lambda: not self.is_running(node), f"{node}'s slurmd gone")

    def restart_slurmd(self, node: str) -> None:
        """End a node's slurmd as an administrator does, and start it again."""
        self.kill_slurmd(node, signal.SIGTERM)
        self.start_slurmd(node)

    def log(self, name: str) -> str:
        """The log of slurmctld, a node, slurmdbd, munged or mariadbd."""
        own = self.places.logs / name
        path = own if own.exists() else self.places.logs / f"{name}.output"
        return path.read_text(errors="replace") if path.exists() else ""

    # Clients.

    def home(self, user: str = "root") -> Path:
        """A user's home folder on the cluster, where commands run and jobs leave their output."""
        path = self.folder / "home" / user
        if not path.exists():
            path.mkdir()
            entry = pwd.getpwnam(user)
            os.chown(path, entry.pw_uid, entry.pw_gid)
        return path

    def environment(self, user: str = "root") -> dict[str, str]:
        """The environment of a user who logged in on the cluster."""
        return {
            "PATH": f"{ROOT}/.venv/bin:{ROOT}/build/bin:{daemons.PATH}",
            "HOME": str(self.home(user)),
            "USER": user,
            "LOGNAME": user,
            "SLURM_CONF": str(self.places.configuration),
            "LANG": "C.UTF-8",
        }

    def run(
        self,
        words: Sequence[object],
        user: str = "root",
        *,
        check: bool = True,
        timeout: float = PATIENCE_SECONDS,
        environment: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Completed:
        """Run a user's command and capture its output; an unexpected failure is an error."""
        completed = subprocess.run(
            _as(user, words),
            env=self.environment(user) | dict(environment or {}),
            text=True,
            capture_output=True,
            timeout=timeout,
            **{"cwd": self.home(user)} | options,
        )
        if check and completed.returncode != 0:
            shown = " ".join(map(str, words))
            raise ClusterError(f"`{shown}`: status {completed.returncode}: {completed.stderr}")
        return completed

    def start(
        self,
        words: Sequence[object],
        user: str = "root",
        environment: Mapping[str, str] | None = None,
        **options: Any,
    ) -> subprocess.Popen[str]:
        """Start a user's command that runs beside the test."""
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
        client = subprocess.Popen(
            _as(user, words),
            env=self.environment(user) | dict(environment or {}),
            text=True,
            **streams | {"stderr": subprocess.PIPE, "cwd": self.home(user)} | options,
        )
        self._clients.append(client)
        return client

    def sbatch(
        self, script: str, *words: object, user: str = "root", environment: Any = None
    ) -> str:
        """Submit a batch script, without its first line; returns the job's ID."""
        completed = self.run(
            ["sbatch", "--parsable", *words],
            user,
            environment=environment,
            input="#!/bin/sh\n" + script,
        )
        return completed.stdout.strip().partition(";")[0]

    def jobs(self, job: str) -> list[Job]:
        """The job as slurmctld knows it; for an array, each of its tasks."""
        completed = self.run(["scontrol", "--oneliner", "show", "job", job])
        return [_job(line) for line in completed.stdout.splitlines() if line]

    def wait_all(self, job: str, seconds: float = PATIENCE_SECONDS) -> list[Job]:
        """Wait for the end of a job, or of all tasks of an array."""

        def ended() -> list[Job]:
            tasks = self.jobs(job)
            return tasks if all(task.state in FINAL for task in tasks) else []

        found: list[Job] = until(ended, f"job {job} ended", seconds)
        return found

    def wait(self, job: str, seconds: float = PATIENCE_SECONDS) -> Job:
        """Wait for a job's end."""
        (found,) = self.wait_all(job, seconds)
        return found

    def wait_for_state(self, job: str, state: str, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait for a job's state. RUNNING: the job has its nodes, which may not know of it yet."""
        until(lambda: self.jobs(job)[0].state == state, f"job {job} {state}", seconds)

    def output(self, job: str, user: str = "root") -> str:
        """What a batch job wrote to Slurm's default output file."""
        return (self.home(user) / f"slurm-{job}.out").read_text(errors="replace")

    def sacct(self, job: str, fields: str = "JobID,State,ExitCode") -> list[dict[str, str]]:
        """The accounting's rows for an ended job and its steps."""
        words = ["sacct", "--parsable2", "--jobs", job, "--format", f"{fields},State,JobName"]

        def rows() -> list[dict[str, str]]:
            names, *lines = self.run(words).stdout.splitlines()
            found = [dict(zip(names.split("|"), line.split("|"), strict=True)) for line in lines]
            return found if _is_complete(found) else []

        found: list[dict[str, str]] = until(rows, f"sacct shows the end of job {job}")
        return found

    # Nodes.

    def node_states(self) -> dict[str, str]:
        """Each node's state as sinfo shows it, with flags."""
        completed = self.run(["sinfo", "--noheader", "--Node", "--format", "%N %T"])
        return dict(line.split() for line in completed.stdout.splitlines())

    def require_idle(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait for every node to be idle; a node on which something was left is not."""

        def busy() -> dict[str, str]:
            states = self.node_states().items()
            return {name: state for name, state in states if state != "idle"}

        try:
            until(lambda: not busy(), "all nodes idle", seconds)
        except ClusterError as error:
            reasons = self.run(["sinfo", "--list-reasons"]).stdout
            raise ClusterError(f"{error}: {busy()}\n{reasons}") from None

    def write_site(self, **values: Any) -> None:
        """Write site.toml anew, with these values in place of those at the start."""
        configuration.write_site(self.places, values)


def _is_complete(rows: Sequence[Mapping[str, str]]) -> bool:
    # slurmctld reports the ends of short jobs at once, but their starts every 5 s. Until the start
    # is reported, sacct shows the job as root's "allocation".
    ended = all(row["State"].split()[0] in FINAL for row in rows)
    return bool(rows) and ended and rows[0]["JobName"] != "allocation"


def _as(user: str, words: Sequence[object]) -> list[str]:
    command = [str(word) for word in words]
    if user == "root":
        return command
    entry = pwd.getpwnam(user)
    identity = [f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--init-groups"]
    return ["setpriv", *identity, "--", *command]


def _start_keeper(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, Path(__file__).with_name("keeper.py"), folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _job(line: str) -> Job:
    fields = dict(re.findall(r"(?:^| )([A-Za-z/:]+)=(\S*)", line))
    status, number = map(int, fields["ExitCode"].split(":"))
    return Job(fields["JobId"], fields["JobState"], status, number, fields)
