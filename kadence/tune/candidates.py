# SPDX-License-Identifier: GPL-2.0-or-later
"""The candidates: settings that may make a program quicker; the rows are in candidates.toml."""

import os
import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kadence.base import codec
from kadence.base.errors import ArtefactError, UsageError
from kadence.boot.request import TARGETS
from kadence.kconfig.request import series as kernel_series
from kadence.kconfig.request import targets as kernel_targets
from kadence.measurement.measure import ADAPTED, PLAIN

FILE = Path(__file__).resolve().parent / "candidates.toml"
OWN = "own"  # this machine's own kernel
TABLE = "candidate"
TUNABLES = "GLIBC_TUNABLES"
JOINED = "+"  # in the name of a combination
DIMENSIONS = ("allocator", "threads", "placement", "compiler", "program", "kernel")


@dataclass(frozen=True)
class Effect:
    """What a candidate leaves of a kind of work, as a multiple of what the plain program has."""

    work: str
    left: tuple[float, float, float]  # at best, as expected, at worst

    def __post_init__(self) -> None:
        best, expected, worst = self.left
        if not 0 <= best <= expected <= worst:
            raise ValueError(f"left of {self.work!r} does not ascend from best to worst")


@dataclass(frozen=True)
class KernelWish:
    """A kernel that a candidate runs on."""

    target: str
    series: str = kernel_series.DEFAULT
    hz: int | None = None
    mitigations: bool = False
    set: dict[str, str] = field(default_factory=dict)  # symbols and values above all rules

    def __post_init__(self) -> None:
        if self.target not in TARGETS:
            raise ValueError(f"the target {self.target!r} is none of {', '.join(TARGETS)}")
        if self.series not in kernel_series.known():
            raise ValueError(f"the series {self.series!r} is unknown")
        if self.mitigations and not kernel_targets.get(self.target).mitigations:
            raise ValueError(f"kernels for {self.target} have no mitigations")


@dataclass(frozen=True)
class Candidate:
    """One setting, or a combination of settings of different dimensions."""

    name: str
    dimension: str
    summary: str
    environment: dict[str, str] = field(default_factory=dict)
    flags: str = ""  # for the compiler
    program: str = PLAIN
    prefix: tuple[str, ...] = ()
    kernel: KernelWish | None = None
    targets: tuple[str, ...] = (OWN,)
    needs: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    base: str = ""  # the candidate of which this one is a variant

    def __post_init__(self) -> None:
        if not self.name or not set(self.name) <= NAME_CHARACTERS:
            raise ValueError(f"the name {self.name!r} has other characters than letters and -_.")
        for dimension in self.dimensions:
            if dimension not in DIMENSIONS:
                raise ValueError(f"the dimension {dimension!r} is none of {', '.join(DIMENSIONS)}")
        if self.program not in (PLAIN, ADAPTED):
            raise ValueError(f"the program {self.program!r} is neither {PLAIN} nor {ADAPTED}")
        if not set(self.targets) <= {OWN, *TARGETS}:
            raise ValueError(f"targets names others than {', '.join((OWN, *TARGETS))}")

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(self.dimension.split(JOINED))

    @property
    def target(self) -> str:
        """The kernel that it runs on."""
        return OWN if self.kernel is None else self.kernel.target

    @property
    def needs_build(self) -> bool:
        """Whether the program must be compiled for it."""
        return bool(self.flags) or self.program == ADAPTED


NAME_CHARACTERS = frozenset(string.ascii_letters + string.digits + "-_." + JOINED)
REFERENCE = Candidate(PLAIN, "program", "the plain program")


# ---- reading -------------------------------------------------------------------------------------


def read(path: Path, known: Mapping[str, Sequence[str]]) -> list[Candidate]:
    """Read a list of candidates strictly.

    `known` has the permitted values of `needs`, and of `work` of an effect.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the candidates in {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
    rows = tables.pop(TABLE, None)
    if tables or not isinstance(rows, list) or not rows:
        raise UsageError(f"{path}: write each candidate as a table of its own, [[{TABLE}]]")
    found = [_candidate(path, number, row, known) for number, row in enumerate(rows, 1)]
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1 or name == PLAIN or JOINED in name:
            raise UsageError(f"{path}: the name {name!r} is taken, or has a {JOINED!r}")
    return found


def _candidate(
    path: Path, number: int, row: dict[str, Any], known: Mapping[str, Sequence[str]]
) -> Candidate:
    where = f"{path}: candidate {number}"
    try:
        found = codec.decode(Candidate, _filled(where, row), where)
    except ArtefactError as error:
        raise UsageError(str(error)) from error
    for key, used in (
        ("needs", found.needs),
        ("work", tuple(effect.work for effect in found.effects)),
    ):
        for value in used:
            if not _is_known(value, known[key]):
                raise UsageError(f"{where}: {key} names {value!r}; known: {', '.join(known[key])}")
    if found.environment.keys() & {""} or not _changes_something(found):
        raise UsageError(f"{where} ({found.name}) sets nothing")
    return found


def _is_known(value: str, known: Sequence[str]) -> bool:
    """Whether a value is known; `glibc 2.26` is, if `glibc` is."""
    return value in known or value.partition(" ")[0] in known


def _filled(where: str, row: dict[str, Any]) -> dict[str, Any]:
    """Add the keys that a row leaves out; refuse keys that no row has."""
    fields = Candidate.__dataclass_fields__
    if unknown := set(row) - set(fields):
        raise UsageError(f"{where} has no key {min(unknown)!r}; it knows {', '.join(fields)}")
    wish = row.get("kernel")
    if isinstance(wish, dict):
        kernel_fields = KernelWish.__dataclass_fields__
        if unknown := set(wish) - set(kernel_fields):
            raise UsageError(f"{where}: kernel has no key {min(unknown)!r}")
        wish = {"series": kernel_series.DEFAULT, "hz": None, "mitigations": False, "set": {}} | wish
    defaults: dict[str, Any] = {"environment": {}, "flags": "", "program": PLAIN, "prefix": []}
    defaults |= {"targets": [OWN], "needs": [], "effects": [], "base": ""}
    return defaults | row | {"kernel": wish}


def _changes_something(found: Candidate) -> bool:
    return bool(
        found.environment or found.flags or found.prefix or found.kernel or found.program != PLAIN
    )


# ---- choosing, filling in and combining ----------------------------------------------------------


def chosen(found: Sequence[Candidate], names: Sequence[str]) -> list[Candidate]:
    """The candidates of these names, or of these dimensions, in the list's order."""
    known = [each.name for each in found]
    for name in names:
        if name not in (*known, *DIMENSIONS):
            raise UsageError(
                f"there is no candidate {name!r}; choose from {', '.join(known)}, or from the "
                f"dimensions {', '.join(DIMENSIONS)}"
            )
    return [each for each in found if each.name in names or each.dimension in names]


def placed(candidate: Candidate, processors: Sequence[int]) -> Candidate:
    """Replace {processors}, {half} and {first} by this machine's numbers."""
    numbers = {
        "processors": len(processors),
        "half": max(len(processors) // 2, 1),
        "first": min(processors),
    }

    def filled(text: str) -> str:
        for name, number in numbers.items():
            text = text.replace(f"{{{name}}}", str(number))
        return text

    return codec.decode(
        Candidate,
        codec.encode(candidate)
        | {
            "environment": {name: filled(text) for name, text in candidate.environment.items()},
            "prefix": [filled(word) for word in candidate.prefix],
        },
    )


def usable_processors() -> list[int]:
    """The numbers of the processors that this process may use."""
    return sorted(os.sched_getaffinity(0))


def can_combine(one: Candidate, other: Candidate) -> bool:
    """Whether both settings have an effect together."""
    if set(one.dimensions) & set(other.dimensions):
        return False
    target = one.target if one.kernel is not None else other.target
    return target in (*one.targets, one.target) and target in (*other.targets, other.target)


def combined(one: Candidate, other: Candidate) -> Candidate:
    """A candidate with both settings."""
    return Candidate(
        name=one.name + JOINED + other.name,
        dimension=one.dimension + JOINED + other.dimension,
        summary=f"{one.summary}; {other.summary}",
        environment=merged(one.environment, other.environment),
        flags=f"{one.flags} {other.flags}".strip(),
        program=ADAPTED if ADAPTED in (one.program, other.program) else PLAIN,
        prefix=(*one.prefix, *other.prefix),
        kernel=one.kernel or other.kernel,
        targets=tuple(each for each in one.targets if each in other.targets),
        needs=(*one.needs, *other.needs),
        effects=(*one.effects, *other.effects),
    )


def merged(first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, str]:
    """Both environments. The second's variables win, but tunables of the first stay."""
    both = {**first, **second}
    if TUNABLES in first and TUNABLES in second:
        both[TUNABLES] = f"{first[TUNABLES]}:{second[TUNABLES]}"
    return both
