# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetch the source of a series that the machine's own Debian release lacks.

    python -m kadence.kconfig.tree.fetch SERIES

This module runs apt with a separate configuration: the suite that the series' row names, from the
archive that serves the machine's own release, with that archive's keys. So apt checks signatures as
usual, and the machine's package lists do not change. The module unpacks the package into the cache
and does not install it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from kadence.base.errors import KadenceError, ToolError, UsageError
from kadence.kconfig.request import series
from kadence.kconfig.request.series import Series

# With FILTER this finds the archive that holds all suites; other archives hold only some.
COMPONENT = "main"
TARGETS = ("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(SIGNED_BY)")
FILTER = ("Created-By: Packages", "Origin: Debian", "Label: Debian", f"Component: {COMPONENT}")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m kadence.kconfig.tree.fetch SERIES", file=sys.stderr)
        return 1
    try:
        print(fetch(series.get(arguments[0])))
    except KadenceError as error:
        print(f"kadence: {error}", file=sys.stderr)
        return 1
    return 0


def fetch(chosen: Series) -> str:
    """Fetch the source into the cache unless it is there; return a message for the user."""
    if chosen.suite is None:
        raise UsageError(f"series {chosen.name} is installed: {chosen.remedy}")
    if chosen.tarball.is_file():
        return f"{chosen.tarball} is there"
    chosen.fetched.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=chosen.fetched.parent) as temporary:
        package = _download(chosen, chosen.suite, Path(temporary))
        unpacked = Path(temporary) / "unpacked"
        _run(["dpkg-deb", "-x", str(package), str(unpacked)], Path(temporary))
        _add(unpacked, chosen)
    return f"{chosen.tarball} is from {package.name}"


def _add(unpacked: Path, chosen: Series) -> None:
    """Rename the unpacked package into the cache, unless another process was faster."""
    if not (unpacked / chosen.installed.relative_to("/")).is_file():
        raise ToolError(
            f"package {chosen.package} holds no {chosen.installed}; correct series.toml"
        )
    if not chosen.fetched.exists():
        unpacked.rename(chosen.fetched)


def _download(chosen: Series, suite: str, place: Path) -> Path:
    options = _configuration(suite, place)
    try:
        _run(["apt-get", *options, "-q", "update"], place)
        _run(["apt-get", *options, "-q", "download", chosen.package], place)
    except ToolError as error:
        raise ToolError(f"series {chosen.name} can't be had from {suite}: {error}") from error
    found = sorted(place.glob("*.deb"))
    if len(found) != 1:
        raise ToolError(f"suite {suite} has no package {chosen.package}; correct series.toml")
    return found[0]


def _configuration(suite: str, place: Path) -> list[str]:
    """apt's options for that suite alone, with separate package lists."""
    archive, keys = _archive()
    source = f"deb [signed-by={keys}] {archive} {suite} {COMPONENT}\n"
    (place / "suite.list").write_text(source, encoding="utf-8")
    (place / "lists" / "partial").mkdir(parents=True)
    settings = {
        "Dir::Etc::sourcelist": place / "suite.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": place / "lists",
        "Dir::Cache": place,
        "APT::Sandbox::User": "root",  # only the caller may enter the folder
        "APT::Update::Error-Mode": "any",
        "Acquire::Retries": 3,
        "Acquire::Languages": "none",
    }
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def _archive() -> tuple[str, Path | str]:
    """The archive of the machine's own release, and the keys that sign it."""
    own = _own_release()
    for line in _run([*TARGETS, *FILTER], Path.cwd()).splitlines():
        archive, codename, *keys = line.split()
        if codename == own:
            named = [key for key in keys if key.startswith("/")]
            return archive, named[0] if named else KEYRING
    raise ToolError(f"apt has no source for Debian's {own}; add it, and run `apt-get update`")


def _own_release() -> str:
    text = Path("/etc/os-release").read_text(encoding="utf-8")
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return values.get("VERSION_CODENAME", "").strip('"')


def _run(command: list[str], directory: Path) -> str:
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ToolError(f"cannot run {command[0]}: {error.strerror}; install it") from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        reason = next((line for line in said if line.startswith("E:")), said[-1] if said else "")
        raise ToolError(f"`{command[0]}` failed with status {done.returncode}: {reason}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
