# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine in QEMU that is a node of a Slurm cluster on this machine.

The node's root is this machine's root, under a file system in memory that takes all changes. The
node also has its own disk, which outlives its boots, and the cluster's folder, which both sides
see. Its network is QEMU's user network: inside, 10.0.2.2 is this machine. The slurmd's port is
also a loopback port of this machine. A reset boots the stock kernel again.
"""

import contextlib
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stock_modules import stock_modules

from kadence.boot import debian, initramfs

HERE = Path(__file__).resolve().parent
FILES = HERE / "node_guest"
DISK_BYTES = 256 << 20


@dataclass(frozen=True)
class Place:
    """Where a node and its cluster keep things."""

    name: str
    port: int  # slurmd's
    folder: Path  # the node's own folder on this machine
    shared: Path  # the cluster's folder, at the same path inside
    munge_key: Path
    slurm_conf: Path  # the node's version
    site: Path  # the administrator's file
    spool: Path  # path inside the node, on its disk


def stock_release() -> str:
    """Debian's kernel for machines of all kinds, of the series that has quanta and rings.

    Debian's small kernel, for clouds, has no 9p. Virtiofs is no substitute: its server does not
    survive a kexec.
    """
    return debian.newest_release("6.12").replace("-cloud-", "-")


def initial_ram(modules: Mapping[str, bytes]) -> bytes:
    """The initial RAM file system from which a node starts."""
    return initramfs.pack({"init": FILES / "init", "bin/busybox": Path("/bin/busybox"), **modules})


class NodeGuest:
    """The machine: its files, the command that starts it, and its console."""

    def __init__(self, place: Place, processors: int, megabytes: int) -> None:
        self.place = place
        self._processors, self._megabytes = processors, megabytes
        self._write_files()

    def _write_files(self) -> None:
        place = self.place
        (place.folder / "files").mkdir(parents=True)
        settings = {
            "NAME": place.name,
            "SHARED": place.shared,
            "SPOOL": place.spool,
            "MUNGE_KEY": place.munge_key,
            "SLURM_CONF": place.slurm_conf,
            "SITE": place.site,
        }
        text = "".join(f"{name}='{value}'\n" for name, value in settings.items())
        (place.folder / "files/settings").write_text(text)
        (place.folder / "files/start").write_bytes((FILES / "start").read_bytes())
        (place.folder / "initrd").write_bytes(initial_ram(stock_modules(stock_release())))
        with (place.folder / "disk").open("wb") as disk:
            disk.truncate(DISK_BYTES)
        subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", place.folder / "disk"], check=True)

    def console(self) -> str:
        """All that its kernels and its start script printed."""
        with contextlib.suppress(FileNotFoundError):
            return (self.place.folder / "console").read_text(errors="replace")
        return ""

    def starts(self) -> list[str]:
        """The kernels under which the node has started so far, in order."""
        mark = f"kadence-node: {self.place.name} runs "
        lines = self.console().splitlines()
        return [line.partition(mark)[2].strip() for line in lines if mark in line]

    def command(self) -> list[str]:
        """The command that switches the node on."""
        place = self.place
        forward = f"hostfwd=tcp:127.0.0.1:{place.port}-:{place.port}"
        return [
            *("qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max"),
            *("-smp", str(self._processors), "-m", str(self._megabytes)),
            *("-nodefaults", "-no-user-config", "-display", "none"),
            *("-chardev", f"file,id=console,path={place.folder}/console,append=on"),
            *("-serial", "chardev:console"),
            *("-kernel", str(debian.kernel_image(stock_release()))),
            *("-initrd", f"{place.folder}/initrd"),
            *("-append", "console=ttyS0 panic=5 tsc=reliable no_timer_check quiet"),
            *("-netdev", f"user,id=net,{forward}", "-device", "virtio-net-pci,netdev=net,romfile="),
            *("-drive", f"file={place.folder}/disk,format=raw,if=virtio,cache=writeback"),
            *_export("host", Path("/"), "readonly=on"),
            *_export("node", place.folder / "files"),
            *_export("shared", place.shared),
        ]


def _export(tag: str, folder: Path, *options: str) -> list[str]:
    words = [f"local,id={tag},path={folder},security_model=passthrough,multidevs=remap", *options]
    return ["-fsdev", ",".join(words), "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
