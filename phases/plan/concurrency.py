# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the program's own tasks could wait for one another.

Waiting need not show in system calls: a thread that spins on a variable looks like compute.
So tasks that share memory or a channel count, whether or not they were seen waiting.
"""

from collections import Counter
from typing import Any

import numpy as np

from kadence.profiler.format.profile import Profile

SYNCHRONISING_CALLS = frozenset(
    [
        "futex",
        "futex_wait",
        "futex_wake",
        "futex_waitv",
        "semop",
        "semtimedop",
        "msgsnd",
        "msgrcv",
        "mq_timedsend",
        "mq_timedreceive",
        "flock",
        "sched_yield",
        "eventfd",
        "eventfd2",
    ]
)
CHANNELS = frozenset({"pipe", "socket"})


def of(profile: Profile) -> dict[str, Any]:
    """The concurrency entry of the phases artefact."""
    seen = profile.facts.threads
    threads = len(np.unique(profile.thread)) if seen is None else seen
    processes = 1 if profile.facts.processes is None else profile.facts.processes
    shared = threads > 1 or bool(profile.facts.shared_memory)
    waiting, moving = _calls_between_tasks(profile)
    tasks = (
        f"{_counted(threads, 'thread')} and {_counted(processes, 'process', 'es')} ran; "
        f"{'memory is shared' if shared else 'no memory is shared'}"
        if profile.tasks_seen
        else "threads and processes were not seen"
    )
    calls = (
        f"{_counted(waiting, 'synchronising call')} and "
        f"{_counted(moving, 'call')} on pipes and sockets were made"
        if profile.kernel_seen
        else "system calls were not seen"
    )
    several = threads + processes > 2
    return {
        "threads": threads,
        "processes": processes,
        "shared_memory": shared,
        "synchronises": several and waiting + moving > 0,
        "evidence": f"{tasks}; {calls}",
    }


def _calls_between_tasks(profile: Profile) -> tuple[int, int]:
    found: Counter[str] = Counter()
    for call in profile.system_calls:
        if call.name in SYNCHRONISING_CALLS:
            found["waiting"] += call.count
        elif call.descriptor in CHANNELS:
            found["moving"] += call.count
    return found["waiting"], found["moving"]


def _counted(number: int, noun: str, plural: str = "s") -> str:
    return f"{number} {noun}{'' if number == 1 else plural}"
