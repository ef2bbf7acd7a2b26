# SPDX-License-Identifier: GPL-2.0-or-later
"""The course of a tune: a race of single settings, races of combinations, and confirming rounds.

Every step reads and writes the state, so that a tune that was killed continues with the next round.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kadence.base.terminal import tell
from kadence.measurement.measure import PLAIN
from kadence.tune import candidates as kinds
from kadence.tune import cost, race, runs
from kadence.tune.candidates import JOINED, Candidate
from kadence.tune.makes import Makes
from kadence.tune.model import LEAST_GAIN
from kadence.tune.race import Standing
from kadence.tune.runs import Contestant, RefusedError, Track
from kadence.tune.state import Confirming, Contest, State

SINGLE = 0  # the number of the first race
NO_BUDGET = "the budget ended before its first round"


@dataclass
class Course:
    """A tune under way."""

    candidates: Sequence[Candidate]
    makes: Makes
    track: Track
    by: str  # what is compared
    budget: float
    state: State
    keep: Callable[[State], None]  # writes the state
    patient: bool = True  # repeat disturbed rounds
    contestants: dict[str, Contestant] = field(default_factory=dict)
    warm: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Do all that is not done yet."""
        names = [entry.name for entry in self.state.entries if not entry.out]
        incumbent = PLAIN
        for number in range(1 + cost.MOST_STEPS):
            self._race(number, names, incumbent)
            names = self._combinations(number)
            if not names:
                break
            incumbent = names[0]
        self._confirm()
        self._put(replace(self.state, finished=True))

    # ---- races -----------------------------------------------------------------------------------

    def _race(self, number: int, names: Sequence[str], incumbent: str) -> None:
        if len(self.state.contests) == number:
            begun = Contest(tuple(names), incumbent)
            self._put(replace(self.state, contests=(*self.state.contests, begun)))
        contest = self.state.contests[number]
        while not contest.over:
            standing = self.standing(number)
            left = self._left(standing)
            if standing.settled or not left or not self._can_afford(left):
                self._put(self.state.contest_over())
                return
            self._warm_up(left)
            left = self._left(standing)
            if left:
                self._round(left, f"{number} {len(contest.rounds)}")
                self._tell(number, standing)
            contest = self.state.contests[number]

    def standing(self, number: int) -> Standing:
        """The state of a race."""
        contest = self.state.contests[number]
        rounds = runs.counted(contest.rounds, self.by)
        return race.replayed(contest.names, rounds, contest.incumbent)

    def _left(self, standing: Standing) -> list[str]:
        return [name for name in standing.left if name not in self.state.refused]

    def _round(self, left: Sequence[str], seed: str) -> None:
        contestants = [self.contestant(name) for name in (PLAIN, *left)]
        began = time.monotonic()
        patient = self.patient and self.state.repeats < cost.MOST_REPEATS
        found = runs.take_round(
            self.track, contestants, f"{self.state.seed} {seed}", patient=patient
        )
        state = self.state.with_round(found.round)
        state = replace(state, spent=state.spent + time.monotonic() - began)
        self._put(replace(state, refused={**state.refused, **found.refused}))
        for name, reason in found.refused.items():
            tell(f"{name} is refused: {reason}")

    def _tell(self, number: int, before: Standing) -> None:
        """Report a round, and who was dropped after it."""
        now = self.standing(number)
        last = self.state.contests[number].rounds
        busy = f", beside other work ({last[-1].others:.0%})" * (last[-1].others >= 0.1)
        tell(f"round {len(last)}: {len(now.left)} left, {now.leader} leads{busy}")
        for name, other in now.dropped.items():
            if name not in before.dropped:
                tell(f"{name} is dropped: surely not 1 % better than {told(other)}")

    def _warm_up(self, left: Sequence[str]) -> None:
        """Build what is not built, and run it once with its check, which fills caches."""
        for name in (PLAIN, *left):
            if name in self.warm:
                continue
            began = time.monotonic()
            reason = self._warmed(name)
            self.warm.add(name)
            refused = {name: reason} if reason else {}
            spent = self.state.spent + time.monotonic() - began
            self._put(replace(self.state, spent=spent, refused={**self.state.refused, **refused}))

    def _warmed(self, name: str) -> str:
        """Why a candidate is refused before its first round; empty if it is not."""
        if name != PLAIN and not self._can_build(name):
            return NO_BUDGET
        try:
            contestant = self.contestant(name)
            self.track.run(contestant)
            self.track.check(contestant)
        except RefusedError as error:
            if name == PLAIN:
                raise
            tell(f"{name} is refused: {error.reason}")
            return error.reason
        return ""

    # ---- combinations ----------------------------------------------------------------------------

    def _combinations(self, number: int) -> list[str]:
        """Whose race follows: the choice of a race, and it with others; empty if no race follows.

        Each race adds one setting to the choice of the race before, as long as that gains.
        """
        if len(self.state.contests) > number + 1:
            return list(self.state.contests[number + 1].names)
        choice = self.standing(number).choice
        if choice in (PLAIN, self.state.contests[number].incumbent, *self.state.refused):
            return []
        partners = self._partners(choice)[: cost.MOST_COMBINATIONS]
        names = [choice, *(JOINED.join((choice, partner)) for partner in partners)]
        return names if partners and self._can_afford(names, cost.FEWEST_ROUNDS) else []

    def _partners(self, choice: str) -> list[str]:
        """Single settings that seem to gain, each the best of its dimension, the best first."""
        rounds = runs.counted(self.state.contests[SINGLE].rounds, self.by)
        seeming = {
            name: race.seeming(rounds, name)
            for name in self.state.contests[SINGLE].names
            if name not in self.state.refused
            and kinds.can_combine(self._candidate(choice), self._candidate(name))
            and race.seeming(rounds, name) <= 1 - LEAST_GAIN
        }
        best: dict[str, str] = {}
        for name in sorted(seeming, key=seeming.__getitem__):
            best.setdefault(self._candidate(name).dimension, name)
        return list(best.values())

    # ---- confirming ------------------------------------------------------------------------------

    def _confirm(self) -> None:
        """Measure the leader of the last race afresh, if it is not the plain program."""
        if self.state.confirming is None and (found := self._finalist()) is not None:
            self._put(replace(self.state, confirming=found))
        while (confirming := self.state.confirming) is not None:
            name, done = confirming.name, len(confirming.rounds)
            if done >= confirming.planned or self.state.spent > self.budget:
                return
            self._warm_up([name])
            if name in self.state.refused:
                return
            self._round([name], f"confirming {done}")
            tell(f"confirming {name}: {done + 1} of {confirming.planned} rounds")

    def _finalist(self) -> Confirming | None:
        """The leader of the last race that had a round, and how many rounds confirm it."""
        for number in reversed(range(len(self.state.contests))):
            name = self.standing(number).choice
            if name != PLAIN and name not in self.state.refused:
                rounds = runs.counted(self.state.contests[number].rounds, self.by)
                planned = race.confirming_rounds(rounds, name)
                return Confirming(name, self._affordable(planned))
        return None

    def _affordable(self, rounds: int) -> int:
        """As many of these rounds as the rest of the budget is enough for; 0 if it is too few."""
        left = self.budget - self.state.spent
        affordable = min(rounds, int(left / (2 * self.track.plain_seconds)))
        return affordable if affordable >= race.FEWEST_CONFIRMING else 0

    # ---- all -------------------------------------------------------------------------------------

    def _can_afford(self, left: Sequence[str], rounds: int = 1) -> bool:
        """Whether the budget is enough for more rounds, and for confirming afterwards."""
        plain = self.track.plain_seconds
        done = self.state.rounds()
        last = done[-1].costs if done else {}
        a_round = sum(last[name].seconds if name in last else plain for name in (PLAIN, *left))
        return self.state.spent + rounds * a_round + cost.confirming(plain) <= self.budget

    def _can_build(self, name: str) -> bool:
        """Whether the budget is enough for building this candidate, and for confirming."""
        plain = self.track.plain_seconds
        kernel = cost.KERNEL_SECONDS if self._candidate(name).kernel is not None else 0.0
        needed = cost.WARMING_RUNS * plain + kernel + cost.confirming(plain)
        return self.state.confirming is not None or self.state.spent + needed <= self.budget

    def contestant(self, name: str) -> Contestant:
        """The contestant of that name, built at the first call."""
        if name not in self.contestants:
            self.contestants[name] = (
                self.makes.plain()
                if name == PLAIN
                else self.makes.contestant(self._candidate(name))
            )
        return self.contestants[name]

    def _candidate(self, name: str) -> Candidate:
        return find(self.candidates, name)

    def _put(self, state: State) -> None:
        self.state = state
        self.keep(state)


def find(candidates: Sequence[Candidate], name: str) -> Candidate:
    """The candidate of that name, which may be a combination's."""
    by_name = {each.name: each for each in candidates}
    found, *others = (by_name[part] for part in name.split(JOINED))
    for other in others:
        found = kinds.combined(found, other)
    return found


def told(name: str) -> str:
    """A contestant in a sentence."""
    return "the plain program" if name == PLAIN else name
