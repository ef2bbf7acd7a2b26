# SPDX-License-Identifier: GPL-2.0-or-later
"""One command in the lab, on the host's files: boot, let the guest settle, run, and count."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence import resources
from kadence.boot import Request, x86_64
from kadence.boot.request import Result
from kadence.boot.session import run as boot_run
from kadence.errors import GuestError
from kadence.lab import settled
from kadence.lab.guest import X86_64, Guest
from kadence.lab.settled import Settled

# A guest that emulates every instruction takes its time, above all where others share the machine.
BOOT_TIMEOUT_SECONDS = 600.0
HANG_TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True)
class Reading:
    """What a command used, by the guest's clock: a nanosecond is an instruction."""

    guest: Guest
    flags: tuple[str, ...]  # of QEMU, as far as they make the clock
    settled: Settled
    elapsed_ns: int  # of the command: instructions, and time in which nothing ran
    processor_ns: int  # of the command and its children
    result: Result  # as of any run under a kernel

    def setting(self) -> str:
        """What belongs to every figure."""
        return self.guest.setting(self.settled.file_system, self.flags)


def run(
    guest: Guest,
    argv: Sequence[str],
    *,
    timeout_seconds: float | None = None,
    stand_in: bool = False,
) -> Reading:
    """Run a command where the guest does nothing else; `stand_in` as in kadence.boot."""
    with tempfile.TemporaryDirectory(prefix="kadence-lab-") as folder:
        report = Path(folder) / "report"
        request = Request(
            image=guest.image,
            argv=[str(resources.built("kadence/settle")), str(report), *argv],
            target=X86_64,
            lab=True,
            memory_bytes=guest.memory_bytes,
            timeout_seconds=timeout_seconds,
            boot_timeout_seconds=BOOT_TIMEOUT_SECONDS,
            hang_timeout_seconds=HANG_TIMEOUT_SECONDS,
        )
        result = boot_run(request, stand_in=stand_in)
        return _reading(guest, result, settled.read(_lines(report, result)))


def _lines(report: Path, result: Result) -> list[str]:
    """What settle wrote; without it the command never began."""
    try:
        return report.read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise GuestError(
            f"the command did not begin in the guest (status {result.status}, signal "
            f"{result.signal}); see whether `kadence run --target x86_64` runs it"
        ) from error


def _reading(guest: Guest, result: Result, found: Settled) -> Reading:
    used = round((result.user_seconds + result.system_seconds) * 1e9)
    return Reading(
        guest=guest,
        flags=x86_64.LAB,
        settled=found,
        # The wall time counts from the moment that settle was executed.
        elapsed_ns=round(result.wall_seconds * 1e9) - found.settle_ns,
        processor_ns=used - found.processor_ns,
        result=result,
    )
