# SPDX-License-Identifier: GPL-2.0-or-later
"""Gives an x86_64 guest the host's files: by 9p, or by virtiofs if the kernel has no 9p.

9p needs no privilege and nothing beside QEMU; Kadence's own kernels have it. Debian's cloud kernel
has virtiofs instead, whose server in QEMU 7.2 runs as root only.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import ToolError, UsageError
from kadence.boot import configuration

VIRTIOFSD = Path("/usr/lib/qemu/virtiofsd")
# As file_server/main.c connects them.
SERVER_DESCRIPTOR, MACHINE_DESCRIPTOR = 6, 7


@dataclass(frozen=True)
class HostFiles:
    """Words before QEMU's, which start a server, and options of QEMU."""

    server: tuple[str, ...]
    options: tuple[str, ...]


def carrier(image: Path, memory_bytes: int) -> HostFiles:
    """Choose by the configuration beside the kernel's image; without one, choose 9p."""
    settings = configuration.beside(image)
    if settings is None or settings.get("9P_FS") == "y":
        return HostFiles((), _by_9p())
    if settings.get("VIRTIO_FS") != "y":
        raise UsageError(
            f"{image} has neither 9p nor virtiofs built in, so it can't reach this machine's "
            "files; name another kernel"
        )
    return HostFiles(_server(image), _by_virtiofs(memory_bytes))


def _by_9p() -> tuple[str, ...]:
    """Only root can change a file's owner; any other user owns all files that he makes."""
    model = "passthrough" if os.geteuid() == 0 else "none"
    return (
        *("-fsdev", f"local,id=host,path=/,security_model={model},multidevs=remap"),
        *("-device", "virtio-9p-pci,fsdev=host,mount_tag=host"),
    )


def _by_virtiofs(memory_bytes: int) -> tuple[str, ...]:
    """The server reads and writes the guest's memory itself."""
    return (
        *("-object", f"memory-backend-memfd,id=memory,size={memory_bytes},share=on"),
        *("-machine", "memory-backend=memory"),
        *("-chardev", f"socket,id=host,fd={MACHINE_DESCRIPTOR}"),
        *("-device", "vhost-user-fs-pci,chardev=host,tag=host"),
    )


def _server(image: Path) -> tuple[str, ...]:
    if os.geteuid() != 0:
        raise UsageError(
            f"{image} reaches this machine's files by virtiofs only, whose server needs root; "
            "run as root or name a kernel with 9p, such as one that Kadence built"
        )
    if not VIRTIOFSD.exists():
        raise ToolError(f"{VIRTIOFSD} is missing; run `apt-get install qemu-system-common`")
    return (
        *(str(resources.built("boot/file-server")), str(VIRTIOFSD)),
        *(f"--fd={SERVER_DESCRIPTOR}", "-f", "-o", "source=/"),
        # File locks stay in the guest: this server refuses locks that wait.
        *("-o", "sandbox=chroot", "-o", "log_level=err"),
        "--",
    )
