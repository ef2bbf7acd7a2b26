# SPDX-License-Identifier: GPL-2.0-or-later
"""All rounds of a tune, in a file that is whole after every round, whenever Kadence is killed.

The file is replaced by a new one, which is written beside it. Who is still in the race is not in
it: that follows from the rounds.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from kadence.base import artefact, codec
from kadence.base.codec import FLAT
from kadence.base.errors import ArtefactError, UsageError
from kadence.tune.model import Predicted

CHECKSUM = "checksum"
REMEDY = "use --again to measure from the beginning"


@dataclass(frozen=True)
class Belongs:
    """What a state holds for; a resumed tune must agree in all of it."""

    build: str
    program: str  # how kadence.toml runs and judges it
    machine: str
    candidates: str
    comparison: str
    kadence: str


# Field of Belongs -> what another value of it means.
OTHERS = {
    "build": "another build of the program",
    "program": "another way of running or judging the program in kadence.toml",
    "machine": "another machine, or another kernel of this one",
    "candidates": "another list of candidates",
    "comparison": "another way to compare (--by)",
    "kadence": "another version of Kadence",
}


@dataclass(frozen=True)
class Cost:
    """What one run cost."""

    seconds: float
    processor_seconds: float
    resident_bytes: int  # the peak


@dataclass(frozen=True)
class Round:
    """One run of each contestant that was left, in this order."""

    order: tuple[str, ...]
    costs: dict[str, Cost]
    others: float  # other work's share of the processors
    attempts: int  # 2: the first attempt was disturbed, and is not kept

    def __post_init__(self) -> None:
        if sorted(self.order) != sorted(self.costs) or not self.costs:
            raise ValueError("its order and its costs do not name the same candidates")
        if any(min(cost.seconds, cost.processor_seconds) < 0 for cost in self.costs.values()):
            raise ValueError("a cost is negative")


@dataclass(frozen=True)
class Contest:
    """A race of all single settings, or of combinations of them."""

    names: tuple[str, ...]
    incumbent: str  # stays until another is surely better
    rounds: tuple[Round, ...] = ()
    over: bool = False  # settled, or the budget ended


@dataclass(frozen=True)
class Confirming:
    """Fresh rounds of the winner of the last contest."""

    name: str
    planned: int
    rounds: tuple[Round, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A candidate, its prediction, and why it is not in the race (empty if it is)."""

    name: str
    predicted: Predicted | None
    out: str


@dataclass(frozen=True)
class State:
    """All that a tune has done."""

    belongs: Belongs
    seed: int
    plain_seconds: float  # of one run
    entries: tuple[Entry, ...]
    spent: float  # seconds of builds and runs
    refused: dict[str, str]  # name -> why it may not win
    contests: tuple[Contest, ...]
    confirming: Confirming | None
    repeats: int  # rounds that were repeated because other work disturbed them
    finished: bool

    def with_round(self, done: Round) -> "State":
        """Add a round to the contest, or to the confirming rounds, that is under way."""
        repeats = self.repeats + done.attempts - 1
        if self.confirming is not None:
            rounds = (*self.confirming.rounds, done)
            return replace(
                self, repeats=repeats, confirming=replace(self.confirming, rounds=rounds)
            )
        *earlier, contest = self.contests
        contest = replace(contest, rounds=(*contest.rounds, done))
        return replace(self, repeats=repeats, contests=(*earlier, contest))

    def contest_over(self) -> "State":
        """The last contest has ended."""
        *earlier, contest = self.contests
        return replace(self, contests=(*earlier, replace(contest, over=True)))

    def rounds(self) -> list[Round]:
        """All rounds so far."""
        contests = [done for contest in self.contests for done in contest.rounds]
        return [*contests, *(self.confirming.rounds if self.confirming else ())]


@dataclass(frozen=True)
class _Document:
    checksum: str
    state: Annotated[State, FLAT]


def save(path: Path, state: State, build_id: str | None, command: Sequence[str]) -> None:
    """Replace the file. After a crash there is the former state or this one, never a part."""
    body = codec.encode(state)
    artefact.write(path, artefact.RACE, build_id, command, body | {CHECKSUM: _checksum(body)})


def load(path: Path) -> State:
    """Read a state, wherever it belongs; raise ArtefactError if it is damaged."""
    document = artefact.read(path, artefact.RACE)
    found = artefact.decode(_Document, document, str(path), REMEDY)
    if found.checksum != _checksum(codec.encode(found.state)):
        raise ArtefactError(f"{path} is damaged: its checksum is wrong; {REMEDY}")
    return found.state


def require(path: Path, found: State, here: Belongs) -> None:
    """Refuse a state that belongs elsewhere; name the first difference."""
    for field, other in OTHERS.items():
        if getattr(found.belongs, field) != getattr(here, field):
            raise UsageError(f"{path} belongs to {other}; {REMEDY}")


def remove_remains(path: Path) -> None:
    """Remove temporary files that a killed save() left."""
    for remains in path.parent.glob(f".{path.name}.*"):
        remains.unlink(missing_ok=True)


def _checksum(body: Mapping[str, Any]) -> str:
    content = json.dumps(body, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(content.encode("ascii")).hexdigest()
