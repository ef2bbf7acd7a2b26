# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the program that a command line names, or explains why it cannot be profiled."""

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base.errors import ToolError, UsageError

ELF_MAGIC = b"\x7fELF"
ELF64_LITTLE = b"\x02\x01"
MACHINE_X86_64 = b"\x3e\x00"


@dataclass(frozen=True)
class Program:
    """The file that the kernel would execute."""

    path: Path
    interpreter: Path | None = None  # if `path` is a script

    @property
    def elf(self) -> Path:
        """The ELF file whose instructions run."""
        return self.interpreter or self.path


def find(argv: Sequence[str], cwd: Path | None, env: Mapping[str, str] | None) -> Program:
    """Return the program of `argv`; raise ToolError or UsageError if it cannot be profiled."""
    if not argv or not argv[0]:
        raise UsageError("no program is named; write `kadence profile -o P.kprof -- PROGRAM ...`")
    path = _locate(argv[0], cwd, env)
    _check_file(path)
    with path.open("rb") as file:
        head = file.read(256)
    if head.startswith(b"#!"):
        return Program(path, _interpreter(path, head, cwd))
    _check_elf(path, head)
    return Program(path)


def _locate(name: str, cwd: Path | None, env: Mapping[str, str] | None) -> Path:
    if "/" in name:
        return Path(cwd or ".") / name
    search = (os.environ if env is None else env).get("PATH", os.defpath)
    found = shutil.which(name, path=search)
    if found is None:
        raise ToolError(f"the program {name} is not in PATH; give its path, such as ./{name}")
    return Path(found)


def _check_file(path: Path) -> None:
    try:
        status = path.stat()
    except OSError as error:
        raise ToolError(f"cannot run {path}: {error.strerror}; give another program") from error
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"cannot run {path}: it is not a file; give another program")
    if not os.access(path, os.X_OK):
        raise ToolError(f"cannot run {path}: it is not executable; try chmod +x")
    if not os.access(path, os.R_OK):
        raise ToolError(f"cannot profile {path}: it is not readable; ask its owner")
    if status.st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise ToolError(
            f"cannot profile {path}: it is set-uid or set-gid; profile a copy without that bit"
        )


def _check_elf(path: Path, head: bytes) -> None:
    if not head.startswith(ELF_MAGIC):
        raise ToolError(f"cannot run {path}: it is neither a program nor a script with `#!`")
    if head[4:6] != ELF64_LITTLE or head[18:20] != MACHINE_X86_64:
        raise ToolError(f"cannot profile {path}: it is not built for x86_64; build it with -m64")


def _interpreter(script: Path, head: bytes, cwd: Path | None) -> Path:
    words = head[2:].split(b"\n", 1)[0].split()
    if not words:
        raise ToolError(f"cannot run {script}: its `#!` names no interpreter; name one")
    interpreter = Path(cwd or ".") / os.fsdecode(words[0])
    _check_file(interpreter)
    with interpreter.open("rb") as file:
        _check_elf(interpreter, file.read(64))
    return interpreter
