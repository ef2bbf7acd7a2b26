# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports a guest's early end: one sentence with the cause if it is known, and the log's file.

The known causes are rows of endings.toml. If no row fits, the sentence quotes the guest's log.
"""

import os
import re
import signal
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.base import resources
from kadence.base.errors import GuestError, KadenceError
from kadence.boot import host, memory
from kadence.boot.request import Request

TABLE = Path(__file__).resolve().parent / "endings.toml"
PANIC = "Kernel panic"
KEPT_LOGS = 20


@dataclass(frozen=True)
class Ending:
    """How a guest ended: the relay's report of it."""

    request: Request
    fields: Mapping[str, str]
    log: str

    @property
    def outcome(self) -> str:
        return self.fields["outcome"]

    @property
    def booted(self) -> bool:
        """Whether the command was started."""
        return self.fields["boot_ns"] != "0"

    @property
    def kernel_end(self) -> str:
        code = os.waitstatus_to_exitcode(int(self.fields["kernel_status"]))
        return describe(code)

    @property
    def panic(self) -> str | None:
        """The kernel's panic message, without the time stamp and the prefix of all panics."""
        line = next((line for line in self.log.splitlines() if PANIC in line), None)
        return line and line.partition(PANIC)[2].strip(" -\r")


def error(request: Request, fields: Mapping[str, str], log: str) -> GuestError:
    """Build the error to raise for a guest that did not run its command to the end."""
    ending = Ending(request, fields, log)
    return GuestError(
        f"{_sentence(ending)}{_cause(ending)}",
        command_started=ending.booted and ending.outcome != "failed",
        interrupted_by=int(fields["interrupted_by"]) or None,
        log=log,
        log_place=_kept(log),
    )


def describe(code: int) -> str:
    """Name an exit status; a negative one stands for a signal."""
    return f"status {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"


def _sentence(ending: Ending) -> str:
    request, fields = ending.request, ending.fields
    image = request.image
    if ending.panic is not None:
        return f"the guest of {image} panicked"
    return {
        "not-executed": f"{image} cannot be executed ({os.strerror(int(fields['error']))}); "
        "name a User-Mode Linux kernel",
        "interrupted": f"{image} was interrupted before it started the command",
        "failed": f"the guest could not start the command: {fields['failure']}",
        "boot-timeout": f"{image} did not start the command within "
        f"{request.boot_timeout_seconds:g} s",
        "timeout": f"the command did not end within {request.timeout_seconds or 0:g} s "
        "and was killed with its guest",
        "hang": f"the guest of {image} gave no sign of life for {request.hang_timeout_seconds:g} s",
        "died": f"the guest of {image} ended ({ending.kernel_end}) "
        + ("while the command ran" if ending.booted else "before it started the command"),
    }[ending.outcome]


def _cause(ending: Ending) -> str:
    """`: the cause (to mend it: …)`; if it is unknown, the panic or the log's last line."""
    if ending.outcome not in ("died", "boot-timeout", "hang"):
        return ""
    known = _known(ending)
    if known is not None:
        return f": {known}"
    if ending.panic is not None:
        return f": {ending.panic}"
    return f', its last words being "{words}"' if (words := _last_words(ending.log)) else ""


def _known(ending: Ending) -> str | None:
    for row in tomllib.loads(TABLE.read_text(encoding="utf-8"))["cause"]:
        value = _fits(row, ending)
        if value is not None:
            words = {
                "value": value,
                "target": ending.request.target,
                "directory": _memory_directory(ending.request),
            }
            says, remedy = (row.get(key, "").format(**words) for key in ("says", "remedy"))
            return f"{says} (to mend it: {remedy})" if remedy else str(says)
    return None if ending.booted else _obstacle(ending.request.target)


def _fits(row: Mapping[str, Any], ending: Ending) -> str | None:
    """The text that the row's group captured ("" without a group), or None if it does not fit."""
    if row.get("booted", ending.booted) != ending.booted:
        return None
    if "end" in row:
        ended = ending.outcome == "died" and ending.kernel_end == row["end"]
        return "" if ended and ending.panic is None else None
    match = re.search(row["log"], ending.log)
    if match is None:
        return None
    return (match[1] or "") if match.re.groups else ""


def _obstacle(target: str) -> str | None:
    """The reason why this machine starts no guest of the target. Called after one did not start."""
    try:
        found = host.obstacle(target)
    except KadenceError:
        return None
    return str(found) if found else None


def _memory_directory(request: Request) -> str:
    try:
        return str(memory.choose(request.memory_bytes, request.memory_limit_bytes).directory)
    except KadenceError:
        return str(memory.place()[0])


def _last_words(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _kept(log: str) -> str:
    """Keep the log, and say where. Only the newest KEPT_LOGS logs stay."""
    if not log.strip():
        return "it wrote no log"
    folder = resources.cache_directory() / "guest-logs"
    path = folder / time.strftime(f"%Y%m%d-%H%M%S-{os.getpid()}-{time.monotonic_ns()}.log")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_whole(path, log)
        for old in sorted(folder.glob("[0-9]*.log"))[:-KEPT_LOGS]:
            old.unlink(missing_ok=True)
    except OSError as why:
        return f"its log could not be kept in {folder} ({why.strerror})"
    return f"its log is {path}"


def _write_whole(path: Path, text: str) -> None:
    """Write all of the file or none of it."""
    temporary = path.with_name(f".{path.name}")
    try:
        temporary.write_text(text, encoding="utf-8", errors="replace")
        temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)
