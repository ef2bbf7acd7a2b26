# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reader is told of trials with planted effects."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted_records import Process

from kadence.phases.plan.trials import TriedPhase
from kadence.trials import findings, record
from kadence.trials.findings import Finding, Findings

NOISE = 0.004
BLOCKS = 40
MEMORY = {"phase": 2, "policy": "memory"}
QUANTUM = {"phase": 0, "policy": "quantum"}
RINGS = {"phase": 1, "policy": "rings"}


def process(number: int, *arms: tuple[dict[str, Any], float]) -> Process:
    """A process in which these arms have these effects."""
    luck = np.random.default_rng(number)
    made = Process(number)
    for arm, _ in arms:
        made.phase(arm["phase"])
    for arm, effect in arms:
        made.blocks(list(effect + NOISE * luck.standard_normal(BLOCKS)), **arm)
    return made


def found(*processes: Process, tried: tuple[TriedPhase, ...] = ()) -> Findings:
    content = b"".join(each.content for each in processes)
    return findings.of_records(record.parse(Path("r"), content).records, tried)


def by_policy(all_found: Findings) -> dict[str, Finding]:
    return {one.policy: one for one in all_found.arms}


def test_the_verdict_names_what_helps_and_what_does_nothing() -> None:
    effects = ((MEMORY, -0.0315), (QUANTUM, 0.0))
    told = found(*(process(number, *effects) for number in range(1, 8)))
    arms = by_policy(told)
    assert (arms["memory"].outcome, arms["quantum"].outcome) == ("helps", "none")
    assert (arms["memory"].blocks, arms["memory"].runs) == (7 * BLOCKS, 7)
    assert arms["memory"].visits == 7 * BLOCKS * 2 * (1 + 4)
    assert told.records == 7
    assert told.sentence.startswith("Memory in phase 2 took 3.1 % (")
    assert told.sentence.endswith(
        " %) off its visits; quantum did nothing measurable; nothing hurt."
    )


def test_the_verdict_names_what_hurts() -> None:
    told = found(*(process(number, (RINGS, 0.05)) for number in range(1, 8)))
    assert by_policy(told)["rings"].outcome == "hurts"
    assert told.sentence.startswith("Rings in phase 1 added 5.")
    assert told.sentence.endswith(" %) to its visits.")


def test_what_one_run_did_not_claim_is_not_claimed() -> None:
    """libkadapt looks after every block, so the interval for one look is too narrow."""
    one = process(1, (MEMORY, -0.03))
    assert by_policy(found(one))["memory"].outcome == "undecided"
    assert found(one).sentence == "Memory could not be decided; nothing was shown to hurt."
    assert by_policy(found(one.decision("helps", **MEMORY)))["memory"].outcome == "helps"
    assert by_policy(found(one.decision("hurts", **MEMORY)))["memory"].outcome == "undecided"


def test_many_arms_are_not_each_given_five_percent() -> None:
    """Of forty policies that do nothing, two would be claimed wrongly."""
    arms = [({"phase": phase, "policy": "memory"}, 0.0) for phase in range(40)]
    for start in (1, 101, 201):
        told = found(*(process(start + number, *arms) for number in range(6)))
        assert not [one for one in told.arms if one.outcome in ("helps", "hurts")]


def test_idle_dropped_and_untried_policies_are_named() -> None:
    idle = Process(1).phase(1).blocks([0.0, 0.0, 0.0], **RINGS).decision("idle", **RINGS)
    dropped = process(2, (MEMORY, 0.2)).decision("dropped", **MEMORY)
    tried = (TriedPhase(0, ("quantum",), 9), TriedPhase(1, ("rings",), 9))
    arms = by_policy(found(idle, dropped, tried=tried))
    assert (arms["rings"].outcome, arms["rings"].says) == ("idle", "had nothing to do")
    assert arms["rings"].effect is None
    assert arms["memory"].why == "turned off as a precaution in 1 of 2 processes"
    assert (arms["quantum"].outcome, arms["quantum"].blocks) == ("untried", 0)
    assert arms["quantum"].why == "too few visits in a run, or too short ones"
    unlike = found(Process(3).phase(0, state="unlike"), tried=tried[:1])
    assert unlike.arms[0].why == "plain visits differ too much"
    follows = found(Process(4).phase(0, state="follows"), tried=tried[:1])
    assert follows.arms[0].why == "another rank decided, and its record is not among these"
    assert unlike.sentence == "No policy was tried."
    assert found().sentence == "No policy was tried."


def test_a_policy_is_named_with_its_phase_if_another_phase_differs() -> None:
    elsewhere = {"phase": 0, "policy": "memory"}
    effects = ((MEMORY, -0.03), (elsewhere, 0.0))
    told = found(*(process(number, *effects) for number in range(1, 8)))
    assert "; memory in phase 0 did nothing measurable; nothing hurt." in told.sentence


@pytest.mark.parametrize(
    ("effect", "low", "high", "said"),
    [
        (-0.0315, -0.0439, -0.0192, "3.1 % (1.9 to 4.3 %)"),
        (0.0198, 0.00995, 0.02956, "2.0 % (1.0 to 3.0 %)"),
        (-0.0315, -0.1, 0.01, "3.1 % (-1.0 to 9.5 %)"),
        (0.01, 0.0, 700.0, "1.0 % (0.0 to 120260328.4 %)"),
    ],
)
def test_sizes_in_words(effect: float, low: float, high: float, said: str) -> None:
    assert findings.share(effect, low, high) == said
