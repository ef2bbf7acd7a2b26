# SPDX-License-Identifier: GPL-2.0-or-later
"""Linger-Longer by upstream's own means: a guest that may only use the cycles a host leaves."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.base.rows import aligned
from bench.live.figures import Figures, each

TICK_MS = 4  # Debian's kernels have 250 ticks a second
MOST_SLOWER_PERCENT = 1.0
NO_GUEST = "none"
WAYS = {
    NO_GUEST: "no guest",
    "nice0": "nice 0",
    "nice19": "nice 19",
    "idle": "SCHED_IDLE",
    "idle-session": "SCHED_IDLE, a session of its own",
    "group": "control group with cpu.idle",
}

SCRIPT = """
mkdir /tmp/groups
mount -t cgroup2 none /tmp/groups
echo +cpu >/tmp/groups/cgroup.subtree_control
mkdir /tmp/groups/guest
# What the kernel does in its first seconds would slow the first host.
sleep 5
for round in $(seq @ROUNDS@); do
	for way in @WAYS@; do
		echo "= $way"; /linger $way @STEADY_MS@ @TURNS@
	done
done
"""


@dataclass(frozen=True)
class Size:
    """How much the host does, and how often."""

    rounds: int = 5
    steady_ms: int = 2000
    turns: int = 50


def script(size: Size) -> str:
    """What the guest runs."""
    values = {"ROUNDS": size.rounds, "STEADY_MS": size.steady_ms, "TURNS": size.turns}
    return each(SCRIPT, {"WAYS": " ".join(WAYS), **values})


def table(figures: Figures, size: Size) -> Iterator[str]:
    """What the host loses and the guest gains, by ways."""
    yield f"Linger-Longer: a host computes {size.steady_ms} ms, then {size.turns} times 3 ms and"
    yield f"sleeps 7 ms; a guest computes all the time; {size.rounds} rounds: median (spread)"
    head = ["", "host computes, ms", "slower, %", "host takes turns, ms", "slower, %",
            "guest, % of idle cycles", "wake-up, us", "worst, us"]  # fmt: skip
    yield from aligned([head, *(_row(figures, way) for way in WAYS)])
    yield (
        f"Goals: the host is at most {MOST_SLOWER_PERCENT:.0f} % slower, and the guest leaves "
        f"within a tick ({TICK_MS} ms)."
    )
    yield _conclusion([name for way, name in WAYS.items() if meets_goals(figures, way)])


def _row(figures: Figures, way: str) -> list[str]:
    values = figures[way]
    cells = [WAYS[way], _spread(values["steady_ms"], 1), _slower(figures, way, "steady_ms"),
             _spread(values["turns_ms"], 1), _slower(figures, way, "turns_ms")]  # fmt: skip
    guest = "" if way == NO_GUEST else _spread(values["idle_percent"], 1)
    worst = max(values["worst_us"])
    return [*cells, guest, _spread(values["median_us"], 1), f"{worst:,.1f}"]


def slower_percent(figures: Figures, way: str, name: str) -> list[float]:
    """How much longer the host takes in each round than without a guest."""
    alone = figures[NO_GUEST][name]
    return [100 * (took / least - 1) for took, least in zip(figures[way][name], alone, strict=True)]


def meets_goals(figures: Figures, way: str) -> bool:
    """Whether the guest leaves the host alone as the paper's guests do."""
    slower = max(
        statistics.median(slower_percent(figures, way, name)) for name in ("steady_ms", "turns_ms")
    )
    worst_ms = max(figures[way]["worst_us"]) / 1000
    return way != NO_GUEST and slower <= MOST_SLOWER_PERCENT and worst_ms <= TICK_MS


def _slower(figures: Figures, way: str, name: str) -> str:
    return "" if way == NO_GUEST else _spread(slower_percent(figures, way, name), 2)


def _spread(values: Sequence[float], digits: int) -> str:
    median = statistics.median(values)
    return f"{median:,.{digits}f} ({min(values):,.{digits}f}-{max(values):,.{digits}f})"


def _conclusion(ways: Sequence[str]) -> str:
    if not ways:
        return "None of upstream's ways meets both goals: a unit could do more."
    return f"{' and '.join(ways)}: both goals are met by upstream, so no unit is built."
