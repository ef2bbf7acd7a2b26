# SPDX-License-Identifier: GPL-2.0-or-later
"""The phases artefact as the planner sees it; parse() checks it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from kadence.base import codec
from kadence.base.codec import DERIVED, FLAT, DecodeError, Key
from kadence.base.errors import ArtefactError
from kadence.phases.artefact.memory_document import MemoryUse
from kadence.phases.describe import kinds
from kadence.phases.describe.marking import FUNCTION_ENTRY, LOOP_PREHEADER
from kadence.phases.describe.places import Place
from kadence.phases.find.hierarchy import Joining
from kadence.profiler.format.profile import KBBV, Backend, backend_of

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
    transfers: Annotated[Transfers, FLAT]


@dataclass(frozen=True)
class Phase:
    number: Annotated[int, Key("id")]  # a joined phase has its first member's number
    weight: float
    kind: str
    io_calls_per_million: float
    io_bytes_per_million: float
    transfers: Annotated[tuple[Transfers, ...], Key("system_calls")]
    writes: tuple[Writes, ...]
    # The phases that it joins, or only itself.
    members: Annotated[tuple[int, ...], DERIVED] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"the kind {self.kind!r} is unknown")


@dataclass(frozen=True)
class Boundary:
    before: Annotated[int | None, Key("from")]
    after: Annotated[int, Key("to")]


@dataclass(frozen=True)
class Marker:
    phase: int
    # The number of the phase or joined phase that it announces.
    judged_as: Annotated[int, Key("phase")]
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

    def __post_init__(self) -> None:
        if self.kind not in (FUNCTION_ENTRY, LOOP_PREHEADER):
            raise ValueError(f"the kind of marker {self.kind!r} is unknown")

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
    except (DecodeError, LookupError, TypeError, ValueError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ArtefactError(
            f"{path} is damaged: {what}; make it anew with `kadence phases`"
        ) from error
    return document


def _document(raw: dict[str, Any]) -> Document:
    phases = _phases(raw["phases"])
    instructions = [int(number) for number in raw["instructions"]]
    waited = sum(instructions[row] for row in raw.get("waiting", ()))
    total = sum(instructions) - waited
    joinings = _joinings(raw["hierarchy"]["joinings"], len(phases))
    joined_markers = raw["hierarchy"]["markers"]
    if total < 1:
        raise ValueError("it holds no instructions")
    return Document(
        program=tuple(str(word) for word in raw["program"]),
        backend=backend_of(raw.get("backend", KBBV)),
        files=tuple(str(file) for file in raw["files"]),
        total_instructions=total,
        phases=phases,
        boundaries=_boundaries(raw["boundaries"], len(phases)),
        markers=_markers(raw["markers"], len(phases)),
        joinings=joinings,
        joined_markers=_markers(joined_markers, len(phases) + len(joinings)),
        concurrency=codec.decode(Concurrency, raw["concurrency"], "concurrency"),
        system_calls=(
            *(str(entry["name"]) for entry in raw["system_calls"]),
            *map(str, raw.get("others_system_calls", ())),
        ),
        socket_families=_families(raw),
        memory_bytes=int(raw["memory_bytes"]),
        memory=codec.decode(MemoryUse, raw["memory"], "memory"),
    )


def _families(raw: dict[str, Any]) -> tuple[int, ...]:
    own, others = raw["socket_families"], raw.get("others_socket_families", ())
    return tuple(sorted({*map(int, own), *map(int, others)}))


def _phases(entries: object) -> tuple[Phase, ...]:
    found = codec.decode(tuple[Phase, ...], entries, "phases")
    if [phase.number for phase in found] != list(range(len(found))) or not found:
        raise ValueError("its phases are not numbered from 0 without gaps")
    return tuple(replace(phase, members=(phase.number,)) for phase in found)


def _boundaries(entries: object, phases: int) -> tuple[Boundary, ...]:
    found = codec.decode(tuple[Boundary, ...], entries, "boundaries")
    for boundary in found:
        _require_phase(boundary.after, phases)
        if boundary.before is not None:
            _require_phase(boundary.before, phases)
    return found


def _joinings(entries: object, phases: int) -> tuple[Joining, ...]:
    found = codec.decode(tuple[Joining, ...], entries, "hierarchy.joinings")
    if [joining.number for joining in found] != list(range(phases, phases + len(found))):
        raise ValueError("its joined phases are not numbered after its phases without gaps")
    for joining in found:
        for member in joining.members:
            _require_phase(member, phases)
    return found


def _markers(entries: object, phases: int) -> tuple[Marker, ...]:
    found = codec.decode(tuple[Marker, ...], entries, "markers")
    for marker in found:
        _require_phase(marker.phase, phases)
    return found


def _require_phase(value: int, phases: int) -> None:
    if not 0 <= value < phases:
        raise ValueError(f"there is no phase {value!r}")
