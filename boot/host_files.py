# SPDX-License-Identifier: GPL-2.0-or-later
"""Gives an x86_64 guest the host's files: by 9p, or by virtiofs if the kernel has no 9p.

9p needs no privilege and nothing beside QEMU; Kadence's own kernels have it. Debian's cloud kernel
has virtiofs instead. Its server was a part of QEMU up to 7.2, and runs as root only; later it is a
program of its own.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import ToolError, UsageError
from kadence.boot import configuration

# As file_server/main.c connects them.
SERVER_DESCRIPTOR, MACHINE_DESCRIPTOR = 6, 7


@dataclass(frozen=True)
class HostFiles:
    """Words before QEMU's, which start a server, and options of QEMU."""

    server: tuple[str, ...]
    options: tuple[str, ...]


@dataclass(frozen=True)
class FileServer:
    """A release of virtiofsd, and its options for the whole tree, without their sandbox."""

    program: Path
    options: tuple[str, ...]
    sandbox: tuple[str, ...]  # for root
    unconfined: tuple[str, ...] | None  # for other users; None: it serves root only


# Debian 13 has the later one at both places. File locks stay in the guest: the earlier one refuses
# locks that wait. Submounts have no numbers of their own, as with that one.
FILE_SERVERS = (
    FileServer(
        Path("/usr/libexec/virtiofsd"),
        ("--shared-dir=/", "--log-level=error", "--no-announce-submounts"),
        ("--sandbox=chroot",),
        ("--sandbox=none",),
    ),
    FileServer(
        Path("/usr/lib/qemu/virtiofsd"),
        ("-f", "-o", "source=/", "-o", "log_level=err"),
        ("-o", "sandbox=chroot"),
        None,
    ),
)


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
    installed = [each for each in FILE_SERVERS if each.program.exists()]
    if not installed:
        raise ToolError(
            f"{FILE_SERVERS[0].program} is missing; run `apt-get install virtiofsd`, or on Debian "
            "12 `apt-get install qemu-system-common`"
        )
    server = installed[0]
    confined = server.sandbox if os.geteuid() == 0 else server.unconfined
    if confined is None:
        raise UsageError(
            f"{image} reaches this machine's files by virtiofs only, whose server needs root; "
            "run as root or name a kernel with 9p, such as one that Kadence built"
        )
    return (
        *(str(resources.built("boot/file-server")), str(server.program)),
        *(f"--fd={SERVER_DESCRIPTOR}", *server.options, *confined),
        "--",
    )
