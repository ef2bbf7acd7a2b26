# SPDX-License-Identifier: GPL-2.0-or-later
"""What points and instruments cost a User-Mode Linux kernel, in pairs of runs that take turns."""

import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.base.keeping import print_and_keep, with_disturbance
from kadence import boot
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.kconfig.request.request import MINIMAL, BuildRequest
from kadence.kconfig.store.build import build
from kadence.observe.probes import instruments, um
from kadence.observe.probes.guest import PROBE
from kadence.observe.probes.instruments import Instrument, Kind, listed
from kadence.observe.probes.results import Results, read

ROUNDS = 15
WRITES = "bench/observe/writes"
FUNCTION = "write_null"


@dataclass(frozen=True)
class Way:
    """A kernel, and what is instrumented there."""

    name: str
    image: Path
    chosen: Sequence[Instrument] = ()


def main() -> int:
    """Measure, print the table and keep it."""
    try:
        print_and_keep(with_disturbance(lines()), "observe-um.txt")
    except KadenceError as error:
        print(f"bench-observe-um: {error}", file=sys.stderr)
        return 1
    return 0


def lines() -> Iterator[str]:
    """The table: nanoseconds of a write(2) to /dev/null, and the instruments' own figures."""
    ways = list(_ways())
    times: dict[str, list[float]] = {way.name: [] for way in ways}
    found: dict[str, Results] = {}
    with tempfile.TemporaryDirectory(prefix="kadence-bench-") as folder:
        for _ in range(ROUNDS):
            for way in ways:
                times[way.name].append(_run(way, Path(folder), found))
    yield f"ns of a write(2) of 16 bytes to /dev/null on User-Mode Linux; {ROUNDS} rounds in turns"
    yield f"{'':<32}{'median':>10}{'least':>10}{'most':>10}"
    for name, each in times.items():
        yield f"{name:<32}{statistics.median(each):>10,.0f}{min(each):>10,.0f}{max(each):>10,.0f}"
    yield ""
    yield "by the instruments themselves"
    for name, results in found.items():
        costs = results.costs
        kinds = ", ".join(f"{kind.name.lower()} {costs.calls[kind]}" for kind in Kind)
        records = [record for block in results.blocks for record in block.records]
        calls = sum(record.calls for record in records)
        own = costs.ns(sum(record.inclusive for record in records)) / calls
        yield f"{name}: {calls:,} calls, {own:,.1f} ns each; ticks a call: {kinds}"
        yield f"  {costs.start_ns / 1e6:.2f} ms until they were there"


def _ways() -> Iterator[Way]:
    without, with_points = (
        build(BuildRequest(kind=MINIMAL, points=points)) for points in (False, True)
    )
    kernel = um.kernel_of("it", with_points.points)
    timed = instruments.choose(kernel, [FUNCTION])
    system_calls = instruments.choose(kernel, ["sys_*"])
    yield Way("without points", without.image)
    yield Way("with points", with_points.image)
    counted = [replace(each, kind=Kind.COUNT) for each in timed]
    yield Way(f"{FUNCTION} counted", with_points.image, counted)
    yield Way(f"{FUNCTION} timed", with_points.image, timed)
    yield Way(f"all {len(system_calls)} system calls timed", with_points.image, system_calls)


def _run(way: Way, folder: Path, found: dict[str, Results]) -> float:
    argv = [str(resources.built(WRITES)), "call"]
    records = folder / "records"
    if way.chosen:
        (folder / "functions").write_text(listed(way.chosen), encoding="ascii")
        probe = [str(resources.built(PROBE)), str(folder / "functions"), str(records), "--"]
        argv = [*probe, *argv]
    with (folder / "said").open("w+b") as said:
        result = boot.run(boot.Request(image=way.image, argv=argv, stdout=said.fileno()))
        said.seek(0)
        words = said.read().decode().split()
    if result.status or boot.complaints(result.log) or words[:1] != ["call"]:
        raise KadenceError(f"{way.name}: the guest failed ({result.status}):\n{result.log}")
    if way.chosen:
        found[way.name] = read(records.read_text(encoding="utf-8").splitlines())
    return float(words[1])


if __name__ == "__main__":
    sys.exit(main())
