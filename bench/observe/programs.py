# SPDX-License-Identifier: GPL-2.0-or-later
"""What it costs whole programs to have all their system calls timed, beside other tools."""

import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.base import commands
from bench.base.rows import aligned
from bench.live.figures import Figures, each, read
from bench.observe.guests import Bench
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.lab import guest as lab_guest
from kadence.lab.session import run
from kadence.observe.probes import modules
from kadence.observe.probes.instruments import listed

ROUNDS = 3
GENERATE = resources.home() / "examples/minimap2/generate.py"
SIZES = ("--genome", "200000", "--reads", "20", "--seed", "1")
MOST_PERCENT = {"timed": 3.0, "phases": 1.0, "events": 5.0}
SQL = ("create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where "
       "x < 20000) insert into t select x, x * 7 % 1000 from c; create index i on t(b); "
       "select b, count(*), sum(a) from t group by b;")  # fmt: skip
PROGRAMS = {
    "sqlite3": "rm -f db; sqlite3 db < sql",
    "heat": "heat -n 128 -s 400 -e 20 -g 8 -o checkpoint",
    "heat, adapted": "heat-adapted -n 128 -s 400 -e 20 -g 8 -o checkpoint",
    "minimap2": "minimap2 -t 1 -c -x map-ont genome.fa reads.fa",
    "zstd": "zstd -q -f -3 input -o output",
    "sh": "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do /bin/true; done",
    "find | sort": "find /sys | sort | tail -1",
}
# The README's.
ADAPT = """
kadence-cc -O2 -o heat heat.c -lm
kadence profile -o heat.kprof -- ./heat -s 600 -e 60
kadence phases heat.kprof -o heat.phases.json
kadence plan heat.phases.json -o heat.plan.json
KADENCE_PLAN=heat.plan.json kadence-cc -O2 -o heat-adapted heat.c -lm
"""
OWN, PHASES, EVENTS = "timed", "phases", "events"
WAYS = {
    OWN: "$probe $lists/list $lists/out -- $writes run @NAME@ $lists/command",
    PHASES: "$probe -e $lists/events $lists/point $lists/out -- $writes run @NAME@ $lists/command",
    EVENTS: "$probe -e $lists/events $lists/all $lists/out -- $writes run @NAME@ $lists/command",
    "strace -c": "$writes run @NAME@ strace -f -c -o /dev/null $lists/command",
    "perf trace -s": "perf trace -s -o /dev/null $writes run @NAME@ $lists/command",
    "bpftrace": "bpftrace -q -e '@HISTOGRAM@' -c \"$writes run @NAME@ $lists/command\"",
}
# A latency histogram of all system calls, as its manual shows.
HISTOGRAM = ("tracepoint:raw_syscalls:sys_enter { @s[tid] = nsecs; } "
             "tracepoint:raw_syscalls:sys_exit /@s[tid]/ { @u = hist(nsecs - @s[tid]); "
             "delete(@s[tid]); }")  # fmt: skip
HEAD = """
set -u
writes=@WRITES@ probe='@PROBE@' lists=@LISTS@
mount -t tmpfs none $lists/work
cd $lists/work
PATH=$PATH:@HEAT@:$lists
cp $lists/input $lists/sql $lists/*.fa .
mount -t debugfs none /sys/kernel/debug 2>/dev/null
mount -t tracefs none /sys/kernel/tracing 2>/dev/null
"""
TOLD = "echo '= @WAY@'; { @RUN@; } 2>>$lists/errors || echo failed 1\n"


def tables(bench: Bench) -> Iterator[str]:
    """What each program takes longer, by ways."""
    figures = _measured(bench)
    yield f"What programs take more if all system calls are timed, %: median of {ROUNDS} (spread)"
    rows = [["", "plain, million instructions", *WAYS, "goals"]]
    for name in PROGRAMS:
        word = _word(name)
        plain = statistics.median(figures["plain"][word])
        cells = [more(figures, way, word) for way in WAYS]
        rows.append([name, f"{plain / 1e6:,.1f}", *cells, _verdicts(figures, word)])
    yield from aligned(rows)
    yield "Instructions of the program and its children; strace's own are in its figures."
    yield "phases: each phase and wait is written down; events: each call and page fault, too, as"
    yield "Choices does (Table 3: 1.9 % for the application's events, 17 % with the kernel's)"


def _verdicts(figures: Figures, name: str) -> str:
    found = []
    for way, most in MOST_PERCENT.items():
        is_met = statistics.median(percents(figures, way, name)) <= most
        found.append(f"<= {most:g}" + ("" if is_met else " MISSED"))
    return ", ".join(found)


def _measured(bench: Bench) -> Figures:
    built = resources.home() / "build"
    with tempfile.TemporaryDirectory(prefix="kadence-bench-", dir="/var/tmp") as name:
        lists = Path(name)
        (lists / "list").write_text(listed(bench.chosen("__x64_sys_*")))
        (lists / "all").write_text(listed(bench.chosen("__x64_sys_*", "handle_mm_fault")))
        # The device wants something to instrument.
        (lists / "point").write_text(listed(bench.chosen("tracepoint:sched_process_exit")))
        (lists / "work").mkdir()
        _adapt(lists)
        (lists / "sql").write_text(SQL)
        (lists / "input").write_bytes(_input())
        subprocess.run([sys.executable, GENERATE, *SIZES], cwd=lists, check=True)
        loaded = " ".join(f"-m {path}" for path in modules.built(bench.release))
        own = built / "bench/observe"
        probe = f"{built / 'kadence/probe'} {loaded}"
        values = {"WRITES": own / "writes", "LISTS": lists, "HEAT": own, "PROBE": probe}
        head = each(HEAD, values)
        (lists / "script").write_text(head + _rounds(lists))
        with (lists / "figures").open("wb") as out:
            guest = lab_guest.stock(memory_bytes=1 << 30)
            result = run(guest, ["sh", str(lists / "script")], streams=(0, out.fileno(), 2)).result
        if result.status:
            errors = (lists / "errors").read_text()
            raise KadenceError(f"the programs failed (status {result.status}): {errors}")
        return read((lists / "figures").read_text())


def _rounds(lists: Path) -> str:
    """The script: a round that fills caches, then all ways in turn."""
    text = ""
    for number in range(ROUNDS + 1):
        for program, command in PROGRAMS.items():
            name = _word(program)
            (lists / f"command-{name}").write_text(f"#!/bin/sh\n{command}\n")
            (lists / f"command-{name}").chmod(0o755)
            text += f"cp $lists/command-{name} $lists/command\n"
            ways = {"plain": "$writes run @NAME@ $lists/command", **WAYS}
            for way, words in ways.items():
                section = way if number else f"first {way}"
                run_it = each(words, {"NAME": name, "HISTOGRAM": HISTOGRAM})
                text += TOLD.replace("@WAY@", _word(section)).replace("@RUN@", run_it)
    return text


def _adapt(folder: Path) -> None:
    """Build a program that announces its phases."""
    shutil.copy(resources.home() / "examples/heat/heat.c", folder)
    command = ["sh", "-ec", ADAPT]
    done = subprocess.run(command, cwd=folder, env=commands.environment(), capture_output=True)
    if done.returncode:
        raise KadenceError(f"heat was not adapted: {done.stderr.decode()}")


def _input() -> bytes:
    """Text that zstd can shorten."""
    return "".join(f"line {n} {n * 2654435761 % 4294967296:x}\n" for n in range(60_000)).encode()


def _word(name: str) -> str:
    return name.replace(" | ", "-").replace(", ", "-").replace(" ", "-")


def percents(figures: Figures, way: str, name: str) -> list[float]:
    """How much longer each round takes than the median of the plain ones."""
    plain = statistics.median(figures["plain"][name])
    return [100 * (took / plain - 1) for took in figures[_word(way)].get(name, [])]


def more(figures: Figures, way: str, name: str) -> str:
    """The same as a cell of the table."""
    found = percents(figures, way, name)
    if not found:
        return "does not run"
    return f"{statistics.median(found):+.2f} ({min(found):+.2f} to {max(found):+.2f})"
