# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest without the host's files, so that nothing in it waits for the host.

This also boots kernels that cannot reach the host's files: Debian's cloud kernel has no 9p.
"""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import GuestError, ToolError
from kadence.boot import initramfs, x86_64
from kadence.lab.guest import Guest

TIMEOUT_SECONDS = 1200.0
LOG_TAIL_LINES = 12
STATUS = "status "
SETTLE = "/settle"


@dataclass(frozen=True)
class Ending:
    """The command's output lines with settle's report, its exit status, and the kernel's log."""

    lines: list[str]
    status: int
    log: str


def run(
    guest: Guest,
    argv: Sequence[str],
    files: Mapping[str, Path],
    emulator_options: Sequence[str] = (),
    modules: Sequence[Path] = (),
) -> Ending:
    """Boot, let the guest settle, run a command, and stop the guest.

    `files` maps paths in the guest to files that are put into its initial RAM file system. The
    modules of the kernel are loaded first.
    """
    loaded = {f"/{module.name}": module for module in modules}
    words = [SETTLE, *(word for place in loaded for word in ("-m", place)), "/report", *argv]
    archive = initramfs.pack(
        {
            "init": resources.built("kadence/lab-init"),
            "settle": resources.built("kadence/settle"),
            "words": "".join(f"{word}\n" for word in words).encode(),
            **files,
            **loaded,
        }
    )
    with tempfile.TemporaryDirectory(prefix="kadence-lab-") as name:
        folder = Path(name)
        (folder / "initramfs").write_bytes(archive)
        _boot(guest, folder, emulator_options)
        log = (folder / "log").read_text(encoding="utf-8", errors="replace")
        lines = (folder / "lines").read_text(encoding="utf-8", errors="replace").splitlines()
    if not lines or not lines[-1].startswith(STATUS):
        raise GuestError(f"{guest.name} ended before its command did; its log ends: {_end(log)}")
    return Ending(lines[:-1], int(lines[-1].removeprefix(STATUS)), log)


def _boot(guest: Guest, folder: Path, options: Sequence[str]) -> None:
    command = [
        *(x86_64.QEMU, "-machine", "pc", "-smp", "1", "-m", f"{guest.memory_bytes >> 20}M"),
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
        *("-kernel", str(guest.image), "-initrd", str(folder / "initramfs")),
        *x86_64.LAB,
        *("-serial", f"file:{folder / 'lines'}", "-serial", f"file:{folder / 'log'}"),
        *("-append", " ".join(x86_64.ARGUMENTS)),
        *options,
    ]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except OSError as error:
        raise ToolError(
            f"cannot run {x86_64.QEMU}: {error.strerror}; run `apt-get install qemu-system-x86`"
        ) from error
    except subprocess.TimeoutExpired as error:
        log = (folder / "log").read_text(encoding="utf-8", errors="replace")
        raise GuestError(
            f"{guest.name} did not end within {TIMEOUT_SECONDS:.0f} s; its log ends: {_end(log)}"
        ) from error
    if done.returncode:
        complaint = done.stderr.decode(errors="replace").strip()
        raise ToolError(
            f"{x86_64.QEMU} failed on {guest.name} with status {done.returncode}: {complaint}"
        )


def _end(log: str) -> str:
    return "\n".join(log.strip().splitlines()[-LOG_TAIL_LINES:])
