# SPDX-License-Identifier: GPL-2.0-or-later
"""Rounds of real runs: order, outputs, failures, time limits and busy machines."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kadence.measurement.execution import ExecutionError
from kadence.measurement.measure import PLAIN
from kadence.program.filters import Filter
from kadence.program.program import Program
from kadence.tune import runs
from kadence.tune.candidates import REFERENCE, Candidate
from kadence.tune.runs import Contestant, RefusedError, Track

SAME = "echo same; echo file >out"


class Ground:
    """A program that is a shell script; candidates tell it what to do by their environment."""

    def __init__(self, place: Path, script: str, filters: tuple[Filter, ...] = ()) -> None:
        self.place = place
        (place / "program").write_text(f'#!/bin/sh\necho "$NAME" >>{place}/journal\n{script}\n')
        (place / "program").chmod(0o755)
        program = Program(
            place,
            "p",
            "",
            ("./program",),
            (),
            ("./program", "check"),
            outputs=("out",),
            filters=filters,
            timeout_seconds=20,
        )
        kept = place / "kept"
        kept.mkdir()
        (kept / "out").write_text("file\n")
        (kept / "standard output").write_text("same\n")
        files = {name: kept / name for name in ("out", "standard output")}
        self.track = Track(program, files, place / "tune" / "scratch", 0.01)

    def contestant(self, name: str, **environment: str) -> Contestant:
        if name == PLAIN:
            return Contestant(REFERENCE, self.place)
        setting = {"NAME": name} | environment
        return Contestant(Candidate(name, "allocator", "s", environment=setting), self.place)

    def journal(self) -> list[str]:
        return (self.place / "journal").read_text().splitlines()


Make = Callable[..., Ground]


@pytest.fixture
def ground(tmp_path: Path) -> Make:
    return lambda *arguments, **options: Ground(tmp_path, *arguments, **options)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without other work."""
    monkeypatch.setattr(runs.Neighbours, "share", lambda _: 0.0)


def test_a_round_runs_each_once_in_an_order_that_the_seed_gives(ground: Make) -> None:
    made = ground(SAME)
    contestants = [made.contestant(name) for name in (PLAIN, "a", "b", "c")]
    orders = []
    for seed in ("1", "2", "3", "1"):
        outcome = runs.take_round(made.track, contestants, seed, patient=True)
        assert not outcome.refused
        assert sorted(outcome.round.order) == ["a", "b", "c", PLAIN]
        assert set(outcome.round.costs) == set(outcome.round.order)
        orders.append(outcome.round.order)
    assert orders[0] == orders[3]
    assert len(set(orders)) > 1
    assert len(made.journal()) == 16


def test_costs_are_measured(ground: Make) -> None:
    made = ground("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done\n" + SAME)
    cost = made.track.run(made.contestant("a"))
    assert 0 < cost.processor_seconds <= 2 * cost.seconds
    assert cost.resident_bytes > 100_000


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ('[ "$NAME" = a ] && echo other >out || echo file >out; echo same', "its out is not the"),
        ('[ "$NAME" = a ] && echo more; ' + SAME, "its standard output is not"),
        ('[ "$NAME" = a ] || echo file >out; echo same', "it wrote no out"),
        ('[ "$NAME" = a ] && exit 3; ' + SAME, "ended with status 3"),
        ('[ "$NAME" = a ] && kill -SEGV $$; ' + SAME, "ended with status 139"),
    ],
)
def test_a_candidate_that_does_something_else_is_refused(
    ground: Make, script: str, reason: str
) -> None:
    made = ground(script)
    contestants = [made.contestant(name) for name in (PLAIN, "a", "b")]
    outcome = runs.take_round(made.track, contestants, "1", patient=True)
    assert list(outcome.refused) == ["a"]
    assert reason in outcome.refused["a"]
    assert set(outcome.round.costs) == {PLAIN, "b"}


def test_outputs_that_differ_are_kept(ground: Make) -> None:
    made = ground('echo "$NAME"; echo file >out')
    with pytest.raises(RefusedError, match="line 1 is 'same' in one and 'a' in the other") as told:
        made.track.run(made.contestant("a"))
    kept = made.place / "tune" / "outputs" / "a" / "standard output"
    assert kept.read_text() == "a\n"
    assert str(kept.parent) in str(told.value)


def test_filters_apply(ground: Make) -> None:
    made = ground("echo same; date +'# %N'; echo file >out", filters=(Filter("^# "),))
    made.track.run(made.contestant("a"))


def test_a_failing_check_is_refused(ground: Make) -> None:
    made = ground('[ "$1" = check ] && exit 4; ' + SAME)
    made.track.run(made.contestant("a"))
    with pytest.raises(RefusedError, match="`./program check` ended with status 4"):
        made.track.check(made.contestant("a"))


def test_if_the_plain_program_fails_nothing_can_be_compared(ground: Make) -> None:
    made = ground('[ -z "$NAME" ] && exit 5; ' + SAME)
    with pytest.raises(ExecutionError, match="the plain program fails: .* status 5"):
        runs.take_round(made.track, [made.contestant(PLAIN)], "1", patient=True)


def test_a_candidate_that_hangs_is_stopped(ground: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "LEAST_PATIENCE_SECONDS", 0.3)
    made = ground('[ "$NAME" = a ] && exec sleep 600; ' + SAME)
    with pytest.raises(RefusedError, match="was stopped after 0.3 s"):
        made.track.run(made.contestant("a"))


def test_a_disturbed_round_is_repeated_once_and_marked(
    ground: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = iter([0.7, 0.02, 0.7, 0.6, 0.5])
    monkeypatch.setattr(runs.Neighbours, "share", lambda _: next(shares))
    made = ground(SAME)
    contestants = [made.contestant(name) for name in (PLAIN, "a")]

    def taken(*, patient: bool) -> tuple[int, float]:
        found = runs.take_round(made.track, contestants, "1", patient=patient).round
        return found.attempts, found.others

    assert taken(patient=True) == (2, 0.02)
    assert taken(patient=True) == (2, 0.6)
    assert taken(patient=False) == (1, 0.5)
    assert len(made.journal()) == 10


def test_who_fails_in_a_disturbed_attempt_does_not_run_again(
    ground: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs.Neighbours, "share", lambda _: 0.5)
    made = ground('[ "$NAME" = a ] && exit 1; ' + SAME)
    contestants = [made.contestant(name) for name in (PLAIN, "a")]
    outcome = runs.take_round(made.track, contestants, "1", patient=True)
    assert list(outcome.refused) == ["a"]
    assert made.journal().count("a") == 1


def test_tunables_of_the_caller_stay(ground: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=0")
    made = ground(f'echo "$GLIBC_TUNABLES" >>journal; {SAME}')
    made.track.run(made.contestant("a", GLIBC_TUNABLES="glibc.malloc.tcache_count=9"))
    assert "glibc.malloc.check=0:glibc.malloc.tcache_count=9" in made.journal()


def test_what_is_compared() -> None:
    cost = runs.Cost(2.0, 1.5, 4096)
    rounds = [runs.Round((PLAIN,), {PLAIN: cost}, 0.0, 1)]
    assert runs.counted(rounds, runs.SECONDS) == [{PLAIN: 2.0}]
    assert runs.counted(rounds, runs.PROCESSOR) == [{PLAIN: 1.5}]
