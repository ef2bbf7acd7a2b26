# SPDX-License-Identifier: GPL-2.0-or-later
"""The page's section on memory shows what the profile has and what the plan makes of it."""

from dataclasses import replace
from pathlib import Path

import pytest
from planted import PROGRAM, three_phases

from kadence.phases import analysis, planning
from kadence.phases.view import memory, subject
from kadence.profiler import kprof
from kadence.profiler.format.profile import CallSite, Mapping, Memory, Touches

PAGES = 1024
BYTES = PAGES * 4096
DENSE = Mapping("anonymous", False, 0, BYTES, BYTES - 16, 0, None, False, False, 0)
HALF = replace(DENSE, site=1)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> subject.Subject:
    """One block of which all pages are touched, and one of which every other page is touched."""
    folder: Path = tmp_path_factory.mktemp("memory")
    sites = (
        CallSite("malloc", "compute", "/src/planted.c", 13, PROGRAM),
        CallSite("calloc", "exchange", "/src/planted.c", 53, PROGRAM),
    )
    touches = (
        Touches(0, 0, PAGES, 1, PAGES, 0, 0),
        Touches(1, 1, PAGES // 2, PAGES // 2, 0, 0, 0),
    )
    profile = replace(three_phases().profile(), memory=Memory(sites, (DENSE, HALF), touches))
    kprof.write(folder / "p.kprof", profile)
    analysis.run(folder / "p.kprof", folder / "p.phases.json")
    planning.run(folder / "p.phases.json", folder / "p.plan.json")
    return subject.load(folder / "p.phases.json")


def test_sites_are_told_with_the_most_faults_first(shown: subject.Subject) -> None:
    section = memory.section(shown)
    assert section is not None
    assert (section["faults"], section["peak"]) == (PAGES + PAGES // 2, "6 MiB")
    told = [
        (line["place"], line["touched"], line["order"], line["treatment"])
        for line in section["lines"]
    ]
    assert told == [
        (("compute", "planted.c:13"), "100.0%", "upward", "populate, huge"),
        (("exchange", "planted.c:53"), "50.0%", "scattered", "as is"),
    ]


def test_without_a_plan_nothing_is_said_of_treatments(shown: subject.Subject) -> None:
    section = memory.section(replace(shown, plan=None))
    assert section is not None
    assert {line["treatment"] for line in section["lines"]} == {"no plan given"}


def test_the_outline_rises_with_what_is_resident(shown: subject.Subject) -> None:
    """Two thirds are resident from the first interval on, all from the second."""
    section = memory.section(shown)
    assert section is not None
    third = memory.HEIGHT / 3
    x = memory.WIDTH * int(shown.profile.start[1]) / int(shown.profile.instructions.sum())
    assert section["growth"] == (
        f"M0 {memory.HEIGHT}H0.0V{third:.1f}H{x:.1f}V0.0H{memory.WIDTH}V{memory.HEIGHT}Z"
    )


def test_the_strip_is_whole(shown: subject.Subject) -> None:
    section = memory.section(shown)
    assert section is not None
    pieces = section["pieces"]
    assert sum(piece.width for piece in pieces) == pytest.approx(memory.WIDTH)
    for left, right in zip(pieces, pieces[1:], strict=False):
        assert right.x == pytest.approx(left.x + left.width)
        assert right.colour != left.colour


def test_a_run_without_faults_has_no_section(shown: subject.Subject) -> None:
    used = replace(shown.document.memory, faults=0)
    bare = replace(shown, document=replace(shown.document, memory=used))
    assert memory.section(bare) is None
    assert memory.faults_of(bare, 0) == "0"


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (1024, "1 KiB"), (6 << 20, "6 MiB")],
)
def test_sizes_have_units(amount: int, text: str) -> None:
    assert memory.size(amount) == text
