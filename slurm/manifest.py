# SPDX-License-Identifier: GPL-2.0-or-later
"""The manifest of a bundle: programs, kernels, configurations, and a checksum of every file.

docs/artefacts-jobs.md lists the manifest's fields. This module imports nothing slow, because every
step of a job reads the manifest before its kernel boots.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

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
    files: tuple[File, ...]

    def body(self) -> dict[str, Any]:
        """The body of the manifest's artefact."""
        return asdict(self)

    def named(self) -> Iterator[str]:
        """Every file that the manifest refers to."""
        yield self.plan
        yield from (program.file for program in self.programs)
        yield from (kernel.file for kernel in self.kernels.values())
        yield from (configuration.file for configuration in self.configurations.values())


def from_document(name: str, document: dict[str, Any]) -> Manifest:
    """Build a checked manifest from its artefact; `name` is for the error message."""
    try:
        return _manifest(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArtefactError(f"the manifest of {name} is damaged: {_what(error)}") from error


def _what(error: Exception) -> str:
    return f"it lacks {error}" if isinstance(error, KeyError) else str(error)


def _manifest(document: dict[str, Any]) -> Manifest:
    return Manifest(
        name=_text(document["name"]),
        architecture=_text(document["architecture"]),
        interface=_count(document["interface"]),
        programs=tuple(_program(each) for each in document["programs"]),
        plan=_text(document["plan"]),
        kernels={target: _kernel(each) for target, each in document["kernels"].items()},
        configurations={
            target: ConfigurationFile(_text(each["file"]), _text(each["id"]))
            for target, each in document["configurations"].items()
        },
        measured={target: _measured(each) for target, each in document["measured"].items()},
        files=tuple(_file(each) for each in document["files"]),
    )


def _program(each: dict[str, Any]) -> Program:
    replaces = tuple(_text(identifier) for identifier in each["replaces"])
    return Program(_text(each["file"]), _text(each["name"]), _text(each["build_id"]), replaces)


def _kernel(each: dict[str, Any]) -> KernelFile:
    return KernelFile(_text(each["file"]), _text(each["id"]), _text(each["release"]))


def _measured(each: dict[str, Any]) -> Measured:
    ratio = each["ratio"]
    if ratio is not None and not (isinstance(ratio, int | float) and ratio > 0):
        raise ValueError(f"{ratio!r} is not a ratio of times")
    return Measured(_text(each["outcome"]), ratio, _text(each["sentence"]))


def _file(each: dict[str, Any]) -> File:
    if not isinstance(each["executable"], bool):
        raise ValueError(f"{each['executable']!r} does not say whether a file is executable")
    size, digest = _count(each["bytes"]), _text(each["sha256"])
    return File(_text(each["path"]), size, digest, each["executable"])


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is not a text")
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is not a number")
    return value
