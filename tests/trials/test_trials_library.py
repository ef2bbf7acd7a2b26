# SPDX-License-Identifier: GPL-2.0-or-later
"""Records that libkadapt itself wrote, of a program with a planted effect on a clock of its own."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import trial_programs
from planted_records import write_plan

from kadence.base import artefact
from kadence.trials import learning, record, runs

EFFECT, NOISE, VISITS = -0.1, 0.02, 2000
# A tenth of a visit's time is in another phase, where the policy does nothing.
PLANTED = math.log((0.1 + math.exp(EFFECT)) / 1.1)


@pytest.fixture(scope="module")
def made(root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The records of three runs."""
    folder = tmp_path_factory.mktemp("planted")
    program = trial_programs.planted(root, folder)
    kept = []
    for number in range(3):
        done = trial_programs.run(
            program, "calm", VISITS, EFFECT, NOISE, KADAPT_TRIALS_SEED=str(number)
        )
        assert done.status == 0
        kept.append(program.with_name("record.jsonl").rename(folder / f"{number}"))
    return kept


def test_it_is_read_as_it_was_written(made: list[Path]) -> None:
    (one,) = record.read(made[0]).records
    lines = [json.loads(line) for line in made[0].read_text().splitlines()]
    assert len(one.blocks) == sum("block" in line for line in lines) > 20
    assert one.end is not None and one.header.plan == "0123456789abcdef"


def test_its_effect_is_the_one_that_libkadapt_decided_by(made: list[Path]) -> None:
    for path in made:
        (one,) = record.read(path).records
        for decision in one.decisions:
            one.blocks[decision.blocks :] = []
            ((arm,),) = [run.arms for run in runs.of_records([one])]
            assert arm.found.effect == pytest.approx(decision.effect, abs=1e-5)
            assert decision.low is not None and decision.high is not None
            half = (decision.high - decision.low) / 2
            assert 1.5 * arm.found.error < half < 5 * arm.found.error


def test_the_planted_effect_is_learned(made: list[Path], tmp_path: Path) -> None:
    plan = write_plan(tmp_path / "p.plan.json", id="0123456789abcdef")
    learning.learn(plan, made, plan)
    (learned,) = artefact.read(plan, artefact.PLAN)["trials"]["learned"]
    found: dict[str, Any] = learned
    assert (found["phase"], found["policy"], found["records"]) == (0, "batches", 3)
    assert abs(found["effect"] - PLANTED) < 3 * found["error"] < 0.03
