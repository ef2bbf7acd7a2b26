# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that a test's cluster reads: slurm.conf, plugstack.conf, site.toml."""

import json
import random
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Below the ports that the kernel gives to outgoing connections, so that a restarted daemon finds
# its port free.
LOWEST_PORT, HIGHEST_PORT = 12000, 32000

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Options:
    """The cluster that a test asks for."""

    nodes: int = 2
    processors: int = 2
    memory_mib: int = 4096
    plugin: Path | None = None  # kadence.so
    site: Mapping[str, Any] = field(default_factory=dict)  # keys of site.toml
    plugin_arguments: str = ""  # further ones
    accounting: bool = False  # mariadbd and slurmdbd, for sacct
    task_prolog: Path | None = None
    lines: Sequence[str] = ()  # more lines of slurm.conf; of two with the same key the last counts


@dataclass(frozen=True)
class Places:
    """The places of all files below the cluster's folder."""

    folder: Path

    @property
    def configuration(self) -> Path:
        """slurm.conf, with the other configuration files beside it."""
        return self.folder / "etc/slurm.conf"

    @property
    def site(self) -> Path:
        """site.toml, the administrator's file."""
        return self.configuration.with_name("site.toml")

    @property
    def munge_socket(self) -> Path:
        return self.folder / "munge/run/socket"

    @property
    def database_socket(self) -> Path:
        return self.folder / "database/socket"

    @property
    def logs(self) -> Path:
        return self.folder / "log"

    def node(self, name: str) -> Path:
        """A node's own folder."""
        return self.folder / "nodes" / name

    def spool(self, node: str) -> Path:
        """The node's spool, as site.toml names it."""
        return self.node(node) / "kadence"


def free_ports(count: int) -> int:
    """The first of `count` ports in a row on which no process listens."""
    while True:
        first = random.randrange(LOWEST_PORT, HIGHEST_PORT - count)
        if all(_is_free(port) for port in range(first, first + count)):
            return first


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def node_names(options: Options) -> list[str]:
    """The nodes whose slurmd runs on this machine."""
    return [f"node{number}" for number in range(1, options.nodes + 1)]


def write(places: Places, options: Options, first_port: int) -> None:
    """Write every file; ports are slurmctld's, slurmdbd's and then one for each node."""
    etc = places.configuration.parent
    lines = [*_common(places), *_machines(options, first_port), *_chosen(options)]
    if options.accounting:
        lines += _accounting(places, first_port + 1)
        _write_slurmdbd(places, first_port + 1)
    places.configuration.write_text("\n".join(lines) + "\n")
    arguments = f"site={places.site} {options.plugin_arguments}".rstrip()
    line = f"optional {options.plugin.resolve()} {arguments}\n" if options.plugin else ""
    (etc / "plugstack.conf").write_text(line)
    write_site(places, options.site)


def _only_loopback(words: str) -> list[str]:
    """Make daemons listen on the address of the machine's name only, if that is the loopback one.

    Connections must come from the address listened on, because daemons call their callers back.
    """
    try:
        named = socket.gethostbyname(socket.gethostname())
    except OSError:
        named = ""
    return [f"CommunicationParameters={words}"] if named == LOOPBACK else []


def _common(places: Places) -> list[str]:
    folder = places.folder
    return [
        "ClusterName=kadence",
        f"SlurmctldHost=localhost({LOOPBACK})",
        *_only_loopback("NoInAddrAny,NoCtldInAddrAny"),
        "SlurmUser=root",
        "AuthType=auth/munge",
        f"AuthInfo=socket={places.munge_socket}",
        # This leaves the machine's cgroups alone.
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/affinity",
        "JobAcctGatherType=jobacct_gather/linux",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_CPU_Memory",
        "DefMemPerCPU=256",
        "MpiDefault=none",
        "PrologFlags=Alloc",
        "ReturnToService=2",
        f"StateSaveLocation={folder}/state",
        f"SlurmdSpoolDir={folder}/nodes/%n/slurmd",
        f"SlurmctldPidFile={folder}/slurmctld.pid",
        f"SlurmdPidFile={folder}/nodes/%n/slurmd.pid",
        f"SlurmctldLogFile={places.logs}/slurmctld",
        f"SlurmdLogFile={places.logs}/%n",
        "LogTimeFormat=iso8601_ms",
        # A test's node has as many processors as its configuration says.
        "SlurmdParameters=config_overrides",
        # Tests wait for the scheduler, so it must not delay jobs.
        "SchedulerParameters=batch_sched_delay=0,bf_interval=1",
        "KillWait=5",
        "MinJobAge=3600",
    ]


def _machines(options: Options, first_port: int) -> list[str]:
    nodes, first = options.nodes, first_port + 2
    resources = f"CPUs={options.processors} RealMemory={options.memory_mib}"
    where = f"NodeHostname=localhost NodeAddr={LOOPBACK} Port={first}-{first + nodes - 1}"
    return [
        f"SlurmctldPort={first_port}",
        f"NodeName=node[1-{nodes}] {where} {resources} State=UNKNOWN",
        "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO",
    ]


def _chosen(options: Options) -> list[str]:
    prolog = [f"TaskProlog={options.task_prolog}"] if options.task_prolog else []
    return [*prolog, *options.lines]


def _accounting(places: Places, port: int) -> list[str]:
    return [
        "AccountingStorageType=accounting_storage/slurmdbd",
        f"AccountingStorageHost={LOOPBACK}",
        f"AccountingStoragePort={port}",
        f"AccountingStoragePass={places.munge_socket}",
    ]


def _write_slurmdbd(places: Places, port: int) -> None:
    lines = [
        "AuthType=auth/munge",
        f"AuthInfo=socket={places.munge_socket}",
        "DbdHost=localhost",
        f"DbdAddr={LOOPBACK}",
        *_only_loopback("NoInAddrAny"),
        f"DbdPort={port}",
        "SlurmUser=root",
        f"LogFile={places.logs}/slurmdbd",
        f"PidFile={places.folder}/slurmdbd.pid",
        "StorageType=accounting_storage/mysql",
        "StorageHost=localhost",
        "StorageUser=root",
    ]
    path = places.configuration.parent / "slurmdbd.conf"
    path.touch(0o600)
    path.write_text("\n".join(lines) + "\n")


def write_site(places: Places, changes: Mapping[str, Any]) -> None:
    """Write site.toml; in the spool's path, %n is the node's name."""
    folder = places.folder
    values = {
        "spool": str(places.spool("%n")),
        "key_ring": str(folder / "keys"),
        "records": str(folder / "records"),
        "store": str(folder / "store"),
        "site_key": str(folder / "etc/site.pub"),
        **changes,
    }
    # TOML writes strings, numbers, booleans and lists of them as JSON does.
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in values.items()]
    places.site.write_text("".join(lines))
