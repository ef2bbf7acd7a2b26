# SPDX-License-Identifier: GPL-2.0-or-later
"""One command in the lab: boot, let the guest settle, run, and count."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence import resources
from kadence.boot import Request, x86_64
from kadence.boot.request import Result
from kadence.boot.session import run as boot_run
from kadence.errors import GuestError
from kadence.lab.guest import X86_64, Guest

# A guest that emulates every instruction takes its time, above all where others share the machine.
BOOT_TIMEOUT_SECONDS = 600.0
HANG_TIMEOUT_SECONDS = 600.0
REPORT = "settled"


@dataclass(frozen=True)
class Reading:
    """What a command used, by the guest's clock: a nanosecond is an instruction."""

    guest: Guest
    flags: tuple[str, ...]  # of QEMU, as far as they make the clock
    file_system: str  # of the command's directory
    boot_ns: int  # from the kernel's start to the first program
    settle_ns: int  # until the guest was quiet
    windows: int  # that were looked at meanwhile
    settled: bool
    elapsed_ns: int  # of the command: instructions, and time in which nothing ran
    processor_ns: int  # of the command and its children
    result: Result  # as of any run under a kernel

    @property
    def status(self) -> int:
        """Exit status of the command."""
        return self.result.status

    def setting(self, sink: str | None = None) -> str:
        """What belongs to every figure; `sink` where it is not the command's directory."""
        memory = self.guest.memory_bytes >> 20
        files = sink or self.file_system
        return f"{memory} MiB, one processor, files on {files}; {' '.join(self.flags)}"


@dataclass(frozen=True)
class Streams:
    """Descriptors of the command."""

    stdin: int = 0
    stdout: int = 1
    stderr: int = 2


def run(
    guest: Guest,
    argv: Sequence[str],
    streams: Streams | None = None,
    *,
    timeout_seconds: float | None = None,
    stand_in: bool = False,
) -> Reading:
    """Run a command where the guest does nothing else; `stand_in` as in kadence.boot."""
    streams = streams or Streams()
    with tempfile.TemporaryDirectory(prefix="kadence-lab-") as folder:
        report = Path(folder) / REPORT
        request = Request(
            image=guest.image,
            argv=[str(resources.built("kadence/settle")), str(report), *argv],
            target=X86_64,
            lab=True,
            memory_bytes=guest.memory_bytes,
            timeout_seconds=timeout_seconds,
            stdin=streams.stdin,
            stdout=streams.stdout,
            stderr=streams.stderr,
            boot_timeout_seconds=BOOT_TIMEOUT_SECONDS,
            hang_timeout_seconds=HANG_TIMEOUT_SECONDS,
        )
        result = boot_run(request, stand_in=stand_in)
        return _reading(guest, result, _fields(report, result))


def _fields(report: Path, result: Result) -> dict[str, str]:
    """What settle wrote; without it the command never began."""
    try:
        lines = report.read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise GuestError(
            f"the command did not begin in the guest (status {result.status}, signal "
            f"{result.signal}); see whether `kadence run --target x86_64` runs it"
        ) from error
    return dict(line.partition(" ")[::2] for line in lines)


def _reading(guest: Guest, result: Result, fields: dict[str, str]) -> Reading:
    began, finished = int(fields["started_ns"]), int(fields["finished_ns"])
    ended = round((result.boot_virtual_seconds + result.wall_seconds) * 1e9)
    used = round((result.user_seconds + result.system_seconds) * 1e9)
    return Reading(
        guest=guest,
        flags=x86_64.LAB,
        file_system=fields["file_system"],
        boot_ns=began,
        settle_ns=finished - began,
        windows=int(fields["windows"]),
        settled=fields["settled"] == "1",
        elapsed_ns=ended - finished,
        processor_ns=used - int(fields["processor_ns"]),
        result=result,
    )
