# SPDX-License-Identifier: GPL-2.0-or-later
"""The phases artefact as its readers see it; parse() checks it."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from kadence.base import artefact
from kadence.base.codec import DERIVED, FLAT, Key
from kadence.base.errors import ArtefactError
from kadence.phases.artefact.memory_document import MemoryUse
from kadence.phases.describe import kinds
from kadence.phases.describe.marking import FUNCTION_ENTRY, LOOP_PREHEADER
from kadence.phases.describe.places import Place
from kadence.phases.find.hierarchy import Joining
from kadence.profiler.format.profile import Backend, backend_of

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
class Faults:
    """A phase's page faults."""

    faults: int  # on anonymous pages
    file_pages: int


@dataclass(frozen=True)
class Phase:
    number: Annotated[int, Key("id")]  # a joined phase has its first member's number
    weight: float
    kind: str
    intervals: int
    representative: int  # an interval
    io_calls_per_million: float
    io_bytes_per_million: float
    transfers: Annotated[tuple[Transfers, ...], Key("system_calls")]
    writes: tuple[Writes, ...]
    memory: Faults
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
class Hierarchy:
    """How phases are joined into coarser ones."""

    joinings: tuple[Joining, ...]
    markers: tuple[Marker, ...]  # of joined phases


@dataclass(frozen=True)
class Intervals:
    """Each interval's phase and instructions, and the intervals that belong to no phase."""

    assignment: tuple[int, ...]
    instructions: tuple[int, ...]
    transitions: tuple[int, ...]
    transition_weight: float
    waiting: tuple[int, ...]  # a thread waited for another
    waiting_weight: float

    @cached_property
    def computed(self) -> int:
        """The instructions outside waiting intervals."""
        return sum(self.instructions) - sum(self.instructions[row] for row in self.waiting)


@dataclass(frozen=True)
class Outside:
    """The transitions, if they are many."""

    why: str | None


@dataclass(frozen=True)
class Rank:
    """One process of a parallel program."""

    profile: str


@dataclass(frozen=True)
class Document:
    program: tuple[str, ...]
    backend_name: Annotated[str, Key("backend")]
    files: tuple[str, ...]  # of its source, if a wrapper built the program
    interval: int  # length, in the profile's unit
    intervals: Annotated[Intervals, FLAT]
    outside: Outside
    phases: tuple[Phase, ...]
    boundaries: tuple[Boundary, ...]
    markers: tuple[Marker, ...]
    hierarchy: Hierarchy
    concurrency: Concurrency
    transfers: Annotated[tuple[Transfers, ...], Key("system_calls")]
    own_socket_families: Annotated[tuple[int, ...], Key("socket_families")]
    # What the program's other processes asked for.
    others_system_calls: tuple[str, ...]
    others_socket_families: tuple[int, ...]
    memory_bytes: int  # mapped at most
    memory: MemoryUse
    ranks: tuple[Rank, ...]  # none for a program of one process

    @cached_property
    def backend(self) -> Backend:
        """The recorder of the profile."""
        return backend_of(self.backend_name)

    @property
    def total_instructions(self) -> int:
        return self.intervals.computed

    @property
    def system_calls(self) -> tuple[str, ...]:
        """The names of all processes' calls."""
        return (*(call.name for call in self.transfers), *self.others_system_calls)

    @property
    def socket_families(self) -> tuple[int, ...]:
        """The families of all processes' sockets."""
        return tuple(sorted({*self.own_socket_families, *self.others_socket_families}))

    @property
    def boundaries_to_announce(self) -> int:
        """Boundaries that need a marker; the first one only if no other leads to its phase."""
        first, *later = (boundary.after for boundary in self.boundaries)
        return len(later) + (first not in later)


REMEDY = "make it anew with `kadence phases`"


def load(path: Path) -> Document:
    """Read the artefact; raises ArtefactError if it is damaged."""
    return parse(artefact.read(path, artefact.PHASES), path)


def build_id_of(raw: dict[str, Any], path: Path) -> str | None:
    """The build-id of the profiled program; raises ArtefactError if the key is missing."""
    return artefact.decode(artefact.Envelope, raw, str(path), REMEDY).build_id


def parse(raw: dict[str, Any], path: Path) -> Document:
    """Take what its readers need from the artefact; raises ArtefactError if it is damaged."""
    document = artefact.decode(Document, raw, str(path), REMEDY)
    try:
        _check(document)
    except ValueError as error:
        raise ArtefactError(f"{path} is damaged: {error}; {REMEDY}") from error
    phases = (replace(phase, members=(phase.number,)) for phase in document.phases)
    return replace(document, phases=tuple(phases))


def _check(document: Document) -> None:
    """Raise ValueError if the parts do not fit together."""
    backend_of(document.backend_name)
    phases, joinings = len(document.phases), document.hierarchy.joinings
    if [phase.number for phase in document.phases] != list(range(phases)) or not phases:
        raise ValueError("its phases are not numbered from 0 without gaps")
    if [joining.number for joining in joinings] != list(range(phases, phases + len(joinings))):
        raise ValueError("its joined phases are not numbered after its phases without gaps")
    _check_intervals(document)
    for boundary in document.boundaries:
        _require_phase(boundary.after, phases)
        _require_phase(boundary.before or 0, phases)
    for marker in document.markers:
        _require_phase(marker.phase, phases)
    for marker in document.hierarchy.markers:
        _require_phase(marker.phase, phases + len(joinings))
    for joining in joinings:
        for member in joining.members:
            _require_phase(member, phases)


def _check_intervals(document: Document) -> None:
    found = document.intervals
    rows = range(len(found.instructions))
    if len(found.assignment) != len(rows):
        raise ValueError("it does not assign every interval to a phase")
    for number in found.assignment:
        _require_phase(number, len(document.phases))
    representatives = (phase.representative for phase in document.phases)
    for row in (*found.transitions, *found.waiting, *representatives):
        if row not in rows:
            raise ValueError(f"there is no interval {row}")
    if found.computed < 1:
        raise ValueError("it holds no instructions")


def _require_phase(value: int, phases: int) -> None:
    if not 0 <= value < phases:
        raise ValueError(f"there is no phase {value!r}")
