# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster whose nodes are machines in QEMU; slurmctld and clients run on this machine."""

import os
import re
import signal
from collections.abc import Mapping
from typing import Any

from cluster import Cluster, until
from node_guest import NodeGuest, Place

HOST_SEEN_FROM_INSIDE = "10.0.2.2"
PROCESSORS = 4
# The memory that Slurm may give to jobs, and the machine's memory.
MEMORY_MIB, MACHINE_MIB = 1024, 2048
START_SECONDS = 300.0

# The nodes' slurm.conf may differ from the controller's. The nodes have no systemd.
DIFFERENT = "DebugFlags=NO_CONF_HASH"
CGROUP = "IgnoreSystemd=yes\n"

# Values that a node's slurm.conf has in place of the cluster's.
INSIDE = {
    "SlurmctldHost": f"controller({HOST_SEEN_FROM_INSIDE})",
    "AuthInfo": "socket=/run/munge/munge.socket",
    "SlurmdSpoolDir": "/var/spool/slurmd",
    "SlurmdPidFile": "/run/slurmd.pid",
    # Connections to a node's slurmd come from outside, so it listens on all addresses.
    "CommunicationParameters": "",
}


class GuestCluster(Cluster):
    """A running cluster of guests."""

    def __init__(self, files: Mapping[str, str] | None = None, **options: Any) -> None:
        """`files` are further files beside each slurm.conf: name -> text."""
        usual = {"nodes": 1, "processors": PROCESSORS, "memory_mib": MEMORY_MIB}
        lines = {"lines": [*options.pop("lines", ()), DIFFERENT]}
        super().__init__(**usual | options | lines)
        self.guests: dict[str, NodeGuest] = {}
        self._files = files or {}

    def add_files(self) -> None:
        """Write the further files beside the controller's slurm.conf."""
        for name, text in self._files.items():
            self.places.configuration.with_name(name).write_text(text)

    def start_slurmd(self, node: str) -> None:
        """Switch a node on, and wait until its slurmd has started."""
        if node not in self.guests:
            self.guests[node] = self._make_guest(node)
        guest = self.guests[node]
        count = len(guest.starts()) + 1
        self.daemon(f"{node}.qemu", guest.command())
        self.await_starts(node, count)

    def await_starts(self, node: str, count: int) -> None:
        """Wait until a node has started `count` times in all, under any kernel."""
        guest = self.guests[node]

        def is_up() -> bool:
            assert self.is_running(f"{node}.qemu"), self.log(f"{node}.qemu") + guest.console()
            return len(guest.starts()) >= count

        try:
            until(is_up, f"{node} starts", START_SECONDS)
        except Exception as error:
            raise AssertionError(f"{error}; its console ends: {guest.console()[-3000:]}") from error

    def kill_slurmd(self, node: str, number: int = signal.SIGKILL) -> None:
        """Make the node's power fail."""
        os.kill(self._processes[f"{node}.qemu"], number)
        until(lambda: not self.is_running(f"{node}.qemu"), f"{node} off")

    def _make_guest(self, node: str) -> NodeGuest:
        folder = self.places.node(node)
        folder.mkdir(parents=True, exist_ok=True)
        common = self.places.configuration.read_text()
        inside = "".join(f"{_inside(line)}\n" for line in common.splitlines())
        stack = self.places.configuration.with_name("plugstack.conf").read_text()
        files = {"slurm.conf": inside, "plugstack.conf": stack, "cgroup.conf": CGROUP}
        for name, text in (*files.items(), *self._files.items()):
            (folder / name).write_text(text)
        place = Place(
            name=node,
            port=_port(common) + self.nodes.index(node),
            folder=folder / "guest",
            shared=self.folder,
            munge_key=self.places.munge_socket.parents[1] / "key",
            slurm_conf=folder / "slurm.conf",
            site=self.places.site,
            spool=self.places.spool(node),
        )
        return NodeGuest(place, self.options.processors, MACHINE_MIB)


def _inside(line: str) -> str:
    key = line.partition("=")[0]
    if key not in INSIDE:
        return line
    return f"{key}={INSIDE[key]}" if INSIDE[key] else ""


def _port(common: str) -> int:
    found = re.search(r"^NodeName=.* Port=(\d+)", common, re.MULTILINE)
    assert found is not None, common
    return int(found[1])
