# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tables of kernels say of this machine's own, and of the pages that a program gets."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kadence.base import artefact

OWN = "this machine's own kernel"


@pytest.fixture
def bench(root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of bench/."""
    monkeypatch.syspath_prepend(root)
    return importlib.import_module


def plan(treatments: list[list[str]] | None) -> dict[str, Any]:
    """As much of a plan as says which memory is planned."""
    sites = [{"treatments": each} for each in treatments or ()]
    return {"needs": {"memory": treatments is not None}, "memory": {"sites": sites}}


@pytest.mark.parametrize(
    ("treatments", "judged"),
    [
        (None, {"page"}),
        ([], {"page"}),
        ([["map-ahead"]], {"page"}),
        ([["populate", "keep"]], {"page_populated"}),
        ([["populate", "huge"]], {"page_huge", "page_64k"}),
        ([["populate"], ["populate", "huge"]], {"page_populated", "page_huge", "page_64k"}),
    ],
)
def test_the_way_in_which_a_program_gets_its_pages_is_judged(
    bench: Any,
    monkeypatch: pytest.MonkeyPatch,
    treatments: list[list[str]] | None,
    judged: set[str],
) -> None:
    pages: ModuleType = bench("bench.kernel.planned_pages")
    monkeypatch.setattr(artefact, "read", lambda _path, _schema: plan(treatments))
    found = pages.of(Path("a plan"))
    goals = found.goals()
    assert {way for way in pages.WAYS if way in goals} == judged
    assert {goals[way].most for way in judged} == {1000}
    assert goals["getppid"].most == 150
    assert found.why


def test_quanta_stand_beside_this_machine(bench: Any) -> None:
    """The program is run on it, and its figures are in the table."""
    runs, quantum = bench("bench.quantum.quantum_runs"), bench("bench.quantum.quantum")
    case = runs.Case(runs.FIBONACCI, 2, 100)
    samples = runs.run_on_machine(case, 5, 2)
    assert len(samples) == 2
    assert all(sample.seconds > 0 and sample.processor_seconds > 0 for sample in samples)

    def lasting(seconds: float) -> list[Any]:
        return [runs.Sample(seconds, seconds, 2, 0, 3)] * 3

    line = quantum.Line(case, lasting(12.0), lasting(10.0), lasting(8.0))
    sides, _, below = quantum.table([line])
    assert OWN in sides
    assert "8.00 ± 0.00" in below
    assert below.endswith(" 1.25")


def test_a_program_that_fails_on_this_machine_is_named(bench: Any) -> None:
    runs = bench("bench.quantum.quantum_runs")
    nothing = runs.Case(runs.Task("nothing", "lu", 0, 1), 1, 100)
    failed = bench("kadence.base.errors").GuestError
    with pytest.raises(failed, match="on this machine: .*not a number"):
        runs.run_on_machine(nothing, 1, 1)


def test_paths_of_user_mode_linux_stand_beside_this_machine(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every figure is this machine's here, so what is found is in all columns."""
    paths, places = bench("bench.kernel.um_paths"), bench("bench.io.io_places")
    monkeypatch.setattr(paths, "UserMode", lambda _kernel: places.Machine())
    monkeypatch.setattr(paths, "OPERATIONS", ("getppid", "phase"))
    title, head, getppid, phase = paths.lines(None, None)
    assert "nanoseconds" in title
    assert head.split("  ")[0] == "" and OWN in head
    assert getppid.count("(") == 3
    assert phase.count("n/a (ENOENT)") == 3
