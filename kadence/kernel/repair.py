# SPDX-License-Identifier: GPL-2.0-or-later
"""Delta debugging: finds the few dropped symbols that have to be put back.

This is a pure search. An oracle says whether the kernel works with a given set put back. The search
puts back batch after batch until the kernel works. If asked, it then minimises the set by ddmin,
with "it works" in the place of "it fails".

Source of ddmin: Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE
Transactions on Software Engineering 28(2), 2002, section 3.2.

The search assumes only that the oracle's answer to the same set is always the same. Several symbols
may help only together, and putting back more may break the kernel again. An oracle that has used up
its budget raises `BudgetSpent`; the search then ends with the best set found.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

Oracle = Callable[[frozenset[str]], bool]


class BudgetSpent(Exception):  # noqa: N818 - it ends a search; nothing is wrong
    """The oracle has used up its budget."""


class Outcome(Enum):
    """How a search ended."""

    MINIMAL = "minimal"  # every symbol was shown to be needed.
    WORKS = "works"  # it works; not every symbol was shown to be needed.
    HOPELESS = "hopeless"  # it fails even with all symbols put back.
    EXHAUSTED = "exhausted"  # the budget ended before it worked.


@dataclass(frozen=True)
class Repair:
    """The symbols to put back, in the order of the candidates."""

    outcome: Outcome
    put_back: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        return self.outcome in {Outcome.MINIMAL, Outcome.WORKS}


@dataclass
class _Memory:
    """Asks the oracle no question twice, and keeps the smallest set that worked."""

    oracle: Oracle
    answers: dict[frozenset[str], bool] = field(default_factory=dict)
    best: list[str] | None = None

    def works(self, chosen: Sequence[str]) -> bool:
        key = frozenset(chosen)
        if key not in self.answers:
            self.answers[key] = self.oracle(key)
        if self.answers[key] and (self.best is None or len(chosen) < len(self.best)):
            self.best = list(chosen)
        return self.answers[key]


def repair(batches: Iterable[Sequence[str]], oracle: Oracle, *, minimise: bool = True) -> Repair:
    """Find the symbols to put back; the best candidates come first, and {} is known to fail.

    A batch is requested only after all earlier batches failed, so it may depend on their failures.
    """
    memory = _Memory(oracle, {frozenset(): False})
    try:
        parts = _grow(batches, memory)
        if parts is None:
            return Repair(Outcome.HOPELESS)
        found = [candidate for part in parts for candidate in part]
        if not minimise and len(found) > 1:
            return Repair(Outcome.WORKS, tuple(found))
        return Repair(Outcome.MINIMAL, tuple(_minimise(parts, memory)))
    except BudgetSpent:
        if memory.best is None:
            return Repair(Outcome.EXHAUSTED)
        return Repair(Outcome.WORKS, tuple(memory.best))


def _grow(batches: Iterable[Sequence[str]], memory: _Memory) -> list[list[str]] | None:
    """Grow a set until it works; return the last batch and the earlier ones as two parts."""
    grown: list[str] = []
    for batch in batches:
        added = [candidate for candidate in dict.fromkeys(batch) if candidate not in grown]
        if added and memory.works(grown + added):
            # The last batch is the most likely cause, so ddmin tries that part alone first.
            return [part for part in (added, grown) if part]
        grown += added
    return None


def _minimise(parts: list[list[str]], memory: _Memory) -> list[str]:
    """ddmin: reduce to a working subset of which no single element can be left out."""
    current = [candidate for part in parts for candidate in part]
    while len(current) > 1:
        reduced = _reduced(parts, memory)
        if reduced is not None:
            current, parts = reduced
        elif len(parts) < len(current):
            parts = _split(current, 2 * len(parts))
        else:
            break
    return current


def _reduced(parts: list[list[str]], memory: _Memory) -> tuple[list[str], list[list[str]]] | None:
    """One step of ddmin: reduce to a part that works alone, or to all parts but one."""
    if len(parts) == 1:
        return None
    for part in parts:
        if memory.works(part):
            return part, _split(part, 2)
    for left_out in parts if len(parts) > 2 else ():
        rest = [part for part in parts if part is not left_out]
        complement = [candidate for part in rest for candidate in part]
        if memory.works(complement):
            return complement, _split(complement, max(len(rest), 2))
    return None


def _split(candidates: Sequence[str], count: int) -> list[list[str]]:
    """Neighbouring parts of nearly equal size, at most as many as there are candidates."""
    count = min(count, len(candidates))
    edges = [index * len(candidates) // count for index in range(count + 1)]
    return [list(candidates[a:b]) for a, b in zip(edges[:-1], edges[1:], strict=True)]
