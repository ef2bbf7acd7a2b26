# SPDX-License-Identifier: GPL-2.0-or-later
"""What trials found, for a reader: an outcome and words for every arm, and one verdict.

An effect is claimed if its interval excludes none at 5 % over all arms together (Bonferroni). For
a single run, libkadapt's own claim counts: it allows for having looked after every block.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kadence.base.statistics import CONFIDENCE
from kadence.phases.plan.contention import counted
from kadence.phases.plan.trials import Arm, TriedPhase
from kadence.trials import learning, lines, runs
from kadence.trials.combining import Combined
from kadence.trials.record import Record

OUTCOMES = ("helps", "hurts", "none", "undecided", "idle", "untried")
HELPS, HURTS, NONE, UNDECIDED, IDLE, UNTRIED = OUTCOMES


@dataclass(frozen=True)
class Finding:
    """One arm. The effect is the logarithm of its time over the plain time."""

    phase: int
    policy: str
    level: int
    outcome: str
    effect: float | None  # None: the policy acted in no block
    low: float | None
    high: float | None
    blocks: int
    visits: int  # in the blocks, plain ones included
    runs: int
    says: str  # the outcome in words
    why: str  # what a reader should know besides, or empty


@dataclass(frozen=True)
class Findings:
    """All arms of a plan, in the records of one kernel or of one job."""

    records: int
    arms: tuple[Finding, ...]
    sentence: str


def of_records(records: Sequence[Record], tried: Iterable[TriedPhase] = ()) -> Findings:
    """What these records found, and what of the plan they did not try."""
    parts = learning.by_arm(runs.of_records(records))
    effects: dict[Arm, learning.Parts] = {}
    for (arm, _), found in parts.items():
        effects.setdefault(arm, []).extend(found)
    combined = {arm: learning.combined_of(found) for arm, found in effects.items()}
    seen = {block.arm for record in records for block in record.blocks}
    planned = {Arm(one.phase, policy, 1) for one in tried for policy in one.policies}
    arms = tuple(
        _finding(arm, combined.get(arm), len(combined), records)
        for arm in sorted(seen | combined.keys() | planned)
    )
    return Findings(len(records), arms, verdict(arms))


def _finding(arm: Arm, effect: Combined | None, claims: int, records: Sequence[Record]) -> Finding:
    states = [record.state_of(arm) for record in records]
    blocks = [block for record in records for block in record.blocks if block.arm == arm]
    outcome = _outcome(effect, claims, states) if blocks else UNTRIED
    low, high = effect.interval() if effect else (None, None)
    return Finding(
        phase=arm.phase,
        policy=arm.policy,
        level=arm.level,
        outcome=outcome,
        effect=effect.effect if effect else None,
        low=low,
        high=high,
        blocks=len(blocks),
        visits=sum(_visits(record, arm) for record in records),
        runs=effect.runs if effect else 0,
        says=WORDS[outcome],
        why=_why(outcome, arm, records, states.count(lines.DROPPED)),
    )


def _visits(record: Record, arm: Arm) -> int:
    blocks = sum(block.arm == arm for block in record.blocks)
    phase = record.phases.get(arm.phase)
    return blocks * phase.visits_of_block if phase else 0


def _outcome(effect: Combined | None, claims: int, states: Sequence[str]) -> str:
    if effect is None:
        return IDLE if lines.IDLE in states else UNDECIDED
    if _excludes_none(effect, 1 - (1 - CONFIDENCE) / claims):
        claimed = HELPS if effect.effect < 0 else HURTS
        return claimed if effect.runs > 1 or claimed in states else UNDECIDED
    return UNDECIDED if _excludes_none(effect, CONFIDENCE) else NONE


def _excludes_none(effect: Combined, confidence: float) -> bool:
    low, high = effect.interval(confidence)
    return not low <= 0 <= high


WORDS = {
    HELPS: "helps",
    HURTS: "hurts",
    NONE: "nothing measurable",
    UNDECIDED: "not decided",
    IDLE: "had nothing to do",
    UNTRIED: "not tried",
}


def _why(outcome: str, arm: Arm, records: Sequence[Record], dropped: int) -> str:
    if outcome == UNTRIED:
        return _why_untried(arm, records)
    if dropped:
        processes = counted(len(records), "process", "processes")
        return f"turned off as a precaution in {dropped} of {processes}"
    return ""


def _why_untried(arm: Arm, records: Sequence[Record]) -> str:
    states = {record.phases[arm.phase].state for record in records if arm.phase in record.phases}
    if lines.UNLIKE in states:
        return "plain visits differ too much"
    if states == {lines.FOLLOWS}:
        return "another rank decided, and its record is not among these"
    return "too few visits in a run, or too short ones"


# ---- words ---------------------------------------------------------------------------------------


def name_of(policy: str, level: int, phase: int) -> str:
    """As in `memory in phase 2`."""
    at_level = f" at level {level}" if level > 1 else ""
    return f"{policy}{at_level} in phase {phase}"


def _name(arm: Finding) -> str:
    return name_of(arm.policy, arm.level, arm.phase)


def percent(effect: float) -> float:
    """The change of time."""
    # Beyond a factor of a million nobody reads the number.
    return 100 * math.expm1(min(effect, 14.0))


def share(effect: float, low: float, high: float) -> str:
    """The size of a change with its interval, without its sign: `3.1 % (1.9 to 4.3 %)`."""
    sign = -1 if effect < 0 else 1
    least, most = sorted(sign * percent(end) for end in (low, high))
    return f"{sign * percent(effect):.1f} % ({least:.1f} to {most:.1f} %)"


def verdict(arms: Sequence[Finding]) -> str:
    """All findings in one sentence."""
    tried = [arm for arm in arms if arm.outcome != UNTRIED]
    if not tried:
        return "No policy was tried."
    said = [*_claims(tried), *_others(tried)]
    outcomes = {arm.outcome for arm in tried}
    if HURTS not in outcomes:
        said.append("nothing was shown to hurt" if UNDECIDED in outcomes else "nothing hurt")
    sentence = "; ".join(said)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _claims(arms: Iterable[Finding]) -> list[str]:
    said = []
    for arm in arms:
        if arm.outcome not in (HELPS, HURTS) or arm.effect is None:
            continue
        assert arm.low is not None and arm.high is not None
        size = share(arm.effect, arm.low, arm.high)
        if arm.outcome == HELPS:
            said.append(f"{_name(arm)} took {size} off its visits")
        else:
            said.append(f"{_name(arm)} added {size} to its visits")
    return said


def _others(arms: Sequence[Finding]) -> list[str]:
    """Policies without an effect in any phase go by their name alone."""
    said = []
    for outcome, words in OTHERS.items():
        found = [arm for arm in arms if arm.outcome == outcome]
        names: list[str] = []
        for arm in found:
            alike = all(one.outcome == outcome for one in arms if one.policy == arm.policy)
            name = arm.policy if alike else _name(arm)
            if name not in names:
                names.append(name)
        if names:
            said.append(f"{', '.join(names)} {words}")
    return said


OTHERS = {
    NONE: "did nothing measurable",
    UNDECIDED: "could not be decided",
    IDLE: "had nothing to do",
}
