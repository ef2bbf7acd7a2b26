# SPDX-License-Identifier: GPL-2.0-or-later
"""How exact corrected times are, by QEMU's plugin, which knows the truth of the same run."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.base.rows import aligned
from bench.observe.guests import Bench
from kadence.lab import calls
from kadence.live.kernel import kallsyms_of
from kadence.observe.probes import results
from kadence.observe.probes.instruments import Instrument, Kind, listed
from kadence.observe.probes.results import Results

WRITES, TURNS = 20_000, 10_000
# Section -> the phases of all tasks that call then, and the most error in percent.
SECTIONS = {1: ((1,), 0.5), 2: ((2, results.NO_PHASE), 1.0)}
LEAST_INSTRUCTIONS, LEAST_CALLS = 500, 1000
FEW = ("__x64_sys_pwrite64", "vfs_write", "shmem_file_write_iter", "pipe_read", "pipe_write",
       "schedule", "vfs_read", "generic_perform_write", "shmem_write_begin")  # fmt: skip
MANY = ("vfs_*", "ksys_*", "__x64_sys_*", "shmem_*", "*pipe*", "schedule", "file_*", "rw_*",
        "generic_*", "security_file_*", "fault_in_*", "folio_*", "__wake_up*", "mutex_*",
        "_raw_spin_*", "inode_*", "up_*", "down_*", "ktime_get*", "kmem_cache_*",
        "current_time", "fput", "fdget*", "balance_*", "timestamp_*")  # fmt: skip
MODULE_BYTES = 0x20000
PLACE = r"echo place $(sed -n 's/^kadapt_probe .*\(0x[^ ]*\).*/\1/p' /proc/modules)"
SCRIPT = f"""
sleep 3
/probe /list /out -- /phases {WRITES} {TURNS} || exit 93
echo "= records"; cat /out; echo "= end"
"""


@dataclass(frozen=True)
class Run:
    """What both saw of the same run."""

    instruments: Sequence[Instrument]
    found: Results
    truth: dict[tuple[int, str], calls.Tally]


def tables(bench: Bench) -> Iterator[str]:
    """The error with few instruments and with many."""
    place = re.search(r"^place 0x(\w+)", bench.run(PLACE), re.MULTILINE)
    assert place, "the module has no place"
    low = int(place[1], 16)
    yield "Corrected inclusive times beside the plugin's, of functions of over"
    yield f"{LEAST_INSTRUCTIONS} instructions; {WRITES:,} writes, and {TURNS:,} turns of processes"
    rows = [
        ["instruments", "section", "events a virtual s", "functions", "worst error", "of", "goal"]
    ]
    for patterns in (FEW, MANY):
        run = _run(bench, bench.chosen(*patterns), low)
        rows += [row(run, section) for section in SECTIONS]
    yield from aligned(rows)
    yield "section 1: without switches; section 2: across switches of two tasks"


def _run(bench: Bench, instruments: Sequence[Instrument], low: int) -> Run:
    with tempfile.TemporaryDirectory(prefix="kadence-bench-") as name:
        folder = Path(name)
        *options, plugin = calls.options(folder, kallsyms_of(bench.release))
        ignored = f"{plugin},ignored={low:x}-{low + MODULE_BYTES:x}"
        console = bench.run(SCRIPT, {"list": listed(instruments).encode()}, [*options, ignored])
        truth = {(each.section, each.function): each for each in calls.tallies(folder)}
    text = console.partition("= records\n")[2].partition("= end")[0]
    return Run(instruments, results.read(text.splitlines()), truth)


def row(run: Run, section: int) -> list[str]:
    """A section: how many events, and the function with the worst error."""
    phases, most = SECTIONS[section]
    errors = {}
    for number, instrument in enumerate(run.instruments):
        truth = run.truth.get((section, instrument.function))
        if instrument.kind == Kind.COUNT or not truth or truth.calls < LEAST_CALLS:
            continue
        mean = truth.inclusive / truth.calls
        count, inclusive = _recorded(run.found, phases, number)
        if mean >= LEAST_INSTRUCTIONS and count:
            errors[instrument.function] = 100 * (inclusive / count / mean - 1)
    worst = max(errors, key=lambda name: abs(errors[name]))
    verdict = f"<= {most:g} %" + ("" if abs(errors[worst]) <= most else " MISSED")
    return [str(len(run.instruments)), str(section), f"{_rate(run.found, phases):,.0f}",
            str(len(errors)), f"{errors[worst]:+.2f} %", worst, verdict]  # fmt: skip


def _recorded(found: Results, phases: Sequence[int], function: int) -> tuple[int, int]:
    records = [
        record
        for block in found.blocks
        if block.phase in phases
        for record in block.records
        if record.function == function
    ]
    return sum(each.calls for each in records), sum(each.inclusive for each in records)


def _rate(found: Results, phases: Sequence[int]) -> float:
    """Calls that begin and end, by the time that the tasks had without the instruments."""
    blocks = [block for block in found.blocks if block.phase in phases]
    ran = sum(block.elapsed - block.away for block in blocks)
    events = sum(record.calls for block in blocks for record in block.records)
    return 1e9 * events / found.costs.ns(ran) if ran else 0.0
