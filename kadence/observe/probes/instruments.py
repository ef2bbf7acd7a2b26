# SPDX-License-Identifier: GPL-2.0-or-later
"""Which functions of a kernel are instrumented, and what is kept of each."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from kadence.base.errors import UsageError
from kadence.kadapt.live.btf import Types
from kadence.kadapt.live.registers import bytes_of_result, has_simple_call

MOST = 4096  # KADAPT_PROBE_FUNCTIONS
CODE = frozenset("tTwW")
# How tracepoints are named among functions, and the kernel's names of them.
POINT, POINT_SYMBOL = "tracepoint:", "__tracepoint_"
LANDING_PAD_BYTES = 4  # of endbr64, which may precede the tracer's instruction


class Kind(IntEnum):
    """What is kept: enum kadapt_probe_kind."""

    COUNT = 0
    TIME = 1
    BYTES_LONG = 2
    BYTES_INT = 3
    POINT = 4  # of a tracepoint


BYTES = {0: Kind.TIME, 4: Kind.BYTES_INT, 8: Kind.BYTES_LONG}


@dataclass(frozen=True)
class Instrument:
    """A function or a tracepoint with its instrument."""

    function: str
    address: int
    kind: Kind


@dataclass(frozen=True)
class Kernel:
    """What a kernel says of its functions."""

    name: str
    kallsyms: Sequence[str]
    traced: frozenset[int]  # where the function tracer can call something
    types: Types | None  # None: nothing can be timed, unless `kinds` says so
    kinds: Mapping[str, Kind] | None = None  # by function, of kernels that know them

    def functions(self) -> Iterable[tuple[str, int]]:
        """The functions that can be instrumented, with their addresses."""
        for line in self.kallsyms:
            address, code, name, *_module = line.split()
            place = int(address, 16)
            if code in CODE and {place, place + LANDING_PAD_BYTES} & self.traced:
                yield name, place

    def kind_of(self, function: str) -> Kind:
        """What can be kept of the function."""
        if self.kinds is not None:
            return self.kinds.get(function, Kind.COUNT)
        if self.types is None or not has_simple_call(self.types, function):
            return Kind.COUNT
        return BYTES[bytes_of_result(self.types, function)]

    def points(self) -> Iterable[tuple[str, int]]:
        """The tracepoints of the kernel itself, with their addresses."""
        for line in self.kallsyms:
            address, _, name, *module = line.split()
            if name.startswith(POINT_SYMBOL) and not module:
                yield POINT + name.removeprefix(POINT_SYMBOL), int(address, 16)


def choose(
    kernel: Kernel, patterns: Sequence[str], *, only_count: bool = False
) -> list[Instrument]:
    """The instruments of all functions that match, as matching() finds them.

    Raises UsageError if a pattern matches nothing, or all too much.
    """
    found = matching(kernel, patterns, only_count=only_count)
    if len(found) > MOST:
        raise UsageError(
            f"{len(found):,} functions match, and at most {MOST:,} can be observed at once; "
            "give narrower patterns with --functions"
        )
    return found


def matching(
    kernel: Kernel, patterns: Sequence[str], *, only_count: bool = False
) -> list[Instrument]:
    """The instruments of all functions, or tracepoints, that match a pattern of the shell's.

    A function is only counted if its arguments or its result may be outside of registers, because
    a timed call moves the stack. Raises UsageError if a pattern matches nothing.
    """
    found: dict[int, Instrument] = {}
    functions = list(kernel.functions())
    points = list(kernel.points())
    for pattern in patterns:
        candidates = points if pattern.startswith(POINT) else functions
        matching = [each for each in candidates if fnmatch.fnmatchcase(each[0], pattern)]
        if not matching:
            raise UsageError(f"no function of {kernel.name} that can be traced matches {pattern}")
        for name, address in matching:
            kind = Kind.COUNT if only_count else kernel.kind_of(name)
            if name.startswith(POINT):
                kind = Kind.POINT
            found[address] = Instrument(name, address, kind)
    return sorted(found.values(), key=lambda each: each.address)


def timed(kernel: Kernel, counted: Instrument) -> Instrument:
    """The same function, timed if that is possible."""
    return replace(counted, kind=kernel.kind_of(counted.function))


def listed(instruments: Sequence[Instrument]) -> str:
    """The file that probe.c reads."""
    return "".join(f"{each.address:x} {each.kind:d}\n" for each in instruments)
