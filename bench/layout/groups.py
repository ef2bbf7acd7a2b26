# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of objects laid out alone: the most that a unit made of these objects could gain.

    python -m bench.layout.groups PROGRAM

A unit of kadapt/live could bring a group of functions to a running kernel. Here the kernel's image
has the same group, laid out alone. A unit made of the same objects could gain no more: in the image
nothing is there twice, and calls need no stub. PROGRAM is one that bench/layout/positioned.py has
counted.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bench.layout.builds import PLAIN
from bench.layout.positioned import PLAN, PROGRAMS, TARGET, folder_of, place_of
from kadence.base import resources
from kadence.kconfig.configuration import identity
from kadence.kconfig.layout import artefact
from kadence.kconfig.layout.artefact import Footprint
from kadence.kconfig.layout.order import Flow, pettis_hansen
from kadence.kconfig.request.request import TAILORED, BuildRequest
from kadence.kconfig.store import store
from kadence.kconfig.store.build import build_inputs
from kadence.kernel import counting

SIZES = (5, 20, 60)  # objects
STUB = 13  # instructions of a call of a variant on a kernel as it is (docs/results/bench-live.txt)


@dataclass(frozen=True)
class Row:
    """What one group of objects does."""

    label: str
    calls: int  # into the group, from elsewhere
    found: Footprint


def measured(name: str) -> Iterator[Row]:
    """The kernel as it was, its groups, and the whole; groups are removed from the store."""
    [program] = [each for each in PROGRAMS if each.name == name]
    place = place_of(program)
    os.chdir(folder_of(program) / PLAIN)
    whole = artefact.read(place)
    assert whole.before is not None and whole.after is not None
    yield Row("nothing", 0, whole.before)
    request = BuildRequest(kind=TAILORED, plan=resources.home() / PLAN, target=TARGET)
    wanted = replace(identity.gather(request), request=replace(request, layout=place))
    flow = counting.flow_of(replace(wanted, layout=replace(whole, order=[])), program.trained)
    hottest = [name for name, _ in heat(flow).most_common() if name in whole.objects]
    for size in SIZES:
        group = frozenset(hottest[:size])
        objects = {name: each for name, each in whole.objects.items() if name in group}
        alone = replace(whole, objects=objects, order=[])
        own = counting.flow_of(replace(wanted, layout=alone), program.trained)
        order = [key for key in pettis_hansen(own) if object_of(key) in group]
        kernel = build_inputs(replace(wanted, layout=replace(alone, order=order)))
        yield Row(
            f"{size} objects", calls(own, group), counting.footprint_of(kernel, program.trained)
        )
        store.remove(kernel.id)
    yield Row(f"all {len(whole.objects)}", 0, whole.after)


def object_of(key: str) -> str:
    """The object of "OBJECT SECTION", as the counts name it."""
    return key.partition(" ")[0].removesuffix(".o")


def heat(flow: Flow) -> Counter[str]:
    """Executed bytes of each object."""
    found: Counter[str] = Counter()
    for key, count in flow.heat.items():
        found[object_of(key)] += count
    return found


def calls(flow: Flow, group: frozenset[str]) -> int:
    """How often execution came into the group."""
    return sum(
        count
        for (source, target), count in flow.edges.items()
        if object_of(target) in group and object_of(source) not in group
    )


def main(name: str) -> None:
    """Print a line for each group."""
    print(
        f"{'laid out':12} {'32 KB':>10} {'48 KB':>10} {'64 KB':>10} {'calls in':>12} {'stubs':>7}"
    )
    for row in measured(name):
        misses = "".join(f" {each.misses / 1e3:9,.0f}k" for each in row.found.caches)
        stubs = 100 * STUB * row.calls / row.found.instructions
        print(f"{row.label:12}{misses} {row.calls:12,} {stubs:6.1f}%", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
