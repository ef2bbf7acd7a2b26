# SPDX-License-Identifier: GPL-2.0-or-later
"""The decisions of trials on simulated visits with planted effects.

bench/trials/simulate.c runs libkadapt's own decisions, in worlds that differ in noise, drift,
autocorrelation, disturbed visits, carry-over and unequal work.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from bench.base.rows import aligned
from kadence.base import resources

VISITS = 400
EFFECTS = (-0.10, -0.03, -0.01, 0.0, 0.01, 0.05, 0.08, 0.30)
COLUMNS = (
    *("world", "effect", "claimed", "dropped", "interval covers", "blocks"),
    *("trying costs", "above 1 %", "visits until off", "later than 10"),
)
# Goals of the shares of runs.
WRONG, FOUND, COVER, ABOVE, LATE = 0.05, 0.90, (0.93, 0.97), 0.01, 0.05


@dataclass(frozen=True)
class World:
    """How visits differ; shares of a visit, except for the wash-out's visits."""

    name: str
    noise: float = 0.03
    drift: float = 0.0
    autocorrelation: float = 0.0
    tail: float = 0.0
    carry: float = 0.0
    washout: int = 0
    work: float = 0.0

    def words(self) -> list[str]:
        """The simulation's arguments."""
        values = (self.noise, self.drift, self.autocorrelation, self.tail, self.carry)
        return [str(value) for value in (*values, self.washout, self.work)]


WORLDS = (
    World("calm"),
    World("quiet", noise=0.01),
    World("noisy", noise=0.10),
    World("drift", drift=0.10),
    World("autocorrelated", autocorrelation=0.7),
    World("2 % of visits disturbed, up to tenfold", tail=0.02),
    World("half of a level carries over", carry=0.5, washout=1),
    World("work differs by half", work=0.5),
    World("all of these", 0.02, 0.10, 0.7, 0.02, 0.5, 1, 0.5),
)
# Goals are judged where an effect of 3 % can be found at all: noise of at most 3 %.
JUDGED = tuple(world for world in WORLDS if world.noise <= 0.03)


@dataclass(frozen=True)
class Found:
    """What the runs of one world and one effect found, as shares of the runs."""

    world: World
    effect: float
    told: dict[str, float]

    @property
    def claimed(self) -> float:
        """Claims, right or wrong."""
        return self.told["helps"] + self.told["hurts"]

    def row(self) -> list[str]:
        """The cells of the table."""
        told = self.told
        hurts = self.effect > 0
        return [
            *(self.world.name, f"{self.effect:+.0%}", f"{self.claimed:.1%}"),
            *(f"{told['dropped']:.1%}", f"{told['covered']:.1%}", f"{told['blocks']:.0f}"),
            *(f"{told['regret']:.2%}", f"{told['over']:.2%}"),
            *(f"{told['until']:.1f}" if hurts else "", f"{told['late']:.1%}" if hurts else ""),
        ]

    def misses(self) -> Iterator[str]:
        """The goals that are missed."""
        told, where = self.told, f"{self.world.name}, {self.effect:+.0%}"
        if self.effect == 0 and self.claimed > WRONG:
            yield f"{where}: {self.claimed:.1%} of the runs claim what is not there"
        if self.effect in (-0.10, -0.03) and told["helps"] < FOUND:
            yield f"{where}: found in {told['helps']:.1%} of the runs"
        if not COVER[0] <= told["covered"] <= COVER[1]:
            yield f"{where}: intervals cover in {told['covered']:.1%} of the runs"
        if told["over"] > ABOVE:
            yield f"{where}: trying costs more than 1 % in {told['over']:.1%} of the runs"
        if self.effect >= 0.08 and told["late"] > LATE:
            yield f"{where}: turned off after more than 10 visits in {told['late']:.1%} of the runs"


def found(world: World, effect: float, runs: int) -> Found:
    """Simulate the runs."""
    program = resources.built("bench/trials/simulate")
    command = [str(program), str(runs), str(VISITS), str(effect), *world.words()]
    told = subprocess.run(command, check=True, capture_output=True).stdout
    return Found(world, effect, json.loads(told))


def main(runs: str = "10000") -> int:
    """Print the table, and then the goals that are missed."""
    all_found = [found(world, effect, int(runs)) for world in WORLDS for effect in EFFECTS]
    rows = [list(COLUMNS), *(each.row() for each in all_found)]
    print(
        f"{int(runs):,} simulated runs of {VISITS} visits in each line; the true effect is planted"
    )
    print("\n".join(aligned(rows)))
    missed = [miss for each in all_found if each.world in JUDGED for miss in each.misses()]
    print("\n".join(["", *missed]) if missed else "\nall goals are met")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
