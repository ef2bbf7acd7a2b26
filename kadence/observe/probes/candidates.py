# SPDX-License-Identifier: GPL-2.0-or-later
"""Which functions of a machine's kernel are worth timing: those that are called, and not too often.

All functions that can be traced are counted, so many at a time as the device takes. Then the most
often called ones are left out, until the rest may be timed. They are short, and have few callees.
"""

import fnmatch
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kadence.observe.probes.instruments import MOST, Instrument, Kernel, Kind, matching, timed
from kadence.observe.probes.results import Results

# Without these there is no walk.
ENTRIES = ("__x64_sys_*", "handle_mm_fault")

Count = Callable[[Sequence[Instrument]], Results]


def called(
    kernel: Kernel, patterns: Sequence[str], count: Count
) -> Iterator[tuple[Results, Sequence[Instrument]]]:
    """Count the kernel's own functions that match, and yield the results of each batch.

    The device takes many functions of the kernel itself, but not together with those of modules.
    """
    own = [line for line in kernel.kallsyms if not line.endswith("]")]
    found = matching(replace(kernel, kallsyms=own), patterns, only_count=True)
    for at in range(0, len(found), MOST):
        yield count(found[at : at + MOST]), found[at : at + MOST]


def affordable(
    kernel: Kernel, counted: Sequence[tuple[Results, Sequence[Instrument]]], most_percent: float
) -> list[Instrument]:
    """The timed instruments that together make the tasks at most so much slower."""
    calls = {timed(kernel, each): times for each, times in _calls(counted).items()}
    first, _ = counted[0]
    left = _ran(first) * most_percent / 100
    found: list[Instrument] = []
    for each in sorted(calls, key=lambda each: _entries_first(each.function, calls[each])):
        left -= calls[each] * first.costs.calls[each.kind]
        if left < 0 or len(found) == MOST:
            break
        if each.kind != Kind.COUNT:
            found.append(each)
    return found


def _calls(counted: Sequence[tuple[Results, Sequence[Instrument]]]) -> Counter[Instrument]:
    """The calls of each function that was called."""
    calls: Counter[Instrument] = Counter()
    for results, batch in counted:
        for block in results.blocks:
            for record in block.records:
                if record.calls:
                    calls[batch[record.function]] += record.calls
    return calls


def _ran(results: Results) -> int:
    """Ticks that the tasks had."""
    return sum(block.elapsed - block.away for block in results.blocks)


def _entries_first(name: str, times: int) -> tuple[bool, int, str]:
    return not any(fnmatch.fnmatchcase(name, each) for each in ENTRIES), times, name
