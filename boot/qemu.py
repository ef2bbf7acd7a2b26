# SPDX-License-Identifier: GPL-2.0-or-later
"""Booting a full kernel with an initial RAM file system in QEMU, emulated, without privilege.

The guest has no disk and no network. With one processor its clock counts instructions, one per
nanosecond, so its measurements do not depend on the host. Several processors run at once, each in a
thread of its own, which exposes races; or in turns, if asked for. The guest's first process runs a
shell script. The answer is the script's output, mixed with the kernel's log. A line with the exit
status shows that the script ended.
"""

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base.errors import GuestError, ToolError
from kadence.boot import initramfs, x86_64

QEMU = "qemu-system-x86_64"
BUSYBOX = Path("/bin/busybox")
STATUS = re.compile(r"^kadence-guest-status (\d+)\r?$", re.MULTILINE)
LOG_TAIL_LINES = 20

# The first process mounts the file systems, runs the script, prints its status and resets the
# machine, which ends QEMU. A machine without ACPI cannot be switched off.
INIT = """#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mkdir -p /proc /sys /tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
for processor in /sys/devices/system/cpu/cpu*/online; do
	[ ! -e "$processor" ] || echo 1 >"$processor"
done
sh /script
echo "kadence-guest-status $?"
reboot -f
"""


@dataclass(frozen=True)
class Machine:
    """The kernel to boot, and the machine to boot it on."""

    image: Path  # bzImage
    memory_megabytes: int = 512
    processors: int = 1
    # Whether several processors run at once. If the kernel changes its own code, as units do, they
    # must not: QEMU before 8.1 may then run a mixture of the old instruction and the new one.
    parallel: bool = True
    options: Sequence[str] = ()  # appended to QEMU's own
    kernel_arguments: Sequence[str] = ()  # appended to the kernel's command line
    timeout_seconds: float = 600.0


@dataclass(frozen=True)
class Outcome:
    """The script's exit status, and all that appeared on the console."""

    status: int
    console: str


def run_script(machine: Machine, script: str, files: Mapping[str, initramfs.Content]) -> Outcome:
    """Boot, run the script with busybox's shell beside these files, and power off."""
    archive = initramfs.pack(
        {
            "init": INIT.encode(),
            "script": script.encode(),
            "bin/busybox": _busybox(),
            **files,
        }
    )
    with tempfile.NamedTemporaryFile(prefix="kadence-initramfs-") as image:
        image.write(archive)
        image.flush()
        console = _boot(machine, Path(image.name))
    found = STATUS.search(console)
    if found is None:
        raise GuestError(
            f"the guest ended before its script did; its console ends: {_end(console)}"
        )
    return Outcome(status=int(found.group(1)), console=console.replace("\r\n", "\n"))


def _busybox() -> Path:
    if not BUSYBOX.exists():
        raise ToolError(f"{BUSYBOX} is missing; run `apt-get install busybox-static`")
    return BUSYBOX


def _processors(count: int, parallel: bool) -> tuple[str, ...]:
    """QEMU counts the instructions of one processor only; it runs several in a thread each, or in
    turns in one.

    Each is in a socket of its own: a kernel without ACPI reads a table that names sockets only.
    """
    if count == 1:
        return ("-accel", "tcg", "-cpu", "max", "-smp", "1", "-icount", "shift=0,sleep=off")
    several = f"{count},sockets={count},cores=1,threads=1"
    threads = "multi" if parallel else "single"
    return ("-accel", f"tcg,thread={threads}", "-cpu", "max", "-smp", several)


def _boot(machine: Machine, archive: Path) -> str:
    arguments = ["console=ttyS0", "panic=-1", "oops=panic", *machine.kernel_arguments]
    if machine.processors > 1:
        # The clock follows the host's, so it stands still for a guest while other processes have
        # the host's processors. A kernel that checks its timer would then panic.
        # The kernel starts on one processor; /init brings the others online.
        arguments += ["no_timer_check", x86_64.STARTS_ON_ONE]
    command = [
        QEMU,
        *_processors(machine.processors, machine.parallel),
        *("-m", str(machine.memory_megabytes)),
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio"),
        *("-kernel", str(machine.image), "-initrd", str(archive)),
        *("-append", " ".join(arguments)),
        *machine.options,
    ]
    try:
        completed = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=machine.timeout_seconds,
            check=False,
        )
    except OSError as error:
        raise ToolError(
            f"cannot run {QEMU}: {error.strerror}; run `apt-get install qemu-system-x86`"
        ) from error
    except subprocess.TimeoutExpired as error:
        console = (error.stdout or b"").decode(errors="replace")
        raise GuestError(
            f"the guest was not done after {machine.timeout_seconds:.0f} s; "
            f"its console ends: {_end(console)}"
        ) from error
    if completed.returncode:
        complaint = completed.stderr.decode(errors="replace").strip()
        raise ToolError(f"{QEMU} failed with status {completed.returncode}: {complaint}")
    return completed.stdout.decode(errors="replace")


def _end(console: str) -> str:
    return "\n".join(console.strip().splitlines()[-LOG_TAIL_LINES:])
