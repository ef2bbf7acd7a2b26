# SPDX-License-Identifier: GPL-2.0-or-later
"""What a profiled run demands of its kernel, in the units that boot/costs.py charges.

The demand is computed for the plain program and for the program adapted by a plan. Records that go
through rings cost no call. Populated pages cost less than one fault each.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kadence.boot import costs
from kadence.phases.artefact.document import Document, Phase, Transfers, Writes
from kadence.phases.artefact.memory_document import SiteUse, Use
from kadence.phases.describe import kinds, writes
from kadence.phases.describe.memory import FILES, PAGE_BYTES, SCATTERED
from kadence.phases.plan import io_planning, memory_planning

OPENS = frozenset(["open", "openat", "openat2", "creat"])
MAPS = frozenset(["mmap", "munmap", "mremap", "brk", "mprotect", "madvise"])
CLOCKS = frozenset(["clock_gettime", "gettimeofday", "time"])
SIGNALS = frozenset(["kill", "tkill", "tgkill", "rt_sigqueueinfo"])
STARTS = frozenset(["clone", "clone3", "fork", "vfork"])
PROGRAMS = frozenset(["execve", "execveat"])
WRITING = frozenset(["write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto"])
READING = frozenset(["read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recvmsg"])
TO = {kind: f"writes to {end}" for kind, end in writes.ENDS.items()}
FROM = {kind: f"reads from {end}" for kind, end in writes.ENDS.items()}
# Name of a call -> its charge. Closing a file is free: the charge of opening it includes it.
BY_NAME = {
    **dict.fromkeys(OPENS, costs.OPEN),
    **dict.fromkeys(kinds.FILE_SYSTEM_CALLS - OPENS, costs.LOOK),
    **dict.fromkeys(MAPS, costs.MAP),
    **dict.fromkeys(CLOCKS, costs.CLOCK),
    **dict.fromkeys(SIGNALS, costs.SIGNAL),
    **dict.fromkeys(STARTS, costs.FORK),
    **dict.fromkeys(PROGRAMS, costs.EXEC),
    "futex": costs.WAIT,
}
BY_DESCRIPTOR = {"pipe": costs.PIPE, "socket": costs.SOCKET}
FAULTS, FILE_PAGES = "page faults", "pages of mapped files"
SWITCHES = "switches between tasks"

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Item:
    """One kind of work that the program demands of the kernel."""

    what: str  # its name in messages
    charges: Mapping[str, float]  # how many of each; negative where another charge includes it
    count: int
    adapted: int = 0  # how many of `count` the plan removes or makes cheaper

    @property
    def left(self) -> int:
        return self.count - self.adapted

    @property
    def is_fault(self) -> bool:
        return costs.FAULT in self.charges or costs.FILE_FAULT in self.charges

    @property
    def is_call(self) -> bool:
        return not self.is_fault and self.what != SWITCHES

    def nanoseconds(self, kernel: costs.Costs, *, adapted: bool) -> float:
        """The cost on a kernel, for the plain or the adapted program."""
        total = sum(number * kernel.of(charge) for charge, number in self.charges.items())
        if not adapted or not self.count:
            return total
        if self.is_fault:
            saved = total / self.count - kernel.of(costs.POPULATE)
            return total - self.adapted * max(saved, 0)
        return total * self.left / self.count


@dataclass(frozen=True)
class Demand:
    """The demand of the profiled run."""

    items: tuple[Item, ...]
    instructions: int

    @property
    def faults(self) -> int:
        return sum(item.count for item in self.items if costs.FAULT in item.charges)

    @property
    def calls(self) -> int:
        return sum(item.count for item in self.items if item.is_call)


def of(document: Document, plan: Body | None, output_bytes: int = 0) -> Demand:
    """The demand of a phases artefact; without a plan, of the plain program.

    Of the bytes written to files, `output_bytes` went to standard output. `kadence run` gives a
    guest's command a pipe there, which has no ring.
    """
    items = [*_faults(document, plan), *_calls(document, plan, output_bytes)]
    return Demand(tuple(item for item in items if item.count), document.total_instructions)


def of_phase(document: Document, phase: Phase) -> tuple[Item, ...]:
    """What the plain program demands in one phase."""
    called = _called(phase.transfers, _forked(document)).items()
    calls = [Item(what, each.charges, each.count) for what, each in called]
    return (*_touched(phase.memory.faults, phase.memory.file_pages), *calls)


def in_full(asked: Demand, switches: int) -> Demand:
    """The demand with each page's end, and with the switches of a measured run as an item.

    The calls that wait are then charged as calls.
    """
    items = [replace(item, charges=_in_full(item.charges)) for item in asked.items]
    # A switch takes two of the calls that are charged for waiting: one that waits, one that wakes.
    charges = {costs.WAIT: 2 * switches, costs.CALL: -2 * switches}
    return replace(asked, items=(*items, Item(SWITCHES, charges, switches)))


def _in_full(charges: Mapping[str, float]) -> Mapping[str, float]:
    found = {charge: number for charge, number in charges.items() if charge != costs.WAIT}
    if costs.WAIT in charges:
        found[costs.CALL] = found.get(costs.CALL, 0) + charges[costs.WAIT]
    if costs.FAULT in charges:
        found[costs.FREE] = charges[costs.FAULT]
    return found


# ---- system calls --------------------------------------------------------------------------------


@dataclass
class _Called:
    """The calls of one item."""

    count: int
    charges: defaultdict[str, float]


def _calls(document: Document, plan: Body | None, output_bytes: int) -> Iterator[Item]:
    """One item for each kind of call."""
    to_files = sum(call.bytes for call in document.transfers if _is_written_to_file(call))
    to_own_files = 1 - min(output_bytes / max(to_files, 1), 1.0)
    for what, called in _called(document.transfers, _forked(document)).items():
        share = _share_in_rings(document, plan) if plan and what == TO["file"] else 0.0
        adapted = round(share * to_own_files * called.count)
        yield Item(what, dict(called.charges), called.count, min(adapted, called.count))


def _is_written_to_file(call: Transfers) -> bool:
    return call.name in WRITING and call.descriptor == "file"


def _called(transfers: Iterable[Transfers], forked: float) -> dict[str, _Called]:
    """The calls by item; `forked` is the share of the starts that make processes."""
    found: dict[str, _Called] = {}
    for call in transfers:
        what, charged = _charged(call, forked)
        entry = found.setdefault(what, _Called(0, defaultdict(float)))
        entry.count += call.count
        for charge, number in charged.items():
            entry.charges[charge] += number
    return found


def _forked(document: Document) -> float:
    """The share of the calls that start tasks, beyond the number of threads."""
    started = sum(call.count for call in document.transfers if call.name in STARTS)
    processes = max(started - (document.concurrency.threads - 1), 0)
    return processes / started if started else 0.0


def _charged(call: Transfers, forked: float) -> tuple[str, Mapping[str, float]]:
    """The item that a call belongs to, and the call's charges."""
    for names, told, charge, page in (
        (WRITING, TO, costs.WRITE, costs.WRITTEN_PAGE),
        (READING, FROM, costs.READ, costs.READ_PAGE),
    ):
        if call.name in names and call.descriptor in told:
            what = told[call.descriptor]
            if call.descriptor != "file":
                return what, {BY_DESCRIPTOR[call.descriptor]: call.count}
            pages = call.bytes / PAGE_BYTES
            return what, {charge: call.count - pages, page: pages}
    if call.name == "close":
        return "other system calls", {}
    charge = BY_NAME.get(call.name, BY_DESCRIPTOR.get(call.descriptor, costs.CALL))
    if charge == costs.FORK:
        processes = forked * call.count
        return NAMES[charge], {charge: processes, costs.WAIT: call.count - processes}
    return NAMES.get(charge, "other system calls"), {charge: call.count}


NAMES = {
    costs.OPEN: "files opened",
    costs.LOOK: "paths looked up",
    costs.MAP: "calls that map or unmap memory",
    costs.CLOCK: "reads of the clock",
    costs.SIGNAL: "signals",
    costs.FORK: "threads and processes started",
    costs.EXEC: "programs started",
    costs.WAIT: "calls with which threads wait for one another",
    costs.PIPE: "other calls on pipes",
    costs.SOCKET: "other calls on sockets",
}


def _share_in_rings(document: Document, plan: Body) -> float:
    """The share of the phases' writes to files that the plan redirects into rings."""
    made = [
        (phase, written)
        for phase in document.phases
        for written in phase.writes
        if written.transfers.descriptor == "file"
    ]
    taken = sum(
        written.transfers.count
        for phase, written in made
        if any(_is_redirected(phase, written, site) for site in plan["io"]["sites"])
    )
    return taken / max(sum(written.transfers.count for _, written in made), 1)


def _is_redirected(phase: Phase, written: Writes, site: Body) -> bool:
    places = {(place.function, place.file or None) for place in written.places}
    return (
        site["phase"] == phase.number
        and (site["function"], site["file"]) in places
        and io_planning.redirected(written) in site["calls"]
    )


# ---- memory --------------------------------------------------------------------------------------


def _faults(document: Document, plan: Body | None) -> Iterator[Item]:
    planned = (0, 0) if plan is None else _pages_planned(document, plan)
    touched = _touched(document.memory.faults, document.memory.file_pages)
    for item, pages in zip(touched, planned, strict=True):
        yield replace(item, adapted=min(pages, item.count))


def _touched(faults: int, of_files: int) -> tuple[Item, Item]:
    """First touches of anonymous pages, and of pages of files."""
    return (
        Item(FAULTS, {costs.FAULT: faults}, faults),
        Item(FILE_PAGES, {costs.FILE_FAULT: of_files}, of_files),
    )


def _pages_planned(document: Document, plan: Body) -> tuple[int, int]:
    """The anonymous pages and the pages of files that the plan populates."""
    if plan["memory"]["mode"] == memory_planning.OFF:
        return 0, 0
    use, ahead = document.memory, plan["memory"]["ahead"]
    treated = [site for site in use.sites if _is_planned(site, plan)]
    left = [site.use for site in use.sites if site not in treated]
    of_files = sum(site.use.pages for site in treated if site.use.kind in FILES)
    anonymous = sum(site.use.pages for site in treated) - of_files
    anonymous += sum(used.pages for used in (*use.ranges, *left) if _is_ahead(used, ahead))
    return anonymous, of_files


def _is_planned(site: SiteUse, plan: Body) -> bool:
    places = {(place.function, place.file, place.cfg_checksum) for place in site.places}
    return site.own and any(
        (planned["function"], planned["file"] or "", planned["cfg_checksum"] or "") in places
        and planned["line"] in (None, site.line)
        for planned in plan["memory"]["sites"]
    )


def _is_ahead(used: Use, ahead: list[str]) -> bool:
    ordered = used.order not in (SCATTERED, None)
    return ordered and memory_planning.KIND_OF_RANGE.get(used.kind) in ahead
