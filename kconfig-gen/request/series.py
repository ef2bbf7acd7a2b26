# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel series and their recorded patches; the rows are in series.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import UsageError

FOLDER = Path(__file__).resolve().parent
PATCHES = FOLDER.parent / "patches"
DEFAULT = "6.12"
ALWAYS = "always"


@dataclass(frozen=True)
class Patch:
    """A recorded change to the source, applied only for its targets and its condition `when`."""

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
    installed: Path  # the path of the tarball in the package
    suite: str | None  # Debian suite, if the machine's own release lacks the package
    patches: tuple[Patch, ...]

    @property
    def fetched(self) -> Path:
        """Folder in the cache where fetch.py unpacks the package, which it does not install."""
        return resources.cache_directory() / "packages" / self.package

    @property
    def tarball(self) -> Path:
        """The source tarball of the installed package, or of the fetched one."""
        unpacked = self.fetched / self.installed.relative_to("/")
        return unpacked if self.suite and not self.installed.is_file() else self.installed

    @property
    def remedy(self) -> str:
        """The command that installs or fetches the source."""
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
    """The patches of a series for this target and these words; none if the series is unknown."""
    series = known().get(name)
    if series is None:
        return ()
    words = wants | {ALWAYS}
    return tuple(p for p in series.patches if target in p.targets and p.when in words)
