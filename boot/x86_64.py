# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the command that starts a whole x86_64 machine in QEMU, with relay and init connected.

relay/kernel.c sets QEMU's descriptors: 1 is the log (serial line 1), 3 the doorbell (serial line
0), 4 the shared memory (an ivshmem device), 5 QEMU's monitor. The root file system is the host's.
"""

import hashlib
import shutil
from pathlib import Path

from kadence.base import artefact, resources
from kadence.base.errors import ToolError, UsageError
from kadence.boot import acceleration, clock, configuration, host_files, initramfs
from kadence.boot.memory import MIB, Memory
from kadence.boot.request import Request

QEMU = acceleration.QEMU
# One instruction takes one nanosecond of the guest's clock, which jumps over idle time. Fast string
# instructions (ERMS, FSRM) are switched off: icount counts one instruction for each of their bytes.
ICOUNT = "icount"
LAB = ("-accel", "tcg", "-icount", "shift=0,sleep=off", "-cpu", "max,-erms,-fsrm")
# At the command's start the relay tells QEMU to log to another file, and to stop chaining blocks.
# Chaining is part of a block's key in QEMU's cache (curr_cflags() in accel/tcg/cpu-exec.c), so QEMU
# translates, and logs, every block once more.
BOOT_LOG, PROGRAM_LOG = "boot.log", "program.log"
ARGUMENTS = (
    "console=ttyS1,115200",
    "panic=-1",
    "reboot=t",
    # QEMU's timers are right, but a kernel's measurements of them under emulation are wrong.
    "no_timer_check",
    "tsc=reliable",
    "nokaslr",
)
# At boot a kernel measures the processor's timer by spinning for 0.1 or 0.2 s beside another clock.
# That is most of a small kernel's boot, because the emulator leaves its translated code at each
# turn of the loop. The machine's timer needs no measuring, but it is so coarse that a tick often
# comes a little early and takes two interrupts. The lab would count them.
# Each of several processors needs its own timer: the kernel would have to pass on the interrupts of
# the machine's single timer.
EMULATED = ("noapictimer",)
# A starting kernel changes many of its instructions. QEMU before 8.1 may keep the translation of an
# instruction that another processor changed: a kernel met an int3 that it had already replaced, and
# panicked. So an emulated kernel starts on one processor, and init brings the others online
# (init/processors.c).
STARTS_ON_ONE = "maxcpus=1"
DEBIANS_HZ = "250"
# Without devices that a batch job does not use: the kernel would spend time on each.
MACHINE = "pc,hpet=off,i8042=off,vmport=off,smbus=off,usb=off,graphics=off"


def command(request: Request, memory: Memory, init: Path, shared_bytes: int) -> list[str]:
    """The words that start this machine."""
    if shutil.which(QEMU) is None:
        raise ToolError(f"{QEMU} is missing; install it with: apt-get install qemu-system-x86")
    machine = _machine(request, memory, init)
    chosen = _accelerator(request, machine)
    files = host_files.carrier(request.image, memory.size_bytes)
    return [
        *files.server,
        *machine,
        *(LAB if chosen == ICOUNT else acceleration.options(chosen)),
        *files.options,
        *_lines(),
        *_shared(shared_bytes),
        *_trace(request),
        *request.emulator_options,
        *("-append", " ".join([*_arguments(request, chosen), *request.kernel_arguments])),
    ]


def accelerator(request: Request) -> str:
    """The accelerator of a machine that was started before."""
    if request.trace is not None:
        return acceleration.TCG
    return ICOUNT if request.lab else acceleration.remembered(request.processors)


def _accelerator(request: Request, machine: list[str]) -> str:
    if request.lab:
        return ICOUNT
    if request.trace is not None:
        return acceleration.TCG  # only TCG translates, so only TCG can log translated blocks
    return acceleration.chosen(machine, ARGUMENTS, request.processors)


def _arguments(request: Request, accelerated_by: str) -> tuple[str, ...]:
    return (*_of_accelerator(request, accelerated_by), *_counters(request.counters))


def _counters(place: Path | None) -> tuple[str, ...]:
    """A kernel gives init what it does not know itself, as a variable of its environment."""
    if place is None:
        return ()
    if any(mark in str(place) for mark in ' "\n'):
        raise UsageError(f"the path {place} has a space or a quote; count in another folder")
    return (f"KADENCE_COUNTERS={place}",)


def _of_accelerator(request: Request, accelerated_by: str) -> tuple[str, ...]:
    if accelerated_by != acceleration.TCG:
        return ARGUMENTS
    emulated = EMULATED if request.processors == 1 else _emulated_several(request)
    return (*ARGUMENTS, *emulated, f"tsc_early_khz={clock.counter_khz()}")


def _emulated_several(request: Request) -> tuple[str, ...]:
    """Start the kernel on one processor, and give it the number of delay loops per tick.

    For each processor brought online later, it would measure them for 1.5 s, fail, and complain.
    """
    settings = configuration.beside(request.image) or {}
    per_tick = clock.counter_khz() * 1000 // int(settings.get("HZ", DEBIANS_HZ))
    return (STARTS_ON_ONE, f"lpj={per_tick}")


def _processors(request: Request) -> str:
    """Cores of one socket, as on a node, for a kernel with ACPI; else a socket for each.

    A kernel without ACPI finds its processors in a table with one entry for each socket.
    """
    count = request.processors
    settings = configuration.beside(request.image) or {}
    sockets, cores = (1, count) if settings.get("ACPI") == "y" else (count, 1)
    return f"{count},sockets={sockets},cores={cores},threads=1"


def _machine(request: Request, memory: Memory, init: Path) -> list[str]:
    ram = initial_ram(init)
    return [
        str(shutil.which(QEMU)),
        *("-machine", MACHINE, "-smp", _processors(request), "-m", f"{memory.size_bytes // MIB}M"),
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
        *("-kernel", str(request.image.absolute()), "-initrd", str(ram)),
    ]


def at_start(trace: Path) -> str:
    """The commands that the relay gives QEMU's monitor before the command starts."""
    return f"logfile {trace / PROGRAM_LOG}\nlog in_asm,nochain\n"


def _lines() -> list[str]:
    return [
        *("-chardev", "socket,id=doorbell,fd=3", "-serial", "chardev:doorbell"),
        *("-chardev", "file,id=log,path=/proc/self/fd/1,append=on", "-serial", "chardev:log"),
        *("-chardev", "socket,id=monitor,fd=5", "-mon", "chardev=monitor,mode=readline"),
    ]


def _shared(size_bytes: int) -> list[str]:
    backend = f"memory-backend-file,id=shared,mem-path=/proc/self/fd/4,size={size_bytes},share=on"
    return ["-object", backend, "-device", "ivshmem-plain,memdev=shared"]


def _trace(request: Request) -> list[str]:
    if request.trace is None:
        return []
    if any(mark in str(request.trace) for mark in " ,\n"):
        raise UsageError(f"the path {request.trace} has a space or comma; trace to another folder")
    return ["-d", "in_asm", "-D", str(request.trace / BOOT_LOG)]


def initial_ram(init: Path) -> Path:
    """An initial RAM file system with init alone, kept in the cache by its content."""
    archive = initramfs.pack({"init": init})
    place = resources.cache_directory() / "initramfs" / hashlib.sha256(archive).hexdigest()[:16]
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with artefact.atomic_output(place) as temporary:
            temporary.write_bytes(archive)
    return place
