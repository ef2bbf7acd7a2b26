# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one command in the lab, on the host's files: boots, lets the guest settle, and measures."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import GuestError
from kadence.boot import Request, x86_64
from kadence.boot.request import Result
from kadence.boot.session import run as boot_run
from kadence.lab import settled
from kadence.lab.guest import X86_64, Guest
from kadence.lab.settled import Settled

# An emulated guest is slow, above all when other work shares the machine.
BOOT_TIMEOUT_SECONDS = 600.0
HANG_TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True)
class Reading:
    """What a command used, by the guest's clock, on which a nanosecond is an instruction."""

    guest: Guest
    flags: tuple[str, ...]  # QEMU's flags that define the clock and the processor
    settled: Settled
    elapsed_ns: int  # of the command: instructions, and time in which nothing ran
    processor_ns: int  # of the command and its children
    result: Result  # the result of `kadence run`

    def setting(self) -> str:
        """Returns the setting that every figure must be quoted with."""
        return self.guest.setting(self.settled.file_system, self.flags)


def run(
    guest: Guest,
    argv: Sequence[str],
    *,
    timeout_seconds: float | None = None,
    stand_in: bool = False,
    emulator_options: Sequence[str] = (),
    streams: tuple[int, int, int] = (0, 1, 2),
    modules: Sequence[Path] = (),
    directory: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Reading:
    """Run a command once the guest does nothing else. `stand_in` is as in kadence.boot.

    `streams` are the file descriptors of the command's input, output and errors. The modules of the
    kernel are loaded first. Directory and environment are the caller's, unless named.
    """
    stdin, stdout, stderr = streams
    with tempfile.TemporaryDirectory(prefix="kadence-lab-") as folder:
        report = Path(folder) / "report"
        loaded = [word for module in modules for word in ("-m", str(module))]
        request = Request(
            image=guest.image,
            argv=[str(resources.built("kadence/settle")), *loaded, str(report), *argv],
            target=X86_64,
            lab=True,
            memory_bytes=guest.memory_bytes,
            timeout_seconds=timeout_seconds,
            boot_timeout_seconds=BOOT_TIMEOUT_SECONDS,
            hang_timeout_seconds=HANG_TIMEOUT_SECONDS,
            emulator_options=emulator_options,
            directory=directory,
            environment=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )
        result = boot_run(request, stand_in=stand_in)
        return _reading(guest, result, settled.read(_lines(report, result)))


def _lines(report: Path, result: Result) -> list[str]:
    """Returns the lines that settle wrote. Without a report the command never began."""
    try:
        return report.read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise GuestError(
            f"the command did not begin in the guest (status {result.status}, signal "
            f"{result.signal}); check whether `kadence run --target x86_64` runs it"
        ) from error


def _reading(guest: Guest, result: Result, found: Settled) -> Reading:
    used = round((result.user_seconds + result.system_seconds) * 1e9)
    return Reading(
        guest=guest,
        flags=x86_64.LAB,
        settled=found,
        # The wall time counts from the start of settle.
        elapsed_ns=round(result.wall_seconds * 1e9) - found.settle_ns,
        processor_ns=used - found.processor_ns,
        result=result,
    )
