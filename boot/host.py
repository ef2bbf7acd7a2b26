# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds out, in milliseconds and before anything is built, whether this machine lets a guest start.

boot/probe/ tries each operation that a guest's start takes. host.toml says what each check is
about, and what is known to forbid it. Nothing is remembered: a setting may change, and asking again
costs less than being wrong.
"""

import errno
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kadence.base import resources, terminal
from kadence.base.errors import GuestError, ToolError, UsageError
from kadence.boot import memory
from kadence.boot.request import TARGETS

TABLE = Path(__file__).resolve().parent / "host.toml"
# The least memory of a guest (see memory.py).
MEMORY = memory.MINIMUM_BYTES
ROOT = Path("/")
QEMU, QEMU_PACKAGE = "qemu-system-x86_64", "qemu-system-x86"
SOME_CONTAINER = {"name": "whoever started this session", "remedy": "run without that filter"}


@dataclass(frozen=True)
class Answer:
    """The result of one check."""

    check: str
    error: int  # of the step that failed, or 0
    count: int
    step: str


@dataclass(frozen=True)
class Obstacle:
    """The reason why no guest of a target starts here."""

    check: str
    sentence: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.sentence} (to mend it: {self.remedy})" if self.remedy else self.sentence


@dataclass(frozen=True)
class Choice:
    """A target that works here, and the reason if Kadence chose it."""

    target: str
    reason: str = ""
    usual: bool = True

    def tell(self) -> None:
        """Print one line about a target that Kadence chose."""
        if self.reason:
            terminal.tell(f"target {self.target}, {self.reason}")


def choose(wanted: str | None) -> str:
    """The target asked for, else the first that works here; print a line if that is not TARGETS[0].

    Errors as of `find`.
    """
    choice = find(wanted)
    if not choice.usual:
        choice.tell()
    return choice.target


def find(wanted: str | None) -> Choice:
    """The target asked for, else the first that works here; GuestError if none does."""
    if wanted is not None:
        found = obstacle(wanted)
        if found is not None:
            raise _refusal([found])
        return Choice(wanted)
    obstacles: list[Obstacle] = []
    for target in TARGETS:
        found = obstacle(target)
        if found is None:
            reason = f"because {obstacles[0]}" if obstacles else "the first that works here"
            return Choice(target, reason, usual=not obstacles)
        obstacles.append(found)
    raise _refusal(obstacles)


def _refusal(obstacles: Sequence[Obstacle]) -> GuestError:
    """Build the error. It names each cause once, because targets share some."""
    causes = "; ".join(dict.fromkeys(map(str, obstacles)))
    return GuestError(f"no guest starts on this machine: {causes}", command_started=False)


def obstacle(target: str) -> Obstacle | None:
    """The reason why no guest of a target starts here, or None.

    If there is no room for any guest's memory, `memory.choose` raises UsageError.
    """
    if target not in TARGETS:
        raise UsageError(f"target {target!r} is not known; choose from {', '.join(TARGETS)}")
    if target == "x86_64" and shutil.which(QEMU) is None:
        return Obstacle("program", f"{QEMU} is missing", f"apt-get install {QEMU_PACKAGE}")
    directory = memory.choose(MEMORY).directory
    names = [row["name"] for row in _table()["check"] if target in row["targets"]]
    failed = next((answer for answer in ask(names, directory) if answer.error), None)
    return explain(failed, directory) if failed else None


def register_bytes() -> int | None:
    """Bytes of a process's registers beside the general ones; None if they cannot be read."""
    (answer,) = ask(["registers"], Path("/"))
    return None if answer.error else answer.count


def ask(checks: Sequence[str], directory: Path) -> list[Answer]:
    """Have the probe try each of these checks."""
    command = probe(checks, directory)
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    answers = parse(completed.stdout)
    if completed.returncode or [answer.check for answer in answers] != list(checks):
        raise ToolError(
            f"{command[0]} ended with status {completed.returncode} before it had tried "
            f"everything; {resources.remedy('boot/probe')}"
        )
    return answers


def probe(checks: Sequence[str], directory: Path) -> list[str]:
    """The command that tries these checks, here or in a guest."""
    return [str(resources.built("boot/probe")), str(directory), str(MEMORY), *checks]


def parse(output: str) -> list[Answer]:
    """Read the probe's output."""
    answers = []
    for line in output.splitlines():
        check, error, count, step = line.split(" ", 3)
        answers.append(Answer(check, int(error), int(count), step))
    return answers


def explain(answer: Answer, directory: Path, root: Path = ROOT) -> Obstacle:
    """Explain a failed check on the machine whose files are below `root`."""
    does = next(row["does"] for row in _table()["check"] if row["name"] == answer.check)
    values = _container(root) | {"directory": str(directory), "count": str(answer.count)}
    for cause in _table()["cause"]:
        value = _holds(cause, answer, directory, root)
        if value is not None:
            words = values | {"value": value}
            says, remedy = (cause[key].format(**words) for key in ("says", "remedy"))
            return Obstacle(answer.check, f"{does}: {says}", remedy)
    complaint = f"{answer.step}: {os.strerror(answer.error)}"
    return Obstacle(answer.check, f"{does}: {complaint}", "")


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def _container(root: Path) -> dict[str, str]:
    rows = _table()["container"]
    found = next((row for row in rows if _below(root, row["file"]).exists()), SOME_CONTAINER)
    return {"container": found["name"], "container_remedy": found["remedy"]}


def _holds(cause: Mapping[str, Any], answer: Answer, directory: Path, root: Path) -> str | None:
    """The text that the cause's group captured ("" without one), or None if a condition fails."""
    if answer.check not in cause.get("checks", [answer.check]):
        return None
    name = errno.errorcode.get(answer.error, "")
    if name not in cause.get("errors", [name]):
        return None
    if cause.get("directory") == "noexec" and not memory.is_noexec(directory):
        return None
    if "file" not in cause:
        return ""
    return _in_file(cause, _below(root, cause["file"]))


def _in_file(cause: Mapping[str, Any], path: Path) -> str | None:
    if cause.get("absent"):
        return None if path.exists() else ""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = re.search(cause["matches"], text, re.MULTILINE)
    if match is None:
        return None
    value = match[1].strip("\0")
    if "at_least" in cause and int(value) < cause["at_least"]:
        return None
    if "below" in cause and int(value) >= cause["below"]:
        return None
    return value


def _below(root: Path, path: str) -> Path:
    return root / path.lstrip("/")
