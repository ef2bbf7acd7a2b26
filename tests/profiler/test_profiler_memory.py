# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory of programs that touch known pages, from known sites, in a known order."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kadence.profiler import kprof
from kadence.profiler.format.profile import Mapping, Profile, Touches

Profiled = Callable[..., Profile]
Compile = Callable[..., Path]
PAGE, HEADER = 4096, 32
DENSE, SPREAD, STEP, TIMES, PARTS = 512, 8192, 16, 5, 8  # as in memory.c


@pytest.fixture(params=["dynamic", "static"])
def memory(request: pytest.FixtureRequest, program: Compile, profiled: Profiled) -> Profile:
    flags = ["-static"] if request.param == "static" else []
    return profiled(program("memory.c", *flags), interval=20_000)


def mappings_of(profile: Profile, function: str) -> list[tuple[int, Mapping]]:
    """The mappings that this function of the program asked for."""
    return [
        (number, mapping)
        for number, mapping in enumerate(profile.memory.mappings)
        if mapping.site is not None and profile.memory.sites[mapping.site].function == function
    ]


def the_mapping(profile: Profile, function: str) -> tuple[Mapping, list[Touches]]:
    """This function's only mapping besides a heap (of the first malloc), and its touches."""
    ((number, mapping),) = (
        found for found in mappings_of(profile, function) if found[1].kind != "heap"
    )
    return mapping, [touch for touch in profile.memory.touches if touch.mapping == number]


def calls(profile: Profile, function: str) -> set[str]:
    return {
        profile.memory.sites[mapping.site].call
        for _, mapping in mappings_of(profile, function)
        if mapping.site is not None
    }


def pages(touches: list[Touches]) -> int:
    return sum(touch.pages for touch in touches)


def test_a_block_that_is_filled_upwards(memory: Profile) -> None:
    mapping, touches = the_mapping(memory, "upwards")
    assert calls(memory, "upwards") == {"malloc"}
    assert (mapping.kind, mapping.bytes, mapping.request) == (
        "anonymous",
        DENSE * PAGE,
        DENSE * PAGE - HEADER,
    )
    assert pages(touches) == sum(touch.upward for touch in touches) == DENSE
    assert sum(touch.released for touch in touches) == DENSE
    assert len(touches) > DENSE * 3000 / 20_000 / 2
    assert mapping.gone == touches[-1].interval
    assert mapping.born <= touches[0].interval


def test_a_block_that_is_filled_downwards(memory: Profile) -> None:
    mapping, touches = the_mapping(memory, "downwards")
    assert calls(memory, "downwards") == {"mmap"}
    assert (mapping.kind, mapping.bytes) == ("anonymous", DENSE * PAGE)
    assert pages(touches) == DENSE
    # The last run, which reaches the first page, begins where an upward run would.
    *before, last = (touch for touch in touches if touch.pages)
    assert sum(touch.downward for touch in before) == DENSE - last.pages
    assert sum(touch.runs for touch in touches) == len([touch for touch in touches if touch.pages])


def test_a_block_of_which_every_sixteenth_page_is_touched(memory: Profile) -> None:
    mapping, touches = the_mapping(memory, "sparse")
    assert mapping.unreserved
    assert mapping.bytes == SPREAD * PAGE
    assert mapping.gone is None
    assert pages(touches) == sum(touch.runs for touch in touches) == SPREAD // STEP


def test_memory_that_is_given_back_and_taken_again(memory: Profile) -> None:
    found = mappings_of(memory, "again")
    assert calls(memory, "again") == {"calloc"}
    assert len(found) == TIMES
    for number, mapping in found:
        assert (mapping.bytes, mapping.request) == (DENSE * PAGE, DENSE * PAGE - HEADER)
        touched = [touch for touch in memory.memory.touches if touch.mapping == number]
        assert pages(touched) == sum(touch.released for touch in touched) == DENSE
    assert [mapping.again for _, mapping in found] == [False] + [True] * (TIMES - 1)
    assert {mapping.beside for _, mapping in found} == {0}


def test_discarded_pages_are_touched_anew(memory: Profile) -> None:
    _, touches = the_mapping(memory, "discarded")
    assert pages(touches) == 2 * DENSE + DENSE // 2
    assert sum(touch.released for touch in touches) == 2 * DENSE


def test_a_block_that_moves_and_grows_stays_one(memory: Profile) -> None:
    mapping, touches = the_mapping(memory, "moved")
    assert mapping.bytes == PARTS * DENSE * PAGE
    assert pages(touches) == sum(touch.released for touch in touches) == PARTS * DENSE


def test_the_heap_grows_for_small_blocks(memory: Profile) -> None:
    found = mappings_of(memory, "grown")
    assert {mapping.kind for _, mapping in found} == {"heap"}
    assert {mapping.request for _, mapping in found} == {PAGE - HEADER}
    total = sum(mapping.bytes for _, mapping in found)
    assert abs(total - DENSE * PAGE) <= 2 * 135_168


def test_the_stack_grows(memory: Profile) -> None:
    numbers = {n for n, mapping in enumerate(memory.memory.mappings) if mapping.kind == "stack"}
    (stack,) = (memory.memory.mappings[number] for number in numbers)
    assert stack.site is None
    assert stack.bytes >= DENSE * PAGE
    found = pages([touch for touch in memory.memory.touches if touch.mapping in numbers])
    assert DENSE <= found < DENSE + 64


def test_only_what_was_there_at_a_fork_was_copied(memory: Profile) -> None:
    mapping, touches = the_mapping(memory, "forked")
    assert mapping.forked
    assert pages(touches) == DENSE
    assert mappings_of(memory, "sparse")[0][1].forked
    assert not any(mapping.forked for _, mapping in mappings_of(memory, "again"))


def test_the_program_does_what_it_does_without(program: Compile, profiled: Profiled) -> None:
    """The profiler's work at malloc must not add a single instruction."""
    plain = profiled(program("memory.c", "-static"), interval=1_000_000)
    watched = profiled(program("memory.c", "-static"), interval=5_000)
    assert plain.instructions.sum() == watched.instructions.sum()


def test_a_container_asks_by_operator_new(program: Compile, profiled: Profiled) -> None:
    profile = profiled(program("vector.cc", "-O0"))
    large = [m for m in profile.memory.mappings if m.request >= DENSE * PAGE]
    (mapping,) = large
    assert mapping.site is not None
    site = profile.memory.sites[mapping.site]
    assert site.call == "_Znwm"
    assert "allocate" in site.function
    assert mapping.request == DENSE * PAGE


def test_fortran_asks_by_malloc(program: Compile, profiled: Profiled) -> None:
    profile = profiled(program("allocate.f90", "-O0"))
    asking = {
        (profile.memory.sites[mapping.site].function, profile.memory.sites[mapping.site].call)
        for mapping in profile.memory.mappings
        if mapping.site is not None and mapping.request == DENSE * PAGE
    }
    assert asking == {("MAIN__", "malloc"), ("total.0", "malloc")}


def test_a_program_that_becomes_another_is_told_until_then(profiled: Profiled) -> None:
    profile = profiled("/bin/sh", "-c", "exec true")
    assert {mapping.kind for mapping in profile.memory.mappings} >= {"stack", "anonymous"}
    assert all(touch.interval < len(profile.instructions) for touch in profile.memory.touches)


def test_huge_pages_are_left_to_who_is_not_profiled(profiled: Profiled, tmp_path: Path) -> None:
    """A set-uid program is not profiled; THP_enabled in /proc, where present, shows the effect."""
    told = subprocess.run(
        ["grep", "-s", "THP_enabled", "/proc/self/status"],
        check=False,
        capture_output=True,
        text=True,
    )
    if not told.stdout:
        pytest.skip("this kernel's /proc has no THP_enabled")
    reader = Path(shutil.copy("/bin/grep", tmp_path / "reader"))
    reader.chmod(0o4755)
    script = f"{reader} -q 'THP_enabled:.1' /proc/self/status; exit $?"
    assert profiled("/bin/sh", "-c", script).exit_status == 0


def test_a_child_knows_the_memory_that_it_was_left(
    program: Compile, kadence: Callable[..., Any], tmp_path: Path
) -> None:
    command = (program("memory.c", "-static"),)
    kadence("profile", "-o", tmp_path / "P.kprof", "--", *command)
    (child,) = tmp_path.glob("P.*.kprof")
    of_child, first = kprof.read(child), kprof.read(tmp_path / "P.kprof")
    mapping, touches = the_mapping(of_child, "sparse")
    left, _ = the_mapping(first, "sparse")
    assert mapping == replace(left, born=0, forked=False, site=mapping.site)
    assert touches == []
