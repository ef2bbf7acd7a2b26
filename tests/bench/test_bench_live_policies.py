# SPDX-License-Identifier: GPL-2.0-or-later
"""`make bench-live-policies`: what follows from figures, and its smallest guests."""

from pathlib import Path

import pytest

from bench.live import figures, gangs, linger, policies
from kadence.boot import debian

NO_GUEST = "= none\nsteady_ms 2000\nturns_ms 500\nmedian_us 5\nworst_us 6\n"


def of_way(way: str, steady_ms: float, turns_ms: float, worst_us: float) -> figures.Figures:
    return figures.read(
        f"{NO_GUEST}= {way}\nsteady_ms {steady_ms}\nturns_ms {turns_ms}\nworst_us {worst_us}\n"
    )


@pytest.mark.parametrize(
    ("steady_ms", "turns_ms", "worst_us", "meets"),
    [
        (2010, 501, 6, True),
        (2030, 501, 6, False),
        (2010, 506, 6, False),
        (2010, 501, 4001, False),
    ],
)
def test_a_guest_meets_goals(
    steady_ms: float, turns_ms: float, worst_us: float, meets: bool
) -> None:
    assert linger.meets_goals(of_way("idle", steady_ms, turns_ms, worst_us), "idle") == meets


def test_no_guest_meets_no_goal() -> None:
    assert not linger.meets_goals(figures.read(NO_GUEST), "none")


def turns(way: str, ms: int, faults: int, requests: int) -> str:
    return (
        f"= {way}\nms {ms}\nbusy_ms {ms}\nchanges 7\nfaults {faults}\n"
        f"reads {requests}\nwrites 0\nmib 150\n"
    )


@pytest.mark.parametrize(("ms", "said"), [(1000, "no unit is built."), (1900, "are not enough.")])
def test_calls_are_enough_if_jobs_end_sooner(ms: int, said: str) -> None:
    ways = dict.fromkeys(gangs.WAYS, (2000, 300, 500)) | {gangs.BOTH: (ms, 100, 125)}
    text = "= memory\navailable 100\njob 70\n"
    found = figures.read(text + "".join(turns(way, *ways[way]) for way in ways))
    lines = [*gangs.table(found, gangs.Size())]
    assert lines[-1].endswith(said)
    assert gangs.slow_disk_s(found, gangs.BOTH) == pytest.approx(ms / 1000 + 1 + 1.048576)


@pytest.mark.kernel
def test_smallest_host_and_guest(root: Path) -> None:
    size = linger.Size(rounds=1, steady_ms=200, turns=5)
    files = {"linger": root / "build/bench/live/linger"}
    machine = policies.guest(debian.newest_release(policies.SERIES))
    found = figures.run(machine, linger.script(size), files)
    [slower] = linger.slower_percent(found, "nice0", "steady_ms")
    assert slower > 50
    [slower] = linger.slower_percent(found, "idle", "turns_ms")
    assert slower < 1
    lines = [*linger.table(found, size)]
    assert all(any(line.startswith(name) for line in lines) for name in linger.WAYS.values())
    assert "SCHED_IDLE" in lines[-1]


@pytest.mark.kernel
def test_smallest_jobs_that_take_turns() -> None:
    size = gangs.Size(rounds=1, memory_mib=224, swap_mib=96, passes=3, quantum_ms=150)
    release = debian.newest_release(policies.SERIES)
    machine = policies.paging_guest(release, size)
    found = figures.run(machine, gangs.script(size), policies.disk(release))
    assert found[gangs.BATCH]["changes"] == [1]
    assert found[gangs.BATCH]["faults"] == [0]
    assert found[gangs.PLAIN]["changes"][0] > 1
    assert found[gangs.PLAIN]["faults"][0] > 0
    assert found[gangs.BOTH]["mib"][0] > 0
    lines = [*gangs.table(found, size)]
    assert all(any(line.startswith(name) for line in lines) for name in gangs.WAYS.values())
