# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernels' costs for a program, measured on this machine in a second and remembered.

costs/ measures the kernel that it runs on: this machine's own, or a guest's. If no kernel of
User-Mode Linux is built yet, its costs are estimated from the time that tracing takes here,
because User-Mode Linux serves its programs by tracing them.
"""

import hashlib
import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.base import artefact, codec, resources
from kadence.base.codec import DecodeError
from kadence.base.errors import GuestError, KadenceError, ToolError
from kadence.boot import acceleration, processors, session
from kadence.boot.request import TARGETS, Request

# Each charge and its meaning. All but `compute` are nanoseconds that the kernel takes.
COMPUTE, CALL, CLOCK = "compute", "call", "clock"
OPEN, LOOK, WRITE, WRITTEN_PAGE, READ, READ_PAGE = (
    *("open", "look", "write", "written-page"),
    *("read", "read-page"),
)
PIPE, SOCKET, MAP, SIGNAL, WAIT, FORK, EXEC = (
    *("pipe", "socket", "map", "signal"),
    *("wait", "fork", "exec"),
)
FAULT, FREE, POPULATE, FILE_FAULT = "fault", "free", "populate", "file-fault"
TRACE = "trace"
CHARGES = {
    COMPUTE: "a multiplication and an addition of the program's own",
    CALL: "a system call that does next to nothing",
    CLOCK: "the C library's clock_gettime",
    OPEN: "opening a file and closing it",
    LOOK: "looking a path up",
    WRITE: "64 bytes to a file",
    WRITTEN_PAGE: "a page to a file",
    READ: "64 bytes of a file that the kernel has in memory",
    READ_PAGE: "a page of a file that a guest has not in memory yet",
    PIPE: "64 bytes into a pipe, or out of it",
    SOCKET: "64 bytes into a local socket, or out of it",
    MAP: "a mapping without its pages, or its end",
    FAULT: "the first touch of a page",
    FREE: "the end of a page, together with others",
    POPULATE: "a page that is made present in bulk, and its touch",
    FILE_FAULT: "the first touch of a file's page",
    SIGNAL: "a signal to oneself, with its handler",
    WAIT: "waiting for another thread, or waking it",
    FORK: "a small process from its start to its end",
    EXEC: "the same, with another program",
}
# A page costs no less than a record. Some kernels' records were measured, or estimated, as dearer.
AT_LEAST = {WRITTEN_PAGE: WRITE, READ_PAGE: READ}
# In rounds of tracing; calls and rounds were measured on the same machine. A call that is not named
# here takes one round: the way into the kernel and back.
ESTIMATED_CALLS = {OPEN: 3.5, LOOK: 2.3, WRITE: 1.6, SIGNAL: 3.7}
# Likewise, for events that are not system calls.
ESTIMATED_ROUNDS = {FAULT: 3.0, FILE_FAULT: 1.4, FORK: 90.0, EXEC: 500.0}
# Nanoseconds: the pages are the host's.
ESTIMATED_POPULATE = 2000.0
ESTIMATED_FREE = 500.0

COLD_FILE, COLD_BYTES = "cold", 2048 * 4096
GUEST_BYTES = {"um": 128 << 20, "x86_64": 256 << 20}
PATIENCE_SECONDS = 60.0
MEASURED, ESTIMATED = "measured", "estimated"


@dataclass(frozen=True)
class Costs:
    """One kernel's costs, and how they are known."""

    nanoseconds: dict[str, float]
    known: str = MEASURED  # or ESTIMATED
    accelerator: str = "native"  # what runs the kernel

    def of(self, charge: str) -> float:
        """Nanoseconds of a charge; one that could not be measured costs as much as a plain call."""
        found = self.nanoseconds.get(charge, self.nanoseconds.get(CALL, 0.0))
        return max(found, self.of(AT_LEAST[charge])) if charge in AT_LEAST else found


def own() -> Costs:
    """Costs of this machine's own kernel."""
    return _remembered(["own"], lambda: _measured([*CHARGES, TRACE]))


def of_guest(image: Path, name: str, target: str) -> Costs:
    """Costs of a guest's kernel; `name` tells this image from any other."""
    told = acceleration.remembered() if target != TARGETS[0] else ""
    return _remembered([name, target, told], lambda: _measured_in_guest(image, target))


def estimated_um() -> Costs:
    """Costs of User-Mode Linux by tracing, estimated from the time that tracing takes here."""
    return estimate(own())


def estimate(here: Costs) -> Costs:
    """Estimate them from given costs; raise GuestError if tracing could not be measured."""
    if TRACE not in here.nanoseconds:
        raise GuestError(
            "this machine does not let a process be traced, so User-Mode Linux's costs are unknown",
            command_started=False,
        )
    found = {COMPUTE: here.of(COMPUTE), POPULATE: ESTIMATED_POPULATE, FREE: ESTIMATED_FREE}
    for charge in CHARGES:
        if charge in ESTIMATED_ROUNDS:
            found[charge] = ESTIMATED_ROUNDS[charge] * here.of(TRACE)
        elif charge not in found:
            calls = ESTIMATED_CALLS.get(charge, 1.0)
            found[charge] = calls * here.of(TRACE) + (0 if charge == CLOCK else here.of(charge))
    return Costs(found, ESTIMATED)


# ---- measuring -----------------------------------------------------------------------------------


def _command(charges: Sequence[str], folder: Path) -> list[str]:
    with (folder / COLD_FILE).open("wb") as file:
        file.write(bytes(COLD_BYTES))
    return [str(resources.built("boot/costs")), str(folder), *charges]


def _measured(charges: Sequence[str]) -> Costs:
    with tempfile.TemporaryDirectory(prefix="kadence-costs-") as name:
        command = _command(charges, Path(name))
        try:
            completed = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS
            )
        except subprocess.TimeoutExpired as error:
            raise ToolError(f"{command[0]} did not end in {PATIENCE_SECONDS:.0f} s") from error
    if completed.returncode:
        raise ToolError(f"{command[0]} ended with status {completed.returncode}")
    return Costs(parse(completed.stdout))


def _measured_in_guest(image: Path, target: str) -> Costs:
    with (
        tempfile.TemporaryDirectory(prefix="kadence-costs-") as name,
        tempfile.TemporaryFile() as output,
        Path(os.devnull).open("r+b") as nothing,
    ):
        result = session.run(
            Request(
                image=image,
                argv=_command(list(CHARGES), Path(name)),
                target=target,
                directory=Path("/"),
                environment={},
                memory_bytes=GUEST_BYTES[target],
                timeout_seconds=PATIENCE_SECONDS,
                stdin=nothing.fileno(),
                stdout=output.fileno(),
                stderr=nothing.fileno(),
            )
        )
        output.seek(0)
        said = output.read().decode(errors="replace")
    if result.status:
        raise GuestError(f"the guest of {image} could not measure its costs")
    return Costs(parse(said), accelerator=result.accelerator)


def parse(output: str) -> dict[str, float]:
    """Read the output of costs/: nanoseconds by charge."""
    words = (line.partition(" ") for line in output.splitlines())
    return {name: float(figure) for name, _, figure in words}


# ---- remembering ---------------------------------------------------------------------------------


def _remembered(of: Sequence[str], measure: Callable[[], Costs]) -> Costs:
    """Measure the first time, and again after a change of the machine, its kernel or costs/."""
    place = resources.cache_directory() / "costs.json"
    key = _key(of)
    known = _read(place)
    try:
        return codec.decode(Costs, known.get(key))
    except DecodeError:
        found = measure()
    known[key] = codec.encode(found)
    # If the result cannot be kept, each call measures.
    with suppress(OSError, KadenceError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with artefact.atomic_output(place) as temporary:
            temporary.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return found


def _key(of: Sequence[str]) -> str:
    status = resources.built("boot/costs").stat()
    parts = [*of, platform.release(), platform.version(), acceleration.processor()]
    parts += [str(status.st_size), str(processors.usable())]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _read(place: Path) -> dict[str, Any]:
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
