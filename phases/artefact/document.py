# SPDX-License-Identifier: GPL-2.0-or-later
"""The phases artefact as the planner sees it; parse() checks it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.base.errors import ArtefactError
from kadence.phases.artefact import memory_document
from kadence.phases.artefact.memory_document import MemoryUse
from kadence.phases.describe import kinds, places
from kadence.phases.describe.marking import FUNCTION_ENTRY, LOOP_PREHEADER
from kadence.phases.describe.places import Place
from kadence.phases.find.hierarchy import Joining
from kadence.profiler.format.profile import KBBV, Backend, backend_of

# The hierarchy of an artefact that was written before hierarchies existed.
NO_HIERARCHY: dict[str, Any] = {"joinings": (), "markers": ()}
KINDS = (kinds.COMPUTE, kinds.FILE_IO, kinds.SOCKET_IO, kinds.UNSEEN)


@dataclass(frozen=True)
class Transfers:
    """The calls of one name on one kind of descriptor."""

    name: str
    descriptor: str
    count: int
    bytes: int


@dataclass(frozen=True)
class Writes:
    """The writes by one library function, called in one function of the program."""

    call: str  # "" if it is not known
    places: tuple[Place, ...]  # several for a template's instances, none if not known
    transfers: Transfers


@dataclass(frozen=True)
class Phase:
    number: int  # a joined phase has its first member's number
    members: tuple[int, ...]  # the phases that it joins, or only itself
    weight: float
    kind: str
    io_calls_per_million: float
    io_bytes_per_million: float
    transfers: tuple[Transfers, ...]
    writes: tuple[Writes, ...]


@dataclass(frozen=True)
class Boundary:
    before: int | None
    after: int


@dataclass(frozen=True)
class Marker:
    phase: int
    judged_as: int  # number of the phase or joined phase that it announces
    kind: str
    function: str
    file: str
    line: int
    loop: int | None
    cfg_checksum: str | None
    block: int | None  # where it was counted: an index in the function's CFG
    verified: bool
    exact: bool
    fires: int
    boundaries: int
    announced: float
    false: float
    intrudes: float

    @property
    def place(self) -> tuple[object, ...]:
        """The key that identifies the place in the program."""
        return (self.kind, self.function, self.file, self.loop)

    @property
    def where(self) -> str:
        what = "the loop at" if self.kind == LOOP_PREHEADER else "the entry of"
        return f"{what} {self.function} ({self.file}:{self.line})"


@dataclass(frozen=True)
class Concurrency:
    threads: int
    processes: int
    shared_memory: bool
    synchronises: bool
    evidence: str


@dataclass(frozen=True)
class Document:
    program: tuple[str, ...]
    backend: Backend  # of the profile
    files: tuple[str, ...]  # of its source, if a wrapper built the program
    total_instructions: int  # outside waiting rows
    phases: tuple[Phase, ...]
    boundaries: tuple[Boundary, ...]
    markers: tuple[Marker, ...]
    joinings: tuple[Joining, ...]
    joined_markers: tuple[Marker, ...]  # of joined phases
    concurrency: Concurrency
    system_calls: tuple[str, ...]  # with those of the program's other processes
    socket_families: tuple[int, ...]
    memory_bytes: int  # mapped at most
    memory: MemoryUse

    @property
    def boundaries_to_announce(self) -> int:
        """Boundaries that need a marker; the first one only if no other leads to its phase."""
        first, *later = (boundary.after for boundary in self.boundaries)
        return len(later) + (first not in later)


def parse(raw: dict[str, Any], path: Path) -> Document:
    """Take what planning needs from the artefact; raises ArtefactError if it is damaged."""
    try:
        document = _document(raw)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ArtefactError(
            f"{path} is damaged: {what}; make it anew with `kadence phases`"
        ) from error
    return document


def _document(raw: dict[str, Any]) -> Document:
    phases = tuple(_phase(entry) for entry in raw["phases"])
    if [phase.number for phase in phases] != list(range(len(phases))) or not phases:
        raise ValueError("its phases are not numbered from 0 without gaps")
    instructions = [int(number) for number in raw["instructions"]]
    waited = sum(instructions[row] for row in raw.get("waiting", ()))
    total = sum(instructions) - waited
    joinings = _joinings(raw.get("hierarchy", NO_HIERARCHY)["joinings"], len(phases))
    joined_markers = raw.get("hierarchy", NO_HIERARCHY)["markers"]
    if total < 1:
        raise ValueError("it holds no instructions")
    return Document(
        program=tuple(str(word) for word in raw["program"]),
        backend=backend_of(raw.get("backend", KBBV)),
        files=tuple(str(file) for file in raw["files"]),
        total_instructions=total,
        phases=phases,
        boundaries=tuple(_boundary(entry, len(phases)) for entry in raw["boundaries"]),
        markers=tuple(_marker(entry, len(phases)) for entry in raw["markers"]),
        joinings=joinings,
        joined_markers=tuple(
            _marker(entry, len(phases) + len(joinings)) for entry in joined_markers
        ),
        concurrency=_concurrency(raw["concurrency"]),
        system_calls=(
            *(str(entry["name"]) for entry in raw["system_calls"]),
            *map(str, raw.get("others_system_calls", ())),
        ),
        socket_families=_families(raw),
        memory_bytes=int(raw["memory_bytes"]),
        memory=memory_document.parse(raw["memory"]),
    )


def _families(raw: dict[str, Any]) -> tuple[int, ...]:
    own, others = raw["socket_families"], raw.get("others_socket_families", ())
    return tuple(sorted({*map(int, own), *map(int, others)}))


def _phase(entry: dict[str, Any]) -> Phase:
    if entry["kind"] not in KINDS:
        raise ValueError(f"the kind {entry['kind']!r} is unknown")
    return Phase(
        number=int(entry["id"]),
        members=(int(entry["id"]),),
        weight=float(entry["weight"]),
        kind=entry["kind"],
        io_calls_per_million=float(entry["io_calls_per_million"]),
        io_bytes_per_million=float(entry["io_bytes_per_million"]),
        transfers=tuple(_transfers(calls) for calls in entry["system_calls"]),
        writes=tuple(map(_writes, entry["writes"])),
    )


def _writes(entry: dict[str, Any]) -> Writes:
    where = tuple(map(places.parse, entry["places"]))
    return Writes(str(entry["call"]), where, _transfers(entry))


def _transfers(entry: dict[str, Any]) -> Transfers:
    return Transfers(
        name=str(entry["name"]),
        descriptor=str(entry["descriptor"]),
        count=int(entry["count"]),
        bytes=int(entry["bytes"]),
    )


def _boundary(entry: dict[str, Any], phases: int) -> Boundary:
    before = entry["from"]
    return Boundary(
        before=None if before is None else _phase_number(before, phases),
        after=_phase_number(entry["to"], phases),
    )


def _joinings(entries: Sequence[dict[str, Any]], phases: int) -> tuple[Joining, ...]:
    found = [
        Joining(
            number=int(entry["phase"]),
            of=(int(entry["of"][0]), int(entry["of"][1])),
            members=tuple(_phase_number(member, phases) for member in entry["members"]),
            distance=float(entry["distance"]),
            kept=float(entry["kept"]),
        )
        for entry in entries
    ]
    if [joining.number for joining in found] != list(range(phases, phases + len(found))):
        raise ValueError("its joined phases are not numbered after its phases without gaps")
    return tuple(found)


def _marker(entry: dict[str, Any], phases: int) -> Marker:
    if entry["kind"] not in (FUNCTION_ENTRY, LOOP_PREHEADER):
        raise ValueError(f"the kind of marker {entry['kind']!r} is unknown")
    return Marker(
        phase=_phase_number(entry["phase"], phases),
        judged_as=entry["phase"],
        kind=entry["kind"],
        function=str(entry["function"]),
        file=str(entry["file"]),
        line=int(entry["line"]),
        loop=None if entry["loop"] is None else int(entry["loop"]),
        cfg_checksum=None if entry["cfg_checksum"] is None else str(entry["cfg_checksum"]),
        block=None if entry.get("block") is None else int(entry["block"]),
        verified=bool(entry["verified"]),
        exact=bool(entry["exact"]),
        fires=int(entry["fires"]),
        boundaries=int(entry["boundaries"]),
        announced=float(entry["announced"]),
        false=float(entry["false"]),
        intrudes=float(entry["intrudes"]),
    )


def _phase_number(value: object, phases: int) -> int:
    if not isinstance(value, int) or not 0 <= value < phases:
        raise ValueError(f"there is no phase {value!r}")
    return value


def _concurrency(entry: dict[str, Any]) -> Concurrency:
    return Concurrency(
        threads=int(entry["threads"]),
        processes=int(entry["processes"]),
        shared_memory=bool(entry["shared_memory"]),
        synchronises=bool(entry["synchronises"]),
        evidence=str(entry["evidence"]),
    )
