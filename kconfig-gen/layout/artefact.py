# SPDX-License-Identifier: GPL-2.0-or-later
"""`*.kcounts.json`: how often a kernel's code ran; docs/artefacts-kernel.md describes it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kadence.base import artefact, codec
from kadence.base.errors import ArtefactError, BuildError
from kadence.kconfig.layout.counters import Function

LINE_BYTES, PAGE_BYTES = 64, 4096  # of the model's caches and of its memory


@dataclass(frozen=True)
class Misses:
    """Misses of a cache of instructions, of 2 MiB behind it, and of 64 translations."""

    bytes: int
    ways: int
    misses: int
    in_kernel: int
    second_level: int
    translations: int


@dataclass(frozen=True)
class PhaseCode:
    """What the code takes in one phase of the program."""

    phase: int | None  # None: outside of phases
    instructions: int
    lines: int
    executed_bytes: int
    pages: int


@dataclass(frozen=True)
class Code:
    """What some code takes while the program runs."""

    lines: int
    executed_bytes: int
    pages: int
    # In the first cache: "ADDRESS FETCHES MISSES FUNCTION PHASES" of each line of code, and
    # "FUNCTION BY MISSES" of the pairs of functions that took each other's place most often. PHASES
    # is hexadecimal: bit N stands for item N of `phases`.
    code: list[str]
    evictions: list[str]
    phases: list[PhaseCode]  # empty if the program announced none


@dataclass(frozen=True)
class Footprint(Code):
    """What the code of a kernel takes, and of the program that ran."""

    instructions: int
    programs: int  # instructions outside of the kernel
    taken_branches: int
    caches: list[Misses]
    # By the addresses of the program's file; null if the command names no ELF file. It has
    # evictions by itself and, as kernel:FUNCTION, by the kernel.
    program_code: Code | None = None


@dataclass(frozen=True)
class Counts:
    """Counts of one kernel, and the order of the sections of the kernel that is made from them."""

    program: list[str]
    kernel: str  # ID of the kernel without a layout
    not_worth_it: str | None  # why, if there is no layout
    gcc: int = 0  # the version that its files have
    objects: dict[str, list[Function]] = field(default_factory=dict)  # only functions that ran
    order: list[str] = field(default_factory=list)  # "OBJECT SECTION"
    # Objects that ran and are not laid out: operations that the program did not train were slower.
    returned: list[str] = field(default_factory=list)
    slower: list[str] = field(default_factory=list)  # operations that still are
    before: Footprint | None = None
    after: Footprint | None = None

    def without(self, objects: Sequence[str]) -> "Counts":
        """The same with these objects as they were before, and without an order."""
        left = {name: each for name, each in self.objects.items() if name not in objects}
        return replace(self, objects=left, order=[], returned=[*self.returned, *objects])

    @property
    def digest(self) -> str:
        """SHA-256 of all that a build depends on."""
        functions = {name: _lines(each) for name, each in self.objects.items()}
        parts = [self.gcc, functions, self.returned, self.order]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @property
    def most(self) -> int:
        """The largest counter."""
        found = [max(each.counts) for functions in self.objects.values() for each in functions]
        return max(found, default=0)

    @property
    def functions(self) -> int:
        return sum(map(len, self.objects.values()))


@dataclass(frozen=True)
class _Body:
    program: list[str]
    kernel: str
    not_worth_it: str | None
    gcc: int
    objects: dict[str, list[str]]
    order: list[str]
    returned: list[str]
    slower: list[str]
    before: Footprint | None
    after: Footprint | None


def write(path: Path, counts: Counts, command: Sequence[str]) -> None:
    """Write the counts; the file gets its name only when it is complete."""
    objects = {name: _lines(functions) for name, functions in sorted(counts.objects.items())}
    plain = replace(counts, objects={})
    body: dict[str, Any] = codec.encode(plain) | {"objects": objects}
    artefact.write(path, artefact.COUNTS, None, command, body)


def read(path: Path) -> Counts:
    """Read counts; raise ArtefactError if they are damaged."""
    body = artefact.load(_Body, path, artefact.COUNTS, "count again")
    try:
        objects = {name: [_function(line) for line in each] for name, each in body.objects.items()}
    except ValueError as error:
        raise ArtefactError(f"{path} is damaged: {error}; count again") from error
    fields = {name: getattr(body, name) for name in _Body.__dataclass_fields__}
    return Counts(**fields | {"objects": objects})


def read_for(path: Path, kernel: str) -> Counts:
    """Read the counts of this kernel; raise BuildError if they are of another one."""
    counts = read(path)
    if counts.not_worth_it is not None:
        raise BuildError(f"{path} has no layout: {counts.not_worth_it}; leave --layout out")
    if counts.kernel != kernel:
        raise BuildError(
            f"{path} has counts of kernel {counts.kernel}, and the options ask for {kernel}, of "
            f"another configuration, source or compiler; count again with: "
            "kadence kernel trace --counts"
        )
    return counts


def _lines(functions: Sequence[Function]) -> list[str]:
    return [
        " ".join(
            map(str, (each.ident, each.lineno_checksum, each.cfg_checksum, *each.counts)),
        )
        for each in functions
    ]


def _function(line: str) -> Function:
    ident, lineno, cfg, *counts = map(int, line.split())
    return Function(ident, lineno, cfg, tuple(counts))
