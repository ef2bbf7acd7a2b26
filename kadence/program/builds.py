# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a program in a copy of its folder, so that the user's own tree stays unchanged."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from kadence.base import resources, stages
from kadence.base.errors import ToolError
from kadence.program.program import Program

WRAPPERS = {"CC": "kadence-cc", "CXX": "kadence-c++", "FC": "kadence-fc"}


def prepare(program: Program, source: Path, output: Path, log: Path) -> None:
    """Copy the folder, then run `build.prepare`, which fetches or generates missing files."""
    copy(program.folder, source, leave_out=output)
    if program.prepare:
        environment = {
            "KADENCE_CACHE": str(resources.cache_directory()),
            "KADENCE_FOLDER": str(program.folder),
        }
        _shell(program.prepare, source, environment, log)
    missing = [name for name in program.inputs if not (source / name).is_file()]
    if missing:
        raise ToolError(
            f"{program.folder} has no {missing[0]}, which kadence.toml names among the inputs"
        )


def build(
    program: Program,
    source: Path,
    folder: Path,
    log: Path,
    plan: Path | None,
    flags: str = "",
    variables: Mapping[str, str] | None = None,
) -> None:
    """Build a fresh copy with the compiler wrappers: plain, or adapted if there is a plan.

    The wrappers put `flags` behind the build's own options, whatever its makefile says. Of
    `variables`, for example CFLAGS, a makefile takes what it likes.
    """
    copy(source, folder)
    wrappers = resources.built("bin/kadence-cc").parent
    environment = {
        **WRAPPERS,
        "PATH": f"{wrappers}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "KADENCE_MODE": "plain" if plan is None else "adapt",
        "KADENCE_FLAGS": flags,
    }
    # GCC derives __DATE__ from this. A program may print it, so both builds need the same value.
    environment["SOURCE_DATE_EPOCH"] = os.environ.get(
        "SOURCE_DATE_EPOCH", str(int(source.stat().st_mtime))
    )
    if plan is not None:
        environment["KADENCE_PLAN"] = str(plan)
    environment |= variables or {}
    _shell(program.build, folder, environment, log)


def copy(source: Path, target: Path, leave_out: Path | None = None) -> None:
    """Replace `target` by a copy of `source`. Make needs the original times, so they are kept."""
    if target.exists():
        shutil.rmtree(target)

    def left_out(folder: str, names: list[str]) -> set[str]:
        return {
            name for name in names if name in stages.LEFT_OUT or Path(folder) / name == leave_out
        }

    try:
        shutil.copytree(source, target, symlinks=True, ignore=left_out)
    except shutil.Error as error:
        first = error.args[0][0]
        raise ToolError(f"cannot copy {first[0]} to {first[1]}: {first[2]}") from error


def _shell(command: str, folder: Path, environment: dict[str, str], log: Path) -> None:
    """Run a command line of kadence.toml; its output goes to a log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    # If make started Kadence, its MAKEFLAGS must not reach the program's own make.
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    with log.open("wb") as output:
        completed = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env=inherited | environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if completed.returncode:
        raise ToolError(
            f"`{command}` ended with status {completed.returncode} in a copy of the program's "
            f"folder; its output is in {log}"
        )
