# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster with Kadence: how tests make it fail, and see that jobs leave nothing behind."""

import contextlib
import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import daemons
from cluster import ROOT, Cluster, ClusterError, until
from keeper import descendants

PLUGIN = ROOT / "build/slurm/kadence.so"
# A hanging kernel costs this long; a good one may need some seconds on a busy machine.
BOOT_SECONDS = 30


class AdaptingCluster(Cluster):
    """Two nodes with the plugin, accounting and a TaskProlog that sets a variable."""

    def __init__(self, **options: Any) -> None:
        site = {"boot_seconds": BOOT_SECONDS} | options.pop("site", {})
        super().__init__(plugin=PLUGIN, site=site, **options)

    def processes(self, name: str) -> list[int]:
        """This cluster's processes whose executable's path ends in `name`."""
        found = []
        for process in descendants(self._keeper.pid):
            with contextlib.suppress(OSError):
                if str(Path(f"/proc/{process}/exe").readlink()).endswith(name):
                    found.append(process)
        return found

    def guests(self) -> list[int]:
        """Processes of the jobs' kernels: a bundle's kernel, or the image that a script starts."""
        return self.processes("/kernel/um") + self.processes("/image")

    @staticmethod
    def affinities(processes: Iterable[int]) -> set[frozenset[int]]:
        """The sets of processors on which those processes that still exist may run."""
        found = set()
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                found.add(frozenset(os.sched_getaffinity(process)))
        return found

    def records(self, job: str) -> list[Path]:
        """The records that the epilogs wrote about a job."""
        return sorted((self.places.folder / "records" / job).glob("*.json"))

    def written(self, job: str, user: str) -> str:
        """What a job has written so far, if anything."""
        try:
            return self.output(job, user)
        except FileNotFoundError:
            return ""

    def require_clean(self) -> None:
        """Wait until the nodes hold nothing of any job but completely unpacked bundles."""
        self.require_idle()
        until(lambda: not self.guests(), "no guest is left")
        for node in self.nodes:
            spool = self.places.spool(node)
            until(lambda s=spool: not list(s.glob("jobs/*")), f"no job is left on {node}")
            hidden = list(spool.glob("store/.*"))
            if hidden:
                raise ClusterError(f"an incomplete bundle is left on {node}: {hidden}")

    def crash(self, node: str) -> None:
        """Kill all processes of a node, as a loss of power does."""
        mark = f"SLURMD_NODENAME={node}\0".encode()
        self.kill_slurmd(node)
        for process in descendants(self._keeper.pid):
            with contextlib.suppress(OSError):
                if mark in Path(f"/proc/{process}/environ").read_bytes():
                    os.kill(process, signal.SIGKILL)
        until(lambda: not self.guests(), f"{node} is down")

    @contextlib.contextmanager
    def impatient(self, seconds: int) -> Iterator[None]:
        """Meanwhile the nodes' plugin waits for its tool only this long."""
        path = self.places.configuration.with_name("plugstack.conf")
        text = path.read_text()
        path.write_text(text.rstrip("\n") + f" seconds={seconds}\n")
        try:
            yield
        finally:
            path.write_text(text)

    @contextlib.contextmanager
    def small_spool(self, node: str, size: str) -> Iterator[None]:
        """Meanwhile the node's spool is a file system of this size, which only its slurmd sees."""
        spool = self.places.spool(node)
        mount = f"mount -t tmpfs -o size={size},mode=0711 tmpfs {spool} && exec slurmd -D -N {node}"
        self.kill_slurmd(node, signal.SIGTERM)
        spool.mkdir(exist_ok=True)
        self.daemon(
            node,
            ["unshare", "--mount", "--propagation=private", "sh", "-c", mount],
            SLURM_CONF=self.places.configuration,
        )
        self.require_idle()
        try:
            yield
        finally:
            self.kill_slurmd(node, signal.SIGTERM)
            daemons.start_slurmd(self, node)
            self.require_idle()
