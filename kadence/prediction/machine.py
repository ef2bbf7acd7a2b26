# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts a guest of each target on this machine; the guest reports what it found."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kadence import boot
from kadence.base.errors import GuestError, KadenceError
from kadence.base.finding import Finding
from kadence.base.terminal import tell
from kadence.boot import host
from kadence.boot.request import TARGETS

if TYPE_CHECKING:
    from kadence.kconfig.store.store import Kernel

PROCESSORS = Path("/sys/devices/system/cpu")
# Enough for the largest kernel that is started here: one with Debian's usual configuration.
GUEST_BYTES = {"um": 128 << 20, "x86_64": 256 << 20}
ANSWER_BYTES = 4096


def processors(folder: Path = PROCESSORS) -> Finding:
    """The number of usable processors, and why others are not usable."""
    usable, there = len(os.sched_getaffinity(0)), os.cpu_count() or 1
    notes = [f"{there} are online"] if usable < there else []
    if offline := _said(folder / "offline"):
        notes.append(f"{offline} offline")
    if _said(folder / "smt/control") in ("off", "forceoff"):
        notes.append("SMT off")
    why = "; ".join(["guests run on them", *notes])
    return Finding(f"{usable} processor{'s' * (usable > 1)}", why, True)


def _said(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def guests(build: bool) -> Iterator[Finding]:
    """Start a guest of each target; with `build`, build a kernel for it if there is none."""
    for target in TARGETS:
        yield _guest(target, build)


def _guest(target: str, build: bool) -> Finding:
    subject = f"{target}: start of a guest"
    try:
        obstacle = host.obstacle(target)
        if obstacle is not None:
            return Finding(subject, obstacle.sentence, False, obstacle.remedy)
        kernel = _kernel(target, build)
        if kernel is None:
            command = f"kadence kernel build --minimal --target {target}"
            why = "this machine supports it, but there is no kernel to try it with"
            return Finding(subject, why, True, command, tried=False)
        return _started(kernel)
    except KadenceError as error:
        return Finding(subject, str(error), False)


def _kernel(target: str, build: bool) -> "Kernel | None":
    """A kernel that this version of Kadence would build, else any kernel in the store."""
    # Imported here, because the rest of the examination must work without these modules.
    from kadence.kconfig.request.request import GENERIC, MINIMAL
    from kadence.kconfig.store import store
    from kadence.kconfig.store.build import BuildRequest
    from kadence.kconfig.store.build import build as build_kernel

    for kind in (MINIMAL, GENERIC):
        with suppress(KadenceError):
            return store.find(kind, target=target)
    if build:
        tell(f"building a minimal kernel for {target}, to start a guest with …")
        return build_kernel(BuildRequest(kind=MINIMAL, target=target))
    for identifier in store.identifiers():
        with suppress(KadenceError):
            kernel = store.load(identifier)
            if kernel.target == target:
                return kernel
    return None


def _started(kernel: "Kernel") -> Finding:
    """Start a guest and report what it says about itself."""
    checks = ["processors"] if kernel.target == TARGETS[0] else ["processors", "registers"]
    with tempfile.TemporaryFile() as output, Path(os.devnull).open("rb") as nothing:
        request = boot.Request(
            image=kernel.image,
            argv=host.probe(checks, Path("/")),
            target=kernel.target,
            directory=Path("/"),
            environment={},
            memory_bytes=GUEST_BYTES[kernel.target],
            stdin=nothing.fileno(),
            stdout=output.fileno(),
        )
        result = boot.run(request)
        output.seek(0)
        answers = host.parse(output.read(ANSWER_BYTES).decode(errors="replace"))
    complaints = boot.complaints(result.log)
    if complaints or result.status or len(answers) != len(checks):
        what = complaints[0] if complaints else f"its command ended with status {result.status}"
        raise GuestError(f"a guest of kernel {kernel.id} started, but {what}")
    counted = {answer.check: answer.count for answer in answers if not answer.error}
    return Finding(_told(kernel.target, result, counted), f"{kernel.kind} kernel {kernel.id}", True)


def _told(target: str, result: boot.Result, counted: dict[str, int]) -> str:
    """`um: a guest started in 0.03 s (2 processors, register state 11,008 bytes)`."""
    found = [f"{counted['processors']} processor{'s' * (counted['processors'] > 1)}"]
    registers = counted.get("registers") or (host.register_bytes() if target == TARGETS[0] else 0)
    if registers:
        found.append(f"register state {registers:,} bytes")
    if target != TARGETS[0]:
        found.append("by KVM" if result.accelerator == "kvm" else "emulated")
    return f"{target}: a guest started in {result.boot_seconds:.2f} s ({', '.join(found)})"
