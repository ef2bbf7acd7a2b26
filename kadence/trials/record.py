# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads records of trials: files of JSON lines that adapted processes append to.

Every line ends with the CRC-32 of what is before. A file may hold several processes, whose lines
are mixed. A process that was killed while it wrote leaves a last line that is cut, which is no
damage. All other damage refuses the file.
"""

import hashlib
import json
import re
import stat
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kadence.base import artefact, codec
from kadence.base.errors import ArtefactError
from kadence.phases.plan.trials import Arm
from kadence.trials.lines import (
    KINDS,
    OPEN,
    BlockLine,
    DecisionLine,
    EndLine,
    Header,
    PhaseLine,
)

SCHEMA = artefact.TRIALS
VERSION = artefact.VERSIONS[SCHEMA]
SUMMED = re.compile(rb'(.*), "sum": "([0-9a-f]{8})"\}')
ID_DIGITS = 16
# A line has a dozen numbers. What is longer was not written by libkadapt.
LONGEST_LINE = 1 << 16
LARGEST_FILE = 256 << 20


class DamagedError(ArtefactError):
    """A file is not a record of trials."""


@dataclass
class Record:
    """What one process left."""

    header: Header
    place: str  # for messages: the file and the header's line
    phases: dict[int, PhaseLine] = field(default_factory=dict)
    blocks: list[BlockLine] = field(default_factory=list)
    decisions: list[DecisionLine] = field(default_factory=list)
    end: EndLine | None = None
    first_lines: bytes = b""

    @property
    def id(self) -> str:
        """Identifies the process: its header and its first phase, which has measured times.

        Numbers of processes and seconds alone may be those of another node's process, too. A
        process that goes on after its record was read keeps its id.
        """
        return hashlib.sha256(self.first_lines).hexdigest()[:ID_DIGITS]

    def state_of(self, arm: Arm) -> str:
        """The arm's last state."""
        states = [decision.state for decision in self.decisions if decision.arm == arm]
        return states[-1] if states else OPEN

    def add(self, kind: str, line: Any, text: bytes) -> None:
        """Take one of the process's lines."""
        if kind == "phase":
            if not self.phases:
                self.first_lines += text
            self.phases[line.phase] = line
        elif kind == "block":
            self.blocks.append(line)
        elif kind == "decision":
            self.decisions.append(line)
        else:
            self.end = line


@dataclass(frozen=True)
class TrialsFile:
    """All records of a file."""

    path: Path
    records: tuple[Record, ...]
    is_cut: bool  # a process was killed while it wrote the last line


def read(path: Path) -> TrialsFile:
    """Read a file; raises DamagedError, which names the line, or ArtefactError."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise DamagedError(f"{path} is not a regular file, so it is no record of trials")
        if status.st_size > LARGEST_FILE:
            raise DamagedError(f"{path} is larger than any record of trials")
        content = path.read_bytes()
    except OSError as error:
        raise ArtefactError(f"cannot read {path}: {error.strerror}") from error
    return parse(path, content)


def parse(path: Path, content: bytes) -> TrialsFile:
    """Parse a file's content."""
    *lines, rest = content.split(b"\n")
    found = _Reader(path)
    for number, line in enumerate(lines, 1):
        found.take(number, line)
    is_cut = bool(rest)
    if rest and SUMMED.fullmatch(rest):
        found.take(len(lines) + 1, rest)  # only the line's end is missing
        is_cut = False
    return TrialsFile(path, tuple(found.records), is_cut)


class _Reader:
    """Takes the lines of a file, one after another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[Record] = []
        self._current: dict[int, Record] = {}  # by process

    def take(self, number: int, line: bytes) -> None:
        try:
            self._take(number, line)
        except (ValueError, RecursionError, codec.DecodeError) as error:
            raise DamagedError(
                f"{self.path} is damaged at line {number}: {_first_line(str(error))}; leave the "
                "file out"
            ) from error

    def _take(self, number: int, line: bytes) -> None:
        document = _checked(line)
        process = document.get("process")
        if not isinstance(process, int) or isinstance(process, bool):
            raise ValueError("it names no process")
        if "schema" in document:
            place = f"{self.path}:{number}"
            record = Record(_header(document, self.path, number), place, first_lines=line)
            self.records.append(record)
            self._current[process] = record
            return
        if process not in self._current:
            raise ValueError(f"process {process} has no header before it")
        kind, decoded = _decoded(document)
        self._current[process].add(kind, decoded, line)


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _checked(line: bytes) -> dict[str, Any]:
    """The line as JSON, once its sum is right."""
    summed = SUMMED.fullmatch(line) if len(line) <= LONGEST_LINE else None
    if summed is None:
        raise ValueError("the line has no sum")
    if zlib.crc32(summed[1]) != int(summed[2], 16):
        raise ValueError("the line's sum is wrong")
    document = json.loads(line.decode("utf-8"))
    if not isinstance(document, dict):
        raise ValueError("the line is not an object")
    return document


def _header(document: dict[str, Any], path: Path, number: int) -> Header:
    schema, version = document["schema"], document.get("version")
    if schema != SCHEMA:
        raise ValueError(f"its schema is {schema!r}, not {SCHEMA}")
    if version != VERSION or isinstance(version, bool):
        raise ArtefactError(
            f"{path} has version {version!r} of {SCHEMA} at line {number}, this Kadence knows "
            f"{VERSION}; learn with the Kadence that compiled the program"
        )
    return codec.decode(Header, document)


def _decoded(document: dict[str, Any]) -> tuple[str, Any]:
    kinds = [kind for kind in KINDS if kind in document]
    if len(kinds) != 1 or len(document) != 3:
        raise ValueError("the line's kind is unknown")
    (kind,) = kinds
    return kind, codec.decode(KINDS[kind], document[kind], kind)
