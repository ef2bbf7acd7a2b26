# SPDX-License-Identifier: GPL-2.0-or-later
"""Which sites a plan keeps if inputs differ."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planted import three_phases

from kadence.base import codec
from kadence.phases.analysis import describe
from kadence.phases.artefact.document import parse
from kadence.phases.describe.memory import PAGE_BYTES
from kadence.phases.find.segmentation import segment
from kadence.phases.plan import common_sites, memory_planning
from kadence.phases.plan.common_sites import Site, Sites
from kadence.phases.plan.io_planning import Paths
from kadence.phases.plan.memory_planning import Memory
from kadence.profiler.format.profile import CallSite, Mapping, Profile, Touches
from kadence.profiler.format.profile import Memory as ProfiledMemory

PAGES = 1024
BYTES = PAGES * PAGE_BYTES
SITE = CallSite("malloc", "compute", "/src/planted.c", 12, "/tmp/planted")
BLOCK = Mapping("anonymous", False, 0, BYTES, BYTES - 16, 0, None, False, False, 0)
WHOLE = Touches(0, 0, PAGES, 1, PAGES, 0, 0)
PATH = Path("x.phases.json")


@pytest.fixture
def used() -> Callable[..., dict[str, Any]]:
    """Describe the phases of a run with one block of memory, `touched` pages of it touched."""

    def described(site: CallSite = SITE, touched: int = PAGES, **changes: Any) -> dict[str, Any]:
        touches = replace(WHOLE, pages=touched, upward=touched)
        profile: Profile = replace(
            three_phases().profile(),
            memory=ProfiledMemory((site,), (replace(BLOCK, **changes),), (touches,)),
        )
        return describe(profile, segment(profile))

    return described


def sites_of(body: dict[str, Any]) -> Sites:
    return codec.decode(Sites, codec.encode(Sites.of(body, PATH)))


def planned(body: dict[str, Any]) -> Memory:
    memory = memory_planning.plan_memory(parse(body, PATH), "default")
    assert [site["treatments"] for site in memory.sites] == [["populate", "huge"]]
    return memory


def test_memory_that_both_inputs_touch_stays(used):
    memory = planned(used())
    common_sites.keep_common_memory(memory, [sites_of(used())])
    assert [site["treatments"] for site in memory.sites] == [["populate", "huge"]]
    assert (memory.mode, memory.refused) == ("default", [])


def test_a_treatment_stays_only_if_every_input_speaks_for_it(used):
    small = used(touched=256, bytes=256 * PAGE_BYTES, request=256 * PAGE_BYTES)
    memory = planned(used())
    common_sites.keep_common_memory(memory, [sites_of(used()), sites_of(small)])
    assert [site["treatments"] for site in memory.sites] == [["populate"]]


def test_what_another_input_leaves_empty_is_not_populated(used):
    memory = planned(used())
    common_sites.keep_common_memory(memory, [sites_of(used(touched=PAGES // 2))])
    assert (memory.sites, memory.mode) == ([], "off")
    assert memory.reason == "no memory is used alike on all inputs"
    assert "on another input" in memory.refused[0]["reason"]
    assert "sparse" in memory.refused[0]["reason"]


def test_what_another_input_has_little_of_stays(used):
    memory = planned(used())
    little = used(touched=63, bytes=63 * PAGE_BYTES, request=63 * PAGE_BYTES)
    common_sites.keep_common_memory(memory, [sites_of(little)])
    assert len(memory.sites) == 1


def test_what_another_input_never_asks_for_goes(used):
    memory = planned(used())
    elsewhere = used(replace(SITE, function="exchange", line=50))
    common_sites.keep_common_memory(memory, [sites_of(elsewhere)])
    assert memory.sites == []
    assert memory.refused[0]["reason"] == "compute: another input asks for no memory there"


@pytest.mark.parametrize(("ahead", "kept"), [(("heap", "stack"), ["heap"]), (("stack",), [])])
def test_ranges_stay_where_all_inputs_go_on_in_order(used, ahead, kept):
    memory = Memory("default", ahead=["heap"])
    common_sites.keep_common_memory(memory, [replace(sites_of(used()), ahead=ahead)])
    assert memory.ahead == kept
    assert memory.mode == ("default" if kept else "off")


def io_site(function: str, *calls: str, file: str = "p.c") -> Site:
    return Site(function, file, calls)


@pytest.mark.parametrize(
    ("other", "calls"),
    [
        ([io_site("dump", "fflush", "write")], ["fflush", "write"]),
        ([io_site("dump", "write")], ["write"]),
        ([io_site("dump", "fflush"), io_site("dump", "write")], ["fflush", "write"]),
        ([io_site("other", "write")], None),
        ([io_site("dump", "write", file="q.c")], None),
        ([], None),
    ],
)
def test_io_stays_where_all_inputs_have_it(used, other, calls):
    paths = Paths(
        "strict",
        sites=[{"phase": 1} | codec.encode(io_site("dump", "fflush", "write"))],
        streams=True,
    )
    common_sites.keep_common_io(paths, [replace(sites_of(used()), io=tuple(other))])
    assert [site["calls"] for site in paths.sites] == ([calls] if calls else [])
    assert (paths.mode, paths.streams) == (("strict", True) if calls else ("off", False))
    assert bool(paths.refused) == (calls is None)
