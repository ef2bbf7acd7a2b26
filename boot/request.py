# SPDX-License-Identifier: GPL-2.0-or-later
"""A command to run in a guest, and its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TARGETS = ("um", "x86_64")


@dataclass(frozen=True)
class Request:
    """One command, to be run under one kernel."""

    image: Path  # um: the executable; x86_64: the bzImage
    argv: Sequence[str]
    file: Path | None = None  # to be executed; default: argv[0]
    target: str = "um"
    directory: Path | None = None  # default: the caller's
    environment: Mapping[str, str] | None = None  # default: the caller's
    memory_bytes: int | None = None  # default: from the caller's limits
    processors: int = 1
    memory_limit_bytes: int | None = None  # one more limit, such as a step's
    timeout_seconds: float | None = None  # of the command; default: none
    stdin: int = 0  # file descriptors
    stdout: int = 1
    stderr: int = 2
    kernel_arguments: Sequence[str] = ()  # appended to the kernel's command line
    lab: bool = False  # x86_64 only: a clock that counts instructions. See docs/lab.md
    emulator_options: Sequence[str] = ()  # x86_64 only: appended to QEMU's own
    trace: Path | None = None  # x86_64 only: folder for logs of translated blocks, see x86_64.py
    counters: Path | None = None  # x86_64 only: file for the counters of init/counters.c
    boot_timeout_seconds: float = 60.0  # until the command starts
    hang_timeout_seconds: float = 120.0  # without an answer from a guest that booted


@dataclass(frozen=True)
class Result:
    """How the command ended and what it used, by the guest's clock and counters."""

    status: int  # exit status of the command, 128 + n when signal n killed it
    signal: int | None
    accelerator: str  # what ran the kernel: native, kvm, tcg, icount
    boot_seconds: float  # from starting the kernel to the command's start, host's clock
    boot_virtual_seconds: float  # the guest's clock at the command's start
    wall_seconds: float  # of the command
    user_seconds: float  # UML counts all as system time. Only the sum means something
    system_seconds: float
    voluntary_switches: int  # of the command and its children, as the next four
    involuntary_switches: int
    minor_faults: int
    major_faults: int
    max_resident_bytes: int
    log: str  # kernel log of the guest
    processors: int = 1  # that the guest's kernel says it used
