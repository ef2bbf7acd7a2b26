# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges what trials did to whole runs, and counts what records of trials say."""

import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kadence.base.statistics import Estimate
from kadence.trials import record
from kadence.trials.lines import DROPPED, HELPS, HURTS
from kadence.trials.record import Record

MOST = 1.01  # of the plain program's time
SURE = 0.9  # confidence of an interval; fewer than five rounds give less


def cost(tried: Estimate, again: Estimate) -> str:
    """Whether the time is above 1.01 of plain, beyond what plain shows against itself."""
    if tried.confidence < SURE:
        return f"{tried.count} rounds are too few for a verdict"
    if tried.value <= MOST:
        return f"at most {MOST} of plain"
    if tried.low <= max(MOST, again.high):
        return f"above {MOST} of plain, within the noise of plain again"
    return f"ABOVE {MOST} of plain, beyond the noise of plain again"


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


def effects(record: Path) -> Iterator[str]:
    """What the runs' trials found, arm by arm."""
    if not record.exists():
        return
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    runs = {line["process"] for line in lines if "schema" in line}
    blocks: dict[tuple[int, str, int], list[float]] = defaultdict(list)
    states: dict[tuple[int, str, int], list[str]] = defaultdict(list)
    for line in lines:
        if "block" in line:
            blocks[arm_of(line["block"])].append(line["block"]["difference"])
        if "decision" in line:
            states[arm_of(line["decision"])].append(line["decision"]["state"])
    for key, found in sorted(blocks.items()):
        phase, policy, level = key
        decided = ", ".join(f"{states[key].count(s)} {s}" for s in sorted(set(states[key])))
        yield (
            f"  phase {phase}, {policy}, level {level}: median effect "
            f"{statistics.median(found):+.1%} in {len(found)} blocks of {len(runs)} processes; "
            f"decided: {decided or 'nothing'}"
        )
    skipped = [line["phase"] for line in lines if "phase" in line]
    for phase in sorted({each["phase"] for each in skipped}):
        why = {each["state"] for each in skipped if each["phase"] == phase} - {"going"}
        if why:
            yield f"  phase {phase} was not tried in some runs: {', '.join(sorted(why))}"


def arm_of(line: Mapping[str, object]) -> tuple[int, str, int]:
    phase, policy, level = line["phase"], line["policy"], line["level"]
    assert isinstance(phase, int)
    assert isinstance(level, int)
    return phase, str(policy), level
