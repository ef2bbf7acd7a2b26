# SPDX-License-Identifier: GPL-2.0-or-later
"""The walk on a machine: paths from events, and the functions that are worth timing."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from known_events import FAULT, INSTRUMENTS, READ, SLEPT, event, known, known_results

from kadence import cli
from kadence.observe import walk
from kadence.observe.paths import Path
from kadence.observe.probes import candidates, results
from kadence.observe.probes.instruments import Instrument, Kernel, Kind
from kadence.observe.probes.results import Results
from kadence.observe.timeline import tree
from kadence.observe.timeline.events import PHASE

COSTS = known_results().costs  # ticks of half a nanosecond; 10 to itself, 56 to the caller


def shown(path: Path) -> dict[str, tuple[int, int, int]]:
    """What is below a path: calls, own ns and waited ns, by the names from there on."""
    found = {}
    for each in path.below:
        found[each.function] = (each.calls, each.own, each.own_waited)
        found |= {f"{each.function} {name}": row for name, row in shown(each).items()}
    return found


def test_calls_are_below_those_that_contain_them() -> None:
    # Task 7's read took 6,000 ticks, 4,000 of them asleep, and had a fault of 400.
    own = (6_000 - 10 - 4_000 - (400 - 10) - 56) // 2
    assert shown(tree.paths(known(), COSTS, INSTRUMENTS)) == {
        "__x64_sys_read": (2, own + (3_000 - 10) // 2, 2_000),
        "__x64_sys_read handle_mm_fault": (1, (400 - 10) // 2, 0),
        "handle_mm_fault": (1, (1_000 - 10) // 2, 0),
    }


def test_calls_are_in_the_phase_in_which_they_began() -> None:
    rows = [
        event(9_990, 10_010, READ, 7),  # enters the phase
        event(12_000, 13_010, READ, 7),
        event(12_200, 12_410, FAULT, 7),
        event(10_000, 20_000, PHASE + 3, 7),
        event(21_000, 21_010, READ, 7),
        event(14_000, 14_010, READ, 8),  # of another task
    ]
    assert shown(tree.paths(known(rows), COSTS, INSTRUMENTS)) == {
        "__x64_sys_read": (3, 5, 0),
        "phase:3": (1, 0, 0),
        "phase:3 __x64_sys_read": (1, (1_000 - 200 - 56) // 2, 0),
        "phase:3 __x64_sys_read handle_mm_fault": (1, 100, 0),
    }


def test_a_wait_is_of_the_innermost_call() -> None:
    rows = [
        event(1_000, 9_000, READ, 7),
        event(2_000, 8_000, FAULT, 7),
        event(3_000, 7_000, SLEPT, 7),
    ]
    found = tree.paths(known(rows), COSTS, INSTRUMENTS)
    assert shown(found)["__x64_sys_read handle_mm_fault"] == (1, (2_000 - 10) // 2, 2_000)
    assert walk.bottom(found).function == "handle_mm_fault"


# ---- functions that are worth timing ------------------------------------------------------------

CALLS = {"__x64_sys_read": 900, "often": 5_000, "seldom": 20, "never": 0}
KERNEL = Kernel(
    "a kernel",
    [f"{16 * at:x} T {name}" for at, name in enumerate(CALLS, 1)],
    frozenset(16 * at for at in range(1, len(CALLS) + 1)),
    None,
)


def counted(batch: Sequence[Instrument]) -> Results:
    rows = [f"record {at} {CALLS[each.function]} 0 0 0 0 0 0 0 0" for at, each in enumerate(batch)]
    return results.read(
        ["arm 1000000 10 0 0 0 1 3 8 56 59 59 40", "block 7 7 -1 1000000 0 x", *rows]
    )


def chosen(most_percent: float, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernel has no types, so nothing can be timed: as if all could."""
    monkeypatch.setattr("kadence.observe.probes.instruments.Kernel.kind_of", lambda *_: Kind.TIME)
    batches = list(candidates.called(KERNEL, ["*"], counted))
    return [each.function for each in candidates.affordable(KERNEL, batches, most_percent)]


@pytest.mark.parametrize(
    ("most_percent", "functions"),
    [
        (100, ["__x64_sys_read", "seldom", "often"]),
        # 5,920 calls of 56 ticks are a third of the time, 920 of them 5 %.
        (30, ["__x64_sys_read", "seldom"]),
        (1, []),
    ],
)
def test_what_is_called_too_often_is_left_out(
    most_percent: float, functions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chosen(most_percent, monkeypatch) == functions


def test_functions_of_modules_are_left_out() -> None:
    module = replace(KERNEL, kallsyms=[*KERNEL.kallsyms, "10 T other\t[module]"])
    [(_, batch)] = candidates.called(module, ["*"], counted)
    assert {each.function for each in batch} == set(CALLS)


def test_many_functions_are_counted_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MOST", 3)
    batches = list(candidates.called(KERNEL, ["*"], counted))
    assert [len(batch) for _, batch in batches] == [3, 1]


@pytest.mark.parametrize("words", [["--per-phase"], ["--timeline", "t.html"]])
def test_a_walk_is_no_table(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["observe", "--why", *words, "--", "ls"]) != 0
    said = capsys.readouterr().err
    assert "leave out --per-phase and --timeline" in said
    assert said.count("\n") == 1
