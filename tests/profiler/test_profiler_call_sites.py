# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls of a program that makes known calls: site, size, order, peer and distance."""

from collections.abc import Callable
from functools import reduce
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from kadence.profiler import kprof
from kadence.profiler.format.profile import Peer, Profile, SystemCalls

Compile = Callable[..., Path]
RECORDS = 64
AF_UNIX, AF_INET = 1, 2


@pytest.fixture(params=["dynamic", "static"], scope="module")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp(request.param)


@pytest.fixture(scope="module")
def profile(folder: Path, program: Compile, kadence: Callable[..., Any]) -> Profile:
    flags = ["-static"] if folder.name.startswith("static") else []
    words = (program("transfers.c", *flags), folder / "file", folder / "socket")
    output = folder / "P.kprof"
    done = kadence("profile", "--interval", 20_000, "-o", output, "--", *words)
    assert done.returncode == 0, done
    return kprof.read(output)


def calls_in(profile: Profile, function: str, name: str) -> list[SystemCalls]:
    return [
        call
        for call in profile.system_calls
        if call.name == name
        and call.site is not None
        and profile.call_sites[call.site].function == function
    ]


def sizes_of(calls: list[SystemCalls]) -> list[int]:
    def together(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(map(sum, zip_longest(one, other, fillvalue=0)))

    return list(reduce(together, (call.sizes for call in calls)))


def total(calls: list[SystemCalls], what: str) -> int:
    return sum(getattr(call, what) for call in calls)


@pytest.mark.parametrize(
    ("function", "name", "sequential", "random"),
    [
        ("upwards", "write", RECORDS, 0),
        # The first read begins one record before the end of the last write.
        ("downwards", "read", 0, RECORDS),
        ("in_pairs", "pread64", 8, 8),
    ],
)
def test_orders(profile: Profile, function: str, name: str, sequential: int, random: int) -> None:
    calls = calls_in(profile, function, name)
    assert total(calls, "count") == sequential + random
    assert (total(calls, "sequential"), total(calls, "random")) == (sequential, random)
    assert total(calls, "bytes") == 16 * (sequential + random)
    assert sizes_of(calls) == [0, 0, 0, 0, 0, sequential + random]


def test_sizes_are_told_by_powers_of_two(profile: Profile) -> None:
    calls = calls_in(profile, "of_many_sizes", "write")
    assert sizes_of(calls) == [1, 1, 2, *(1,) * 14]


def test_places_have_lines(profile: Profile) -> None:
    source = Path(__file__).parent / "programs" / "transfers.c"
    lines = source.read_text(encoding="utf-8").splitlines()
    (site,) = {call.site for call in calls_in(profile, "upwards", "write")}
    assert site is not None
    found = profile.call_sites[site]
    assert Path(found.file) == source
    assert "write(file, bytes, 16)" in lines[found.line - 1]
    assert len({call.site for call in calls_in(profile, "in_pairs", "pread64")}) == 2


def test_the_library_stands_between(profile: Profile) -> None:
    calls = calls_in(profile, "by_stdio", "write")
    assert total(calls, "bytes") == 4096 * 64
    assert {profile.call_sites[call.site].line for call in calls if call.site is not None}


def test_a_number_stands_for_what_has_it_at_the_time(profile: Profile) -> None:
    calls = calls_in(profile, "by_one_number", "write")
    assert {(call.descriptor, call.count, call.bytes) for call in calls} == {
        ("pipe", 1, 11),
        ("socket", 1, 0),
        ("file", 1, 17),
    }


def test_peers(profile: Profile, folder: Path) -> None:
    seen = {}
    for function, name in (
        ("to_two_peers", "sendto"),
        ("to_two_peers", "write"),
        ("to_a_path", "sendto"),
    ):
        (call,) = calls_in(profile, function, name)
        assert call.peer is not None
        seen[profile.peers[call.peer]] = (call.count, call.bytes)
    assert seen == {
        Peer(AF_INET, "127.0.0.1:9"): (3, 15),
        Peer(AF_INET, "127.0.0.2:9"): (1, 7),
        Peer(AF_UNIX, str(folder / "socket")): (1, 9),
    }
    assert len(profile.peers) == 3


def test_the_time_between_calls(profile: Profile) -> None:
    """Each round of the loop is the same, so the instructions between two writes are, too."""
    calls = [call for call in calls_in(profile, "upwards", "write") if call.gaps]
    assert total(calls, "gaps") == RECORDS - 1
    (mean,) = {call.instructions_between / call.gaps for call in calls}
    assert mean == int(mean)
    assert 5 <= mean < 100
    assert total(calls, "nanoseconds_between") > 0
