# SPDX-License-Identifier: GPL-2.0-or-later
"""The walk from a command's system calls to what takes their time: KernInst's, section 4.2.

It begins with all of the command's time in the kernel and goes on into the calls that count, until
nothing below explains a tenth of it.
"""

import fnmatch
from collections.abc import Iterator

from kadence.observe.paths import Path

LEAST_PERCENT = 10.0
# They only pass system calls and page faults on.
PASSING_ON = frozenset({"do_syscall_64", "x64_sys_call", "ret_from_fork"})
# They are how a task waits, and not why; the walk ends at what called them.
WAITING = ("schedule", "schedule_*", "__schedule", "io_schedule*", "preempt_schedule*",
           "__cond_resched", "*msleep*", "usleep_range*", "wait_for_completion*",
           "__wait_for_common", "mutex_lock*", "__mutex_lock*", "down_read*", "down_write*",
           "rwsem_down_*", "do_nanosleep")  # fmt: skip
MOST_LINKS = 4  # of a chain that are shown


def lines(root: Path, least_percent: float = LEAST_PERCENT) -> Iterator[str]:
    """The tree of what explains so many percent, for a person."""
    if not root.cost:
        yield "the kernel did nothing for the command"
        return
    for path in _counting(root, root.cost * least_percent / 100):
        yield from _lines(path, root.cost, least_percent, 0)


def bottom(root: Path, least_percent: float = LEAST_PERCENT) -> Path:
    """Where the walk ends that takes the costliest phase and call each time."""
    path, least = root, root.cost * least_percent / 100
    while found := _counting(path, least):
        path = found[0]
    return path


def _lines(path: Path, total: int, least_percent: float, depth: int) -> Iterator[str]:
    chain = _chain(path, total * least_percent / 100)
    last = chain[-1]
    names = " › ".join(_name(each) for each in _shown(chain))
    waited = f", waiting {_share(last.waited, total)}" if last.waited * 100 > total else ""
    yield (
        f"{_share(chain[0].cost, total):>6}  {'  ' * depth}{names}: {_calls(last)}, "
        f"{last.cost / max(last.calls, 1):,.0f} ns each{waited}"
    )
    for each in _counting(last, total * least_percent / 100):
        yield from _lines(each, total, least_percent, depth + 1)


def _name(path: Path) -> str:
    return path.function if path.phase is None else f"phase {path.phase}"


def _calls(path: Path) -> str:
    if path.phase is None:
        return f"{path.calls:,} calls"
    return "once" if path.calls == 1 else f"{path.calls:,} times"


def _shown(chain: list[Path]) -> list[Path]:
    if len(chain) <= MOST_LINKS:
        return chain
    return [*chain[: MOST_LINKS - 2], *chain[-2:]]


def _chain(path: Path, least: float) -> list[Path]:
    """The path and those below it, as long as each explains nearly all of the one before."""
    chain = [path]
    while len(found := _counting(chain[-1], least)) == 1 and found[0].cost > 0.9 * path.cost:
        chain.append(found[0])
    return chain


def _counting(path: Path, least: float) -> list[Path]:
    """What is below a path and explains so much, the costliest first."""
    found = []
    for each in path.below:
        if each.function in PASSING_ON:
            found += _counting(each, least)
        elif each.cost >= least and not is_waiting(each.function):
            found.append(each)
    return sorted(found, key=lambda each: (-each.cost, each.function))


def is_waiting(function: str) -> bool:
    """Whether a function is only how a task waits."""
    return any(fnmatch.fnmatchcase(function, pattern) for pattern in WAITING)


def _share(part: int, total: int) -> str:
    return f"{100 * part / total:.1f} %"
