# SPDX-License-Identifier: GPL-2.0-or-later
"""The manifest of a bundle: programs, kernels, configurations, and a checksum of every file.

docs/artefacts-jobs.md lists the manifest's fields. This module imports nothing slow, because every
step of a job reads the manifest before its kernel boots.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kadence.base import codec
from kadence.base.codec import DecodeError
from kadence.base.errors import ArtefactError

ARCHITECTURE = "x86_64"
# The least KADAPT_VERSION (kadapt/uapi/kadapt.h) that the programs need.
INTERFACE = 1
NAME = "manifest.json"
SIGNATURE = "manifest.sig"
PLAN = "plan.json"


@dataclass(frozen=True)
class Program:
    """An adapted program, and the builds that it may stand in for."""

    file: str
    name: str
    build_id: str
    replaces: tuple[str, ...]


@dataclass(frozen=True)
class KernelFile:
    """A kernel in the bundle."""

    file: str
    id: str
    release: str


@dataclass(frozen=True)
class ConfigurationFile:
    """The request that a kernel was, or can be, built from."""

    file: str
    id: str


@dataclass(frozen=True)
class Unit:
    """A unit that the program's phases take (docs/live.md)."""

    name: str
    phases: tuple[int, ...]  # none: all
    sha256: str  # of its source and all that is compiled with it


@dataclass(frozen=True)
class Measured:
    """A report's verdict: the comparison with the plain program on the machine's own kernel."""

    outcome: str
    ratio: float | None  # of the times; below 1 is faster
    sentence: str


@dataclass(frozen=True)
class File:
    """A file of the archive."""

    path: str
    bytes: int
    sha256: str
    executable: bool


@dataclass(frozen=True)
class Manifest:
    """A manifest."""

    name: str
    architecture: str
    interface: int
    programs: tuple[Program, ...]
    plan: str
    kernels: dict[str, KernelFile]  # by target, as the next two fields
    configurations: dict[str, ConfigurationFile]
    measured: dict[str, Measured]
    units: tuple[Unit, ...]
    files: tuple[File, ...]

    def body(self) -> dict[str, Any]:
        """The body of the manifest's artefact."""
        entry: dict[str, Any] = codec.encode(self)
        return entry

    def units_variable(self) -> str:
        """What tells libkadapt which units the phases take; empty if there are none."""
        phases = {unit.name: ",".join(map(str, unit.phases)) for unit in self.units}
        return " ".join(f"{name}:{those}" if those else name for name, those in phases.items())

    def named(self) -> Iterator[str]:
        """Every file that the manifest refers to."""
        yield self.plan
        yield from (program.file for program in self.programs)
        yield from (kernel.file for kernel in self.kernels.values())
        yield from (configuration.file for configuration in self.configurations.values())


def from_document(name: str, document: dict[str, Any]) -> Manifest:
    """Build a checked manifest from its artefact; `name` is for the error message."""
    try:
        found = codec.decode(Manifest, document)
        _require_values(found.body(), "it")
    except (DecodeError, ValueError) as error:
        raise ArtefactError(f"the manifest of {name} is damaged: {error}") from error
    return found


def _is_zero_ratio(value: object) -> bool:
    return isinstance(value, float) and value == 0


def _require_values(value: object, where: str) -> None:
    """Refuse empty texts, negative numbers and a ratio of 0."""
    if isinstance(value, dict):
        for name, one in value.items():
            _require_values(one, f"{where}.{name}")
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            _require_values(one, f"{where}[{number}]")
    elif value == "" or (isinstance(value, int | float) and value < 0) or _is_zero_ratio(value):
        raise ValueError(f"{where} is {value!r}")
