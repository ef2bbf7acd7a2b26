# SPDX-License-Identifier: GPL-2.0-or-later
"""What the phases say about memory, and what the plan makes of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planted import LIBC, PROGRAM, three_phases

from kadence.base.errors import ArtefactError, UsageError
from kadence.phases import planning
from kadence.phases.analysis import describe
from kadence.phases.artefact.document import parse
from kadence.phases.describe import memory_calls
from kadence.phases.find.segmentation import segment
from kadence.profiler.format.profile import (
    CallSite,
    Function,
    Mapping,
    Memory,
    Profile,
    SystemCalls,
    Touches,
)

PAGE = 4096
PAGES = 1024
SITE = CallSite("malloc", "compute", "/src/planted.c", 13, PROGRAM)
BLOCK = Mapping("anonymous", False, 0, PAGES * PAGE, PAGES * PAGE - 16, 0, None, False, False, 0)
WHOLE = Touches(0, 0, PAGES, 1, PAGES, 0, 0)


def with_memory(*mappings: Mapping, touches: tuple[Touches, ...], site: Any = SITE) -> Profile:
    profile = three_phases().profile()
    return replace(
        profile,
        memory=Memory((site,), mappings, touches),
        facts=replace(profile.facts, memory_bytes=10 * PAGES * PAGE, memory_limit_bytes=1 << 34),
    )


def dense(site: Any = SITE, **changes: Any) -> Profile:
    """A profile with one block of PAGES pages, all touched; `changes` replaces its members."""
    return with_memory(replace(BLOCK, **changes), touches=(WHOLE,), site=site)


def body_of(profile: Profile) -> dict[str, Any]:
    return describe(profile, segment(profile))


def planned(profile: Profile, memory: str = "default") -> dict[str, Any]:
    document = parse(body_of(profile), Path("x.phases.json"))
    return planning.plan(document, planning.Options(memory=memory))


def reasons(plan: dict[str, Any]) -> list[str]:
    return [refusal["reason"] for refusal in plan["refused"] if refusal["what"] == "memory"]


def treatments(plan: dict[str, Any]) -> list[list[str]]:
    return [site["treatments"] for site in plan["memory"]["sites"]]


def test_a_refusal_tells_how_many_faults_it_is_about() -> None:
    half = replace(WHOLE, pages=PAGES // 2, upward=PAGES // 2)
    refused = planned(with_memory(BLOCK, touches=(half,), site=SITE))["refused"]
    (sparse,) = [entry for entry in refused if "sparse" in entry["reason"]]
    assert (sparse["what"], sparse["count"]) == ("memory", PAGES // 2)


# ---- what the phases say -------------------------------------------------------------------------


def test_faults_are_told_by_phase() -> None:
    profile = three_phases().profile()
    assignment = body_of(profile)["assignment"]
    row = assignment.index(1)
    touches = (WHOLE, Touches(row, 1, 10, 10, 0, 0, 0))
    body = body_of(with_memory(BLOCK, replace(BLOCK, born=row), touches=touches))
    told = [phase["memory"] for phase in body["phases"]]
    assert told[assignment[0]] == {
        "faults": PAGES,
        "bytes": PAGES * PAGE,
        "order": "upward",
        "scattered": 0,
        "file_pages": 0,
    }
    ten = {"faults": 10, "bytes": 10 * PAGE, "order": "scattered", "scattered": 10}
    assert told[1] == ten | {"file_pages": 0}
    assert body["memory"]["faults"] == PAGES + 10


def test_a_site_is_told_with_its_function_and_share() -> None:
    half = replace(WHOLE, pages=PAGES // 2, upward=0, downward=PAGES // 2)
    (site,) = body_of(with_memory(BLOCK, touches=(half,)))["memory"]["sites"]
    assert site["places"] == [
        {"function": "compute", "file": "planted.c", "cfg_checksum": "0000aaaa"}
    ]
    assert (site["kind"], site["touched"], site["order"]) == ("block", 0.5, "downward")
    assert (site["call"], site["line"], site["own"], site["again"]) == ("malloc", 13, True, 0)


@pytest.mark.parametrize(
    ("runs", "upward", "downward", "order"),
    [
        (3, 922, 0, "upward"),
        (3, 0, 922, "downward"),
        (64, 500, 500, "in runs"),
        (65, 500, 500, "scattered"),
    ],
)
def test_an_order_is_named(runs: int, upward: int, downward: int, order: str) -> None:
    touch = Touches(0, 0, PAGES, runs, upward, downward, 0)
    body = body_of(with_memory(BLOCK, touches=(touch,)))
    assert body["memory"]["sites"][0]["order"] == order


def test_the_growth_follows_what_is_there() -> None:
    touches = (WHOLE, Touches(3, 0, 8, 1, 8, 0, PAGES), Touches(5, 0, 2, 1, 2, 0, 0))
    memory = body_of(with_memory(BLOCK, touches=touches))["memory"]
    assert memory["growth"] == [
        {"row": 0, "bytes": PAGES * PAGE},
        {"row": 3, "bytes": 8 * PAGE},
        {"row": 5, "bytes": 10 * PAGE},
    ]
    assert memory["peak_resident_bytes"] == PAGES * PAGE


def test_pages_of_files_are_no_faults() -> None:
    mapping = replace(BLOCK, kind="private-file")
    memory = body_of(with_memory(mapping, touches=(WHOLE,)))["memory"]
    assert (memory["faults"], memory["file_pages"], memory["growth"]) == (0, PAGES, [])


def test_what_malloc_maps_for_small_blocks_is_a_heap() -> None:
    memory = body_of(dense(request=100))["memory"]
    assert memory["sites"] == []
    assert [used["kind"] for used in memory["ranges"]] == ["heap"]


def test_heap_that_grows_by_a_part_of_a_large_block_is_that_block() -> None:
    """free() returns the block's end to the kernel; the rest becomes part of the next block."""
    (site,) = body_of(dense(kind="heap", request=PAGES * PAGE + 60_000))["memory"]["sites"]
    assert site["kind"] == "block"
    small = replace(BLOCK, kind="heap", bytes=40_960, request=100_000)
    memory = body_of(with_memory(small, touches=(replace(WHOLE, pages=10, upward=10),)))["memory"]
    assert [used["kind"] for used in memory["ranges"]] == ["heap"]


def test_instances_of_a_template_are_all_places() -> None:
    header = "/usr/include/allocator.h"
    functions = (Function("of_int", header, 100, "1"), Function("of_double", header, 100, "2"))
    site = CallSite("_Znwm", "main", header, 105, PROGRAM)
    profile = dense(site)
    both = replace(profile, functions=(*profile.functions, *functions))
    (told,) = body_of(both)["memory"]["sites"]
    assert [place["function"] for place in told["places"]] == ["of_int", "of_double"]
    named = replace(both, memory=replace(both.memory, sites=(replace(site, function="of_int"),)))
    (told,) = body_of(named)["memory"]["sites"]
    assert [place["function"] for place in told["places"]] == ["of_int"]


def test_a_damaged_entry_is_refused() -> None:
    for damage in ({"sites": [{}]}, {"ranges": [{"order": "sideways"}]}, {"sites": None}):
        body = body_of(dense())
        body["memory"] |= damage
        with pytest.raises(ArtefactError, match="is damaged"):
            parse(body, Path("x.phases.json"))


# ---- what the plan makes of it -------------------------------------------------------------------


def test_a_block_that_is_touched_as_a_whole_is_populated() -> None:
    plan = planned(dense())
    assert plan["memory"] == {
        "mode": "default",
        "reason": None,
        "ahead": [],
        "keep_bytes": 0,
        "fresh_least_bytes": 131072,
        "sites": [
            {
                "phase": 0,
                "function": "compute",
                "file": "planted.c",
                "cfg_checksum": "0000aaaa",
                "line": None,
                "calls": ["calloc", "malloc"],
                "treatments": ["populate", "huge"],
                "evidence": (
                    f"1 mapping by malloc, up to {PAGES * PAGE} bytes large; {PAGES} faults, "
                    "100.0% of the pages touched (upward)"
                ),
            }
        ],
    }
    assert plan["needs"]["memory"] is True
    assert {policy["memory_plain"] for policy in plan["policies"]} == {False}


def test_off_plans_nothing() -> None:
    plan = planned(dense(), "off")
    assert (plan["memory"]["mode"], plan["memory"]["sites"]) == ("off", [])
    assert plan["memory"]["reason"] == "not wanted (--memory=off)"
    assert plan["needs"]["memory"] is False


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bytes": int(PAGES * PAGE / 0.94), "request": int(PAGES * PAGE / 0.94)}, "sparse"),
        ({"forked": True}, "forks while it is there"),
        ({"unreserved": True}, "without a reservation"),
    ],
)
def test_what_would_be_harmed_stays_as_it_is(changes: dict[str, Any], reason: str) -> None:
    plan = planned(dense(**changes))
    assert plan["memory"]["sites"] == []
    assert any(reason in told and "faults" in told for told in reasons(plan))


def test_a_block_of_which_a_twentieth_is_left_is_still_dense() -> None:
    size = int(PAGES * PAGE / 0.95)
    assert treatments(planned(dense(bytes=size, request=size))) == [["populate", "huge"]]


def test_few_faults_are_left() -> None:
    for pages, sites in ((63, 0), (64, 1)):
        mapping = replace(BLOCK, bytes=pages * PAGE, request=pages * PAGE)
        touch = Touches(0, 0, pages, 1, pages, 0, 0)
        plan = planned(with_memory(mapping, touches=(touch,)))
        assert len(plan["memory"]["sites"]) == sites
    assert plan["memory"]["sites"][0]["treatments"] == ["populate"]


@pytest.mark.parametrize(("times", "keeps"), [(3, False), (4, True)])
def test_what_is_taken_again_and_again_is_kept(times: int, keeps: bool) -> None:
    mappings = [replace(BLOCK, again=number > 0) for number in range(times)]
    touches = tuple(replace(WHOLE, mapping=number) for number in range(times))
    plan = planned(with_memory(*mappings, touches=touches))
    assert ("keep" in treatments(plan)[0]) is keeps
    assert plan["memory"]["keep_bytes"] == (32 << 20 if keeps else 0)


def test_what_the_program_unmaps_itself_is_not_kept() -> None:
    mappings = [replace(BLOCK, again=number > 0) for number in range(9)]
    touches = tuple(replace(WHOLE, mapping=number) for number in range(9))
    site = replace(SITE, call="mmap")
    plan = planned(with_memory(*mappings, touches=touches, site=site))
    assert treatments(plan) == [["populate", "huge"]]
    assert plan["memory"]["sites"][0]["calls"] == ["mmap", "mmap64"]


def test_kept_memory_is_bounded() -> None:
    mappings = [
        replace(BLOCK, again=number > 0, beside=1 << 30, bytes=PAGES * PAGE) for number in range(9)
    ]
    touches = tuple(
        replace(WHOLE, mapping=number, released=PAGES * (number > 0)) for number in range(9)
    )
    plan = planned(with_memory(*mappings, touches=touches))
    assert plan["memory"]["keep_bytes"] == int(0.05 * PAGES * PAGE) + (32 << 20)


def test_lines_of_one_function_are_told_apart_where_they_differ() -> None:
    profile = dense()
    sparse = replace(BLOCK, site=1, bytes=8 * PAGES * PAGE, request=8 * PAGES * PAGE)
    memory = Memory(
        (SITE, replace(SITE, line=15)), (BLOCK, sparse), (WHOLE, replace(WHOLE, mapping=1))
    )
    plan = planned(replace(profile, memory=memory))
    assert [(site["function"], site["line"]) for site in plan["memory"]["sites"]] == [
        ("compute", 13)
    ]
    assert any("sparse" in reason for reason in reasons(plan))


def test_files_that_are_read_once_are_mapped_ahead() -> None:
    plan = planned(dense(replace(SITE, call="mmap"), kind="private-file"))
    assert treatments(plan) == [["map-ahead"]]


def test_memory_of_libraries_is_bound_as_a_range() -> None:
    plan = planned(dense(replace(SITE, object=LIBC)))
    assert plan["memory"]["sites"] == []
    assert plan["memory"]["ahead"] == ["mappings"]
    assert any("asked for by a library" in reason for reason in reasons(plan))


@pytest.mark.parametrize(("kind", "name"), [("heap", "heap"), ("stack", "stack")])
def test_what_grows_in_order_is_made_present_ahead(kind: str, name: str) -> None:
    grown = replace(BLOCK, kind=kind, site=None)
    plan = planned(with_memory(grown, touches=(WHOLE,)))
    assert plan["memory"]["ahead"] == [name]
    scattered = replace(WHOLE, runs=PAGES, upward=0)
    plan = planned(with_memory(grown, touches=(scattered,)))
    assert plan["memory"]["mode"] == "off"
    assert f"the {name}: {PAGES} faults, of which 0 are in an order" in reasons(plan)
    plan = planned(with_memory(replace(grown, forked=True), touches=(WHOLE,)))
    assert plan["memory"]["ahead"] == []


@pytest.mark.parametrize(("share", "mode"), [(0.79, "default"), (0.81, "off")])
def test_a_program_near_its_limit_stays_as_it_is(share: float, mode: str) -> None:
    profile = dense()
    limit = int(profile.facts.memory_bytes / share)
    plan = planned(replace(profile, facts=replace(profile.facts, memory_limit_bytes=limit)))
    assert plan["memory"]["mode"] == mode
    assert ("above 80% of it" in (plan["memory"]["reason"] or "")) is (mode == "off")


def test_phases_of_single_pages_are_left_to_the_kernel() -> None:
    profile = three_phases().profile()
    row = body_of(profile)["assignment"].index(1)
    scattered = Touches(row, 1, 100, 100, 0, 0, 0)
    large = replace(BLOCK, site=None, bytes=1 << 30)
    plan = planned(with_memory(BLOCK, large, touches=(WHOLE, scattered)))
    assert plan["memory"]["ahead"] == []
    assert [policy["memory_plain"] for policy in plan["policies"]] == [False] * 3


def test_a_range_is_bound_however_much_of_it_stays_empty() -> None:
    large = replace(BLOCK, site=None, bytes=1 << 34)
    plan = planned(with_memory(large, touches=(WHOLE,)))
    assert plan["memory"]["ahead"] == ["mappings"]


@pytest.mark.parametrize(("threads", "is_plain"), [(1, True), (2, False)])
def test_a_phase_that_forks_faults_as_on_any_kernel(threads: int, is_plain: bool) -> None:
    profile = dense()
    row = body_of(profile)["phases"][1]["representative"]
    forks = replace(
        profile,
        system_calls=(*profile.system_calls, SystemCalls(row, "clone", "", 1, 0)),
        facts=replace(profile.facts, processes=2, threads=threads),
    )
    plain = [policy["memory_plain"] for policy in planned(forks)["policies"]]
    assert plain == [False, is_plain, False]


def test_a_program_without_faults_needs_nothing() -> None:
    plan = planned(three_phases().profile())
    assert plan["memory"]["mode"] == "off"
    assert "causes 64 page faults" in plan["memory"]["reason"]
    assert plan["needs"]["memory"] is False


def test_a_mode_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError, match="--memory takes default, off, not 'huge'"):
        planned(dense(), "huge")


@pytest.mark.parametrize(
    ("symbol", "member"),
    [
        ("malloc", "calloc"),
        ("__libc_malloc", "malloc"),
        ("__mmap", "mmap64"),
        ("_Znwm", "_ZnwmSt11align_val_t"),
        ("_Znwm", "_Znam"),
        ("_ZnamRKSt9nothrow_t", "_Znam"),
        ("posix_memalign", "aligned_alloc"),
        ("realloc@@GLIBC_2.2.5", "reallocarray"),
    ],
)
def test_a_function_stands_for_its_family(symbol: str, member: str) -> None:
    assert member in memory_calls.family(symbol)


def test_other_functions_have_none() -> None:
    for symbol in ("", "sbrk", "mremap", "strdup", "pthread_create"):
        assert memory_calls.family(symbol) == ()
