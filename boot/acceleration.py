# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds out whether QEMU can use KVM here, by booting a kernel, and remembers the answer.

Some machines have a /dev/kvm that opens and answers but cannot run a kernel: a cloud VM without
real nested virtualisation is one. Only booting a kernel tells.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kadence.base import artefact, resources, terminal

KVM, TCG = "kvm", "tcg"
DEVICE = Path("/dev/kvm")
PROCESSORS = Path("/proc/cpuinfo")
QEMU = "qemu-system-x86_64"
PROBE_SECONDS = 8.0
# If its argument is PROBE, init writes ANSWER to the kernel log and ends the machine.
PROBE, ANSWER = "kadence_probe", b"kadence: probe"


def options(accelerator: str) -> tuple[str, ...]:
    """QEMU's options for an accelerator."""
    if accelerator == KVM:
        return ("-accel", "kvm", "-cpu", "host")
    # QEMU runs each processor in a thread of its own.
    return ("-accel", "tcg,thread=multi", "-cpu", "max")


def chosen(machine: Sequence[str], arguments: Sequence[str], processors: int = 1) -> str:
    """KVM if it has booted a kernel on this number of processors, else TCG.

    The first call that chooses TCG prints the reason. `machine` are the words that start QEMU with
    a kernel and init, except for the accelerator; `arguments` are the kernel's.
    """
    memory = _memory()
    key = _machine(processors)
    known = _read(memory)
    if known.get(key) not in (KVM, TCG):
        refusal = _refusal(machine, arguments)
        known[key] = TCG if refusal else KVM
        memory.parent.mkdir(parents=True, exist_ok=True)
        with artefact.atomic_output(memory) as temporary:
            temporary.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        if refusal:
            terminal.tell(f"QEMU emulates (TCG), because {refusal}")
    return known[key]


def remembered(processors: int = 1) -> str:
    """The accelerator that was chosen on this machine before; TCG if none was."""
    return _read(_memory()).get(_machine(processors), TCG)


def _memory() -> Path:
    return resources.cache_directory() / "acceleration.json"


def _read(memory: Path) -> dict[str, str]:
    try:
        found = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _machine(processors: int) -> str:
    """A checksum of all that the answer depends on, access to /dev/kvm included."""
    usable = os.access(DEVICE, os.R_OK | os.W_OK)
    parts = [platform.release(), platform.version(), processor(), _qemu(), usable]
    parts += [processors] if processors > 1 else []
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def processor() -> str:
    """Model and flags of the first processor, as the kernel reports them."""
    text = PROCESSORS.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    told = [line for line in text.splitlines() if line.startswith(("model name", "flags"))]
    return "\n".join(told)


def _qemu() -> list[object]:
    """Identify QEMU's version without starting QEMU."""
    program = shutil.which(QEMU)
    status = Path(program).stat() if program else None
    return [program, status and status.st_size, status and status.st_mtime_ns]


def _refusal(machine: Sequence[str], arguments: Sequence[str]) -> str | None:
    """The reason why KVM cannot be used here, or None."""
    if not DEVICE.exists():
        return f"there is no {DEVICE}"
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return f"{DEVICE} is not open to this user"
    return None if _boots(machine, arguments) else f"{DEVICE} answers but can't run a kernel"


def _boots(machine: Sequence[str], arguments: Sequence[str]) -> bool:
    words = [*machine, *options(KVM), "-serial", "null", "-serial", "stdio"]
    words += ["-append", " ".join([*arguments, PROBE])]
    try:
        ended = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return ANSWER in ended.stdout
