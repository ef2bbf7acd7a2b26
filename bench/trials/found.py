# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges what trials did to whole runs, and counts what records of trials say."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

from kadence.base.statistics import Estimate
from kadence.phases.plan.trials import Arm
from kadence.trials import record
from kadence.trials.lines import DROPPED, GOING, HELPS, HURTS
from kadence.trials.record import Record

MOST = 1.01  # of the plain program's time
SURE = 0.9  # confidence of an interval; fewer than five rounds give less

Moved = Mapping[str, Mapping[str, float]]  # the ratios to plain of plain builds with moved code


def cost(tried: Estimate, again: Estimate, moved: Moved) -> str:
    """Whether the time is above 1.01 of plain, beyond what plain shows against itself."""
    if tried.confidence < SURE:
        return f"{tried.count} rounds are too few for a verdict"
    if tried.value <= MOST:
        return f"at most {MOST} of plain"
    if not is_slow(tried, again):
        return f"above {MOST} of plain, within the noise of plain again"
    if tried.value <= max((each["high"] for each in moved.values()), default=0.0):
        return f"ABOVE {MOST} of plain, as is a plain build whose code was moved"
    return f"ABOVE {MOST} of plain, beyond the noise of plain again"


def is_slow(tried: Estimate, again: Estimate) -> bool:
    """Whether the time is above 1.01 of plain, and not by the noise of plain again."""
    return tried.confidence >= SURE and tried.value > MOST and tried.low > max(MOST, again.high)


def seems_slow(tried: Estimate, again: Estimate) -> bool:
    """Whether the median is above 1.01 of plain, and above that of plain again."""
    return tried.confidence >= SURE and tried.value > max(MOST, again.value)


def placement(moved: Moved) -> Iterator[str]:
    """The ratios of plain builds with moved code, if these were measured."""
    if moved:
        ratios = ", ".join(f"{each['value']:.3f}" for each in moved.values())
        yield f"  plain builds whose code was moved take {ratios} of plain"


def beside_setting(tried: Estimate, setting: Estimate) -> str:
    """Whether the time is at most that of the C library's own setting."""
    if tried.confidence < SURE:
        return "nor for one beside malloc's own setting"
    if tried.high < setting.low:
        return "better than malloc's own setting"
    if tried.low <= setting.high:
        return "not worse than malloc's own setting"
    return "WORSE than malloc's own setting"


def records(paths: Sequence[Path]) -> Iterator[Record]:
    """Yields the records of all processes in these files."""
    for path in paths:
        if path.exists():
            yield from record.read(path).records


def visits_until_off(one: Record) -> int | None:
    """The visits at the level until it was turned off; None if it was not."""
    found = [line.visits for line in one.decisions if line.state in (DROPPED, HURTS)]
    return found[0] if found else None


def claims(one: Record) -> list[str]:
    """The states of the record that are claims."""
    return [line.state for line in one.decisions if line.state in (HELPS, HURTS)]


def is_dropped(one: Record) -> bool:
    return any(line.state == DROPPED for line in one.decisions)


def effects(path: Path) -> Iterator[str]:
    """What the runs' trials found, arm by arm."""
    runs = list(records([path]))
    blocks: dict[Arm, list[float]] = defaultdict(list)
    states: dict[Arm, list[str]] = defaultdict(list)
    for one in runs:
        for block in one.blocks:
            blocks[block.arm].append(block.difference)
        for decision in one.decisions:
            states[decision.arm].append(decision.state)
    for arm, differences in sorted(blocks.items(), key=lambda item: astuple(item[0])):
        found = Counter(states[arm])
        decided = ", ".join(f"{found[state]} {state}" for state in sorted(found))
        yield (
            f"  phase {arm.phase}, {arm.policy}, level {arm.level}: median effect "
            f"{math.expm1(statistics.median(differences)):+.1%} in {len(differences)} blocks of "
            f"{len(runs)} processes; decided: {decided or 'nothing'}"
        )
    yield from untried(runs)


def untried(runs: Sequence[Record]) -> Iterator[str]:
    """Why phases were not tried."""
    whys: dict[int, set[str]] = defaultdict(set)
    for one in runs:
        for number, phase in one.phases.items():
            whys[number] |= {phase.state} - {GOING}
    for number, states in sorted(whys.items()):
        if states:
            yield f"  phase {number} was not tried in some runs: {', '.join(sorted(states))}"
