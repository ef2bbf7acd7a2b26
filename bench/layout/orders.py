# SPDX-License-Identifier: GPL-2.0-or-later
"""Orders for the linker, compared on a program that bench/layout/positioned.py has counted.

python -m bench.layout.orders PROGRAM
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace

from bench.layout.builds import PLAIN
from bench.layout.positioned import PLAN, PROGRAMS, TARGET, folder_of, place_of
from kadence.base import resources
from kadence.kconfig.configuration import identity
from kadence.kconfig.layout import artefact
from kadence.kconfig.layout.artefact import Footprint
from kadence.kconfig.layout.order import ORDERS
from kadence.kconfig.request.request import TAILORED, BuildRequest
from kadence.kconfig.store import store
from kadence.kconfig.store.build import build_inputs
from kadence.kernel import counting


def measured(name: str) -> Iterator[tuple[str, Footprint]]:
    """The footprint with each order; kernels that were made only for this are removed."""
    [program] = [each for each in PROGRAMS if each.name == name]
    place = place_of(program)
    os.chdir(folder_of(program) / PLAIN)
    found = artefact.read(place)
    assert found.before is not None
    yield "as it was", found.before
    request = BuildRequest(kind=TAILORED, plan=resources.home() / PLAN, target=TARGET)
    wanted = replace(identity.gather(request), request=replace(request, layout=place))
    flow = counting.flow_of(replace(wanted, layout=replace(found, order=[])), program.trained)
    orders = {"none": [], **{word: way(flow) for word, way in ORDERS.items()}}
    for word, order in orders.items():
        kernel = build_inputs(replace(wanted, layout=replace(found, order=order)))
        yield word, counting.footprint_of(kernel, program.trained)
        if order != found.order:
            store.remove(kernel.id)


def main(name: str) -> None:
    """Print a line for each order."""
    print(f"{'order':14} {'32 KB':>10} {'48 KB':>10} {'64 KB':>10} {'lines':>7} {'pages':>6}")
    for word, found in measured(name):
        misses = "".join(f" {each.misses / 1e3:9,.0f}k" for each in found.caches)
        print(f"{word:14}{misses} {found.lines:7,} {found.pages:6,}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
