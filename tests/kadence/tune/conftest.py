# SPDX-License-Identifier: GPL-2.0-or-later
"""A tune of contestants with planted costs, in which nothing runs."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kadence.measurement.measure import PLAIN
from kadence.tune import course, runs, state
from kadence.tune.candidates import JOINED, REFERENCE, Candidate
from kadence.tune.course import Course
from kadence.tune.model import Predicted
from kadence.tune.runs import Contestant, Outcome, RefusedError
from kadence.tune.state import Belongs, Cost, Entry, Round, State

HERE = Belongs("b", "p", "m", "c", runs.SECONDS, "k")
NOISE = 0.01


@dataclass
class Makes:
    """Contestants without builds; some cannot be built."""

    candidates: Sequence[Candidate]
    unbuilt: Mapping[str, str]
    made: list[str] = field(default_factory=list)

    def plain(self) -> Contestant:
        return Contestant(REFERENCE, Path())

    def contestant(self, candidate: Candidate) -> Contestant:
        self.made.append(candidate.name)
        if candidate.name in self.unbuilt:
            raise RefusedError(self.unbuilt[candidate.name])
        return Contestant(candidate, Path())


@dataclass
class Track:
    """A program whose runs cost nothing here."""

    plain_seconds: float = 1.0
    ran: list[str] = field(default_factory=list)

    def run(self, contestant: Contestant) -> None:
        self.ran.append(contestant.name)

    def check(self, contestant: Contestant) -> None:
        self.ran.append(f"check of {contestant.name}")


@dataclass
class Planted:
    """A tune with known costs. `fails` has the rounds of its race in which a candidate fails."""

    truth: dict[str, float]
    path: Path
    unbuilt: dict[str, str] = field(default_factory=dict)
    fails: dict[str, int] = field(default_factory=dict)
    budget: float = 1e6
    round_seconds: float = 0.0  # that each round adds to what was spent
    saves: int = 0
    stop_at: int | None = None  # the save at which the user interrupts
    after_saving: bool = True

    @property
    def candidates(self) -> list[Candidate]:
        dimensions = {"a": "allocator", "b": "compiler", "c": "placement"}
        return [
            Candidate(name, dimensions[name[0]], f"setting {name}", environment={name: "1"})
            for name in self.truth
            if JOINED not in name
        ]

    def begin(self) -> State:
        entries = tuple(
            Entry(each.name, Predicted(0.95, 0.5, 1.1, ""), "") for each in self.candidates
        )
        return State(HERE, 42, 1.0, entries, 0.0, {}, (), None, 0, False)

    def keep(self, new: State) -> None:
        self.saves += 1
        stops = self.saves == self.stop_at
        if stops and not self.after_saving:
            raise KeyboardInterrupt
        state.save(self.path, new, None, [])
        if stops:
            raise KeyboardInterrupt

    def course(self, found: State) -> Course:
        makes: Any = Makes(self.candidates, self.unbuilt)
        track: Any = Track()
        return Course(self.candidates, makes, track, runs.SECONDS, self.budget, found, self.keep)

    def take_round(
        self, _track: Track, contestants: Sequence[Contestant], seed: str, *, patient: bool
    ) -> Outcome:
        """The same costs for the same round, whenever it is run."""
        number = int(seed.split()[-1])
        refused = {
            each.name: "its output is another"
            for each in contestants
            if self.fails.get(each.name) == number
        }
        names = [each.name for each in contestants if each.name not in refused]
        costs = {name: self._cost(name, seed) for name in names}
        return Outcome(Round(tuple(names), costs, 0.0, 1), refused)

    def _cost(self, name: str, seed: str) -> Cost:
        drift = random.Random(seed).gauss(0, 0.05)
        noise = random.Random(f"{seed} {name}").gauss(0, NOISE)
        truth = 1.0 if name == PLAIN else self._truth(name)
        seconds = truth * math.exp(drift + noise)
        return Cost(seconds, seconds, 1 << 20)

    def _truth(self, name: str) -> float:
        if name in self.truth:
            return self.truth[name]
        return math.prod(self.truth[part] for part in name.split(JOINED))

    def run(self) -> Course:
        """The whole tune, without interruption."""
        made = self.course(self.begin())
        made.run()
        return made


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Planted]:
    """Make a tune with planted costs."""

    def make(truth: dict[str, float], **options: Any) -> Planted:
        found = Planted(truth, tmp_path / "race.json", **options)
        monkeypatch.setattr(course.runs, "take_round", found.take_round)
        if found.round_seconds:
            ticks = iter(range(1 << 30))
            clock = lambda: next(ticks) * found.round_seconds  # noqa: E731
            monkeypatch.setattr(course.time, "monotonic", clock)
        return found

    return make
