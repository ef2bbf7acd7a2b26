# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts each daemon of a cluster, and waits until it serves."""

import os
import pwd
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from waiting import ClusterError, until

if TYPE_CHECKING:
    from cluster import Cluster

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = {"PATH": PATH, "LANG": "C.UTF-8"}


def _wait_for(cluster: "Cluster", name: str, socket: Path) -> None:
    def serves() -> bool:
        if not cluster.is_running(name):
            raise ClusterError(f"{name} ended: {cluster.log(name)[-2000:]}")
        return socket.exists()

    until(serves, f"{name} serves")


def start_munged(cluster: "Cluster") -> None:
    """Start munged with the cluster's own key; its files must belong to its user."""
    entry = pwd.getpwnam("munge")
    socket = cluster.places.munge_socket
    private, run = socket.parents[1], socket.parent
    run.mkdir(parents=True)
    key = private / "key"
    key.write_bytes(os.urandom(128))
    for path, mode in ((key, 0o400), (private, 0o711), (run, 0o755)):
        path.chmod(mode)
        os.chown(path, entry.pw_uid, entry.pw_gid)
    files = [f"--{name}-file={private}/{name}" for name in ("key", "pid", "log", "seed")]
    identity = [f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]
    munged = ["munged", "--foreground", f"--socket={socket}", "--num-threads=2", *files]
    cluster.daemon("munged", ["setpriv", *identity, *munged])
    _wait_for(cluster, "munged", socket)


def start_database(cluster: "Cluster") -> None:
    """Start a database with its usual accounts, reachable through a socket only."""
    socket = cluster.places.database_socket
    folder = socket.parent
    folder.mkdir()
    subprocess.run(
        [
            *("mariadb-install-db", "--no-defaults", "--user=root", "--skip-test-db"),
            *("--auth-root-authentication-method=socket", f"--datadir={folder}/data"),
            "--auth-root-socket-user=root",
        ],
        check=True,
        capture_output=True,
    )
    cluster.daemon(
        "mariadbd",
        [
            *("mariadbd", "--no-defaults", "--user=root", "--skip-networking"),
            *(f"--datadir={folder}/data", f"--socket={socket}", f"--tmpdir={folder}"),
            *("--innodb-flush-log-at-trx-commit=0", f"--pid-file={folder}/pid"),
        ],
    )
    _wait_for(cluster, "mariadbd", socket)


def start_slurmdbd(cluster: "Cluster") -> None:
    """Start the daemon between Slurm and its database."""
    cluster.daemon(
        "slurmdbd",
        ["slurmdbd", "-D"],
        SLURM_CONF=cluster.places.configuration,
        MYSQL_UNIX_PORT=cluster.places.database_socket,
    )
    wait_for_answer(cluster, "slurmdbd", ["sacctmgr", "show", "cluster"])


def wait_for_answer(cluster: "Cluster", name: str, words: list[str]) -> None:
    """Wait until a client of the daemon succeeds."""

    def answers() -> bool:
        if not cluster.is_running(name):
            raise ClusterError(f"{name} ended: {cluster.log(name)[-2000:]}")
        return cluster.run(words, check=False).returncode == 0

    until(answers, f"{name} answers")


def start_slurmctld(cluster: "Cluster") -> None:
    """Start the controller."""
    cluster.daemon("slurmctld", ["slurmctld", "-D"], SLURM_CONF=cluster.places.configuration)
    wait_for_answer(cluster, "slurmctld", ["scontrol", "ping"])


def start_slurmd(cluster: "Cluster", node: str) -> None:
    """Start a node."""
    (cluster.places.node(node) / "slurmd").mkdir(parents=True, exist_ok=True)
    words = ["slurmd", "-D", "-N", node]
    cluster.daemon(node, words, SLURM_CONF=cluster.places.configuration)
