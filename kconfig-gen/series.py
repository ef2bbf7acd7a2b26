# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel series and their recorded patches; the rows are in series.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kadence import resources
from kadence.errors import UsageError

FOLDER = Path(__file__).resolve().parent
PATCHES = FOLDER / "patches"
DEFAULT = "6.12"
ALWAYS = "always"


@dataclass(frozen=True)
class Patch:
    """A recorded change to the source, applied only for its targets and its reason."""

    file: str  # below patches/
    targets: list[str]
    when: str  # ALWAYS, or one of the words of BuildRequest.wants()
    reason: str

    @property
    def path(self) -> Path:
        return PATCHES / self.file


@dataclass(frozen=True)
class Series:
    """A kernel series as Debian packages it."""

    name: str
    package: str
    installed: Path  # where the package puts the tarball
    suite: str | None  # of Debian, where the machine's own release has no such package
    patches: tuple[Patch, ...]

    @property
    def fetched(self) -> Path:
        """Folder in the cache that fetch.py unpacks the package to, for it is not installed."""
        return resources.cache_directory() / "packages" / self.package

    @property
    def tarball(self) -> Path:
        """The source: from the installed package, or from the fetched one."""
        unpacked = self.fetched / self.installed.relative_to("/")
        return unpacked if self.suite and not self.installed.is_file() else self.installed

    @property
    def remedy(self) -> str:
        """The command that brings the source."""
        return f"make series-{self.name}" if self.suite else f"apt-get install {self.package}"


@cache
def known() -> dict[str, Series]:
    """Every series of series.toml."""
    rows = tomllib.loads((FOLDER / "series.toml").read_text(encoding="utf-8"))
    return {name: _series(name, row) for name, row in rows.items()}


def _series(name: str, row: dict[str, object]) -> Series:
    patches = row.get("patches", [])
    assert isinstance(patches, list)
    return Series(
        name=name,
        package=str(row["package"]),
        installed=Path(str(row["tarball"])),
        suite=str(row["suite"]) if "suite" in row else None,
        patches=tuple(Patch(**patch) for patch in patches),
    )


def get(name: str) -> Series:
    """The series of that name, or an error that lists the known ones."""
    if name not in known():
        raise UsageError(f"series {name!r} is not known; choose from {', '.join(known())}")
    return known()[name]


def patches_for(name: str, target: str, wants: frozenset[str]) -> tuple[Patch, ...]:
    """Patches of a series that a request wants; a series without rows has none."""
    series = known().get(name)
    if series is None:
        return ()
    words = wants | {ALWAYS}
    return tuple(p for p in series.patches if target in p.targets and p.when in words)
