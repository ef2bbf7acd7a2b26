# SPDX-License-Identifier: GPL-2.0-or-later
"""`make bench-live-policies`: what follows from figures, and its smallest guests."""

from pathlib import Path

import pytest

from bench.live import figures, linger, policies
from kadence.boot import debian, qemu

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


@pytest.fixture
def machine() -> qemu.Machine:
    release = debian.newest_release(policies.SERIES)
    return qemu.Machine(debian.kernel_image(release), kernel_arguments=["quiet"])


@pytest.mark.kernel
def test_smallest_host_and_guest(root: Path, machine: qemu.Machine) -> None:
    size = linger.Size(rounds=1, steady_ms=200, turns=5)
    files = {"linger": root / "build/bench/live/linger"}
    found = policies.run(machine, linger.script(size), files)
    [slower] = linger.slower_percent(found, "nice0", "steady_ms")
    assert slower > 50
    [slower] = linger.slower_percent(found, "idle", "turns_ms")
    assert slower < 1
    lines = [*linger.table(found, size)]
    assert [line for way in linger.WAYS.values() for line in lines if line.startswith(way)]
    assert "SCHED_IDLE" in lines[-1]
