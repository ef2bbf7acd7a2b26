# SPDX-License-Identifier: GPL-2.0-or-later
"""What a tune costs at most, before it starts, and how many candidates a budget is enough for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kadence.base.errors import UsageError
from kadence.tune import race
from kadence.tune.candidates import Candidate
from kadence.tune.runs import PATIENCE
from kadence.tune.state import Entry

MOST_COMBINATIONS = 3  # with which one setting is raced at once
MOST_STEPS = 3  # races of combinations
MOST_REPEATS = 5  # rounds that are repeated because other work disturbed them
# Rounds after which a race can end, for a budget that is too small for more.
FEWEST_ROUNDS = 9
KERNEL_SECONDS = 300.0  # a build of a kernel here takes two to five minutes
WARMING_RUNS = 2  # before its rounds, each candidate runs once, and its check
RESERVE = 1.25  # of what the confirming rounds should take


@dataclass(frozen=True)
class Cost:
    """Upper limits."""

    builds: int  # of the program
    kernels: int
    runs: int
    seconds: float  # of the runs and the kernels
    build_seconds: float  # of the program's builds; 0 if that is not known

    def __str__(self) -> str:
        if not self.runs:
            return "there is nothing to build and to run"
        builds = f"{self.builds} builds of the program"
        kernels = f", {self.kernels} kernels" * bool(self.kernels)
        known = "" if self.build_seconds or not self.builds else " and the time of the builds"
        total = self.seconds + self.build_seconds
        return f"at most {builds}{kernels} and {self.runs:,} runs: {_clock(total)}{known}"


def of(
    entries: Sequence[Entry], candidates: Sequence[Candidate], plain: float, build: float
) -> Cost:
    """The cost of racing all entries that are not out, with all rounds, and of confirming one."""
    by_name = {each.name: each for each in candidates}
    racing = [entry for entry in entries if not entry.out]
    if not racing:
        return Cost(0, 0, 0, 0.0, 0.0)
    builds = sum(by_name[entry.name].needs_build for entry in racing)
    kernels = sum(by_name[entry.name].kernel is not None for entry in racing)
    dimensions = len({by_name[entry.name].dimension for entry in racing})
    # Each race of combinations adds one of the dimensions that are left.
    combinations = [min(left, MOST_COMBINATIONS) for left in range(1, dimensions)][-MOST_STEPS:]
    a_round = [plain, *(_seconds(entry, plain) for entry in racing)]
    rounds = race.MOST_ROUNDS + WARMING_RUNS
    others = sum(partners + 2 for partners in combinations) * rounds
    others += 2 * race.MOST_CONFIRMING
    repeats = MOST_REPEATS * len(a_round)
    seconds = sum(a_round) * (rounds + MOST_REPEATS) + max(a_round) * others
    builds += sum(combinations) * bool(builds)
    return Cost(
        builds=builds,
        kernels=kernels,
        runs=len(a_round) * rounds + others + repeats,
        seconds=seconds + kernels * KERNEL_SECONDS,
        build_seconds=builds * build,
    )


def _seconds(entry: Entry, plain: float) -> float:
    """The time of one run, at worst."""
    worst = entry.predicted.high if entry.predicted else 1.0
    return plain * min(max(worst, 1.0), PATIENCE)


def within(
    budget: float, entries: Sequence[Entry], candidates: Sequence[Candidate], plain: float
) -> list[Entry]:
    """Take out the entries for which the budget is too small, the least promising first."""
    by_name = {each.name: each for each in candidates}
    kept = list(entries)
    while (needed := least(kept, candidates, plain)) > budget:
        racing = [entry for entry in kept if not entry.out and entry.predicted]
        if len(racing) < 2:
            raise UsageError(
                f"a budget of {budget:g} s is too small: one run takes {plain:.3g} s, and the "
                f"least is {needed:.0f} s; give a larger --budget, or a shorter run.command"
            )
        worst = max(racing, key=lambda entry: _rank(entry, by_name[entry.name]))
        kept[kept.index(worst)] = replace(worst, out="the budget is too small for it")
    return kept


def _rank(entry: Entry, candidate: Candidate) -> tuple[bool, float, float]:
    """Kernels go first, because a build takes minutes; then what is predicted to gain least."""
    assert entry.predicted is not None
    return candidate.kernel is not None, entry.predicted.ratio, entry.predicted.low


def least(entries: Sequence[Entry], candidates: Sequence[Candidate], plain: float) -> float:
    """The seconds that the shortest race and its confirming rounds take, as expected."""
    by_name = {each.name: each for each in candidates}
    racing = [entry for entry in entries if not entry.out]
    if not racing:
        return 0.0
    ratios = [entry.predicted.ratio if entry.predicted else 1.0 for entry in racing]
    kernels = sum(by_name[entry.name].kernel is not None for entry in racing)
    a_round = plain * (1 + sum(ratios))
    return a_round * (FEWEST_ROUNDS + WARMING_RUNS) + confirming(plain) + kernels * KERNEL_SECONDS


def confirming(plain: float) -> float:
    """The seconds that are kept for the fewest confirming rounds."""
    return RESERVE * 2 * plain * race.FEWEST_CONFIRMING


def _clock(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
