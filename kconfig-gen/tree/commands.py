# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs Kbuild and its tools: logged, in a fixed environment, stopped when this process ends."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import BuildError, ToolError

COMPILER = "gcc-12"
# command -> its Debian package
TOOLS = {
    COMPILER: COMPILER,
    "make": "make",
    "ld": "binutils",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "perl": "perl",
    "patch": "patch",
    "strip": "binutils",
    "tar": "tar",
    "xz": "xz-utils",
}
# Other variables of the caller's environment (MAKEFLAGS, ARCH, CFLAGS, …) must not change a
# kernel. The stamps are fixed so that the same inputs give the same image.
FIXED_ENVIRONMENT = {
    "LC_ALL": "C",
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "kadence",
    "KBUILD_BUILD_HOST": "kadence",
    "KBUILD_BUILD_VERSION": "1",
}
# The error line of the compiler, linker or Kconfig; if there is none, make's.
ERROR_LINES = (
    re.compile(r"error: |undefined reference|syntax error|^Traceback"),
    re.compile(r"\*\*\* "),
)
NO_SPACE = "No space left on device"
# Kconfig's message if the source needs another compiler, and the line that names the version.
WRONG_COMPILER = "C compiler is not supported"
LEAST_COMPILER = re.compile(r"Minimum GCC version:\s*(\S+)")


def require_tools(tools: Iterable[str] = TOOLS) -> None:
    """Raise an error that says how to install missing tools."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        packages = sorted({TOOLS[tool] for tool in missing})
        raise ToolError(
            f"building a kernel needs {', '.join(missing)}; "
            f"install with: apt-get install {' '.join(packages)}"
        )


def compiler_version() -> str:
    """The first line of `gcc --version`, which also names Debian's revision."""
    require_tools([COMPILER])
    completed = subprocess.run(
        [COMPILER, "--version"], capture_output=True, text=True, check=True, env=environment()
    )
    return completed.stdout.splitlines()[0]


def compiler_variables() -> list[str]:
    """Compilers for make. Rust and pahole are off, so that all machines build the same kernel."""
    cache = "ccache " if shutil.which("ccache") else ""
    return [f"CC={cache}{COMPILER}", f"HOSTCC={cache}{COMPILER}", "RUSTC=false", "PAHOLE=false"]


def environment() -> dict[str, str]:
    """The environment of every command of a build."""
    ccache = os.environ.get("CCACHE_DIR") or str(resources.cache_directory() / "ccache")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return kept | FIXED_ENVIRONMENT | {"CCACHE_DIR": ccache}


def run(
    argv: Sequence[str],
    directory: Path,
    log: Path,
    extra: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> None:
    """Run a command, append its output to `log`, and raise BuildError if it fails."""
    with log.open("a", encoding="utf-8") as sink:
        sink.write(f"$ {' '.join(argv)}\n")

        def take(line: str) -> None:
            sink.write(line)
            if on_line is not None:
                on_line(line)

        status = listen(argv, directory, take, extra)
    if status != 0:
        raise _failure(argv, status, log)


def listen(
    argv: Sequence[str],
    directory: Path,
    take: Callable[[str], None],
    extra: Mapping[str, str] | None = None,
) -> int:
    """Run a command, pass each line of its output to `take`, and return its status."""
    process = subprocess.Popen(
        # setpriv has the kernel stop make if this process is killed and cannot do so itself.
        ["setpriv", "--pdeathsig", "TERM", *argv],
        cwd=directory,
        env=environment() | dict(extra or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        process_group=0,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            take(line)
        return process.wait()
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    """Stop all processes of an interrupted build."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _failure(argv: Sequence[str], status: int, log: Path) -> BuildError:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    kept = f"the log is {log}"
    if any(NO_SPACE in line for line in lines):
        return no_space(log.parent)
    if any(WRONG_COMPILER in line for line in lines):
        return _wrong_compiler(lines, kept)
    complaints = [line.strip() for pattern in ERROR_LINES for line in lines if pattern.search(line)]
    found = complaints[0] if complaints else ""
    words = [word for word in argv if not word.startswith("-") and "=" not in word]
    said = f": {found}" if found else ""
    return BuildError(f"`{' '.join(words[:3])}` failed with status {status}{said}; {kept}")


def _wrong_compiler(lines: Sequence[str], kept: str) -> BuildError:
    least = [match[1] for line in lines if (match := LEAST_COMPILER.search(line))]
    wants = f"; it wants GCC {least[0]} or newer" if least else ""
    return BuildError(
        f"this source can't be built with {COMPILER}{wants}; name a series or a tree that can, "
        f"with --series or --source ({kept})"
    )


def no_space(place: Path) -> BuildError:
    """The error for a full disk: it names the place and the remedy."""
    return BuildError(
        f"no space left on the disk of {place} while building a kernel; free some with "
        "`kadence kernel gc`, or set KADENCE_CACHE to a place with more"
    )


def require_plain_path(place: Path) -> None:
    """Refuse a path with spaces or colons, below which Kbuild cannot build."""
    if any(mark in str(place) for mark in " :\t\n"):
        raise BuildError(
            f"kernels can't be built below {str(place)!r}, whose name has a space or a colon; "
            "set KADENCE_CACHE to another place"
        )


def require_space(place: Path, needed: int) -> None:
    """Refuse to begin if the free space is surely too small."""
    free = shutil.disk_usage(place).free
    if free < needed:
        raise BuildError(
            f"{place} has {free / 1e9:.1f} GB free, and building a kernel needs {needed / 1e9:.1f} "
            "GB; free some with `kadence kernel gc`, or set KADENCE_CACHE to a place with more"
        )
