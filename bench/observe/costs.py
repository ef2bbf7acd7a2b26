# SPDX-License-Identifier: GPL-2.0-or-later
"""What a call costs that is instrumented, and how long instrumenting takes, beside the tracer."""

from collections.abc import Iterator

from bench.base.rows import aligned
from bench.live.figures import Figures, each, least, read
from bench.observe.guests import Bench
from kadence.observe.probes.instruments import Kind, listed

FUNCTION = "__x64_sys_write"  # that of bench/live/probes.c
PROBES = ("fprobe", "kprobe", "kretprobe")
ROUNDS = 3
MANY = 16  # with the function, more than have a stub of their own
OWN = {
    "counted": (Kind.COUNT, 0),
    "timed": (Kind.TIME, 0),
    "counted, shared": (Kind.COUNT, MANY),
    "timed, shared": (Kind.TIME, MANY),
    "timed with bytes": (Kind.BYTES_LONG, 0),
}
GOALS = {"counted": 3, "timed": 40}
STARTS = {1: 5, 16: None, 1000: 100}  # functions -> most virtual ms

CALLS = """
mount -t tracefs none /sys/kernel/tracing
tracing=/sys/kernel/tracing
/writes call >/dev/null
sleep 4
for round in $(seq @ROUNDS@); do
	echo "= plain"; /writes call
	for way in @WAYS@; do
		echo "= $way"; /probe /list-$way /out -- /writes call
	done
	for kind in @PROBES@; do
		insmod /probes.ko kind=$kind
		echo "= $kind"; /writes call
		rmmod probes
	done
	echo @FUNCTION@ >$tracing/set_ftrace_filter
	echo function_graph >$tracing/current_tracer
	echo "= function_graph"; /writes call
	echo nop >$tracing/current_tracer
	echo >$tracing/set_ftrace_filter
	echo "= plain-again"; /writes call
done
"""
STARTING = """
mount -t tracefs none /sys/kernel/tracing
tracing=/sys/kernel/tracing
sleep 4
for round in $(seq @ROUNDS@); do
	for count in @COUNTS@; do
		/probe /list-$count /out -- true
		echo "= probe-$count"; awk '/^arm/ { print "ms", $7 / 1000000 }' /out
		for tracer in function function_graph; do
			echo "= $tracer-$count"
			/writes put $tracing/set_ftrace_filter /names-$count >/dev/null
			echo $tracer >/tracer; /writes put $tracing/current_tracer /tracer
			echo nop >$tracing/current_tracer
			echo >$tracing/set_ftrace_filter
		done
	done
done
"""


def tables(bench: Bench) -> Iterator[str]:
    """Both tables."""
    yield from _calls(bench)
    yield ""
    yield from _starts(bench)


def _calls(bench: Bench) -> Iterator[str]:
    files = {
        f"list-{_word(way)}": bench.first(FUNCTION, kind, more) for way, (kind, more) in OWN.items()
    }
    values = {"WAYS": " ".join(map(_word, OWN)), "PROBES": " ".join(PROBES)}
    script = each(CALLS, {**values, "FUNCTION": FUNCTION, "ROUNDS": ROUNDS})
    figures = read(bench.run(script, files))
    yield f"Instructions that a call of {FUNCTION} takes more; least of {ROUNDS} rounds"
    rows = [["", "instructions", "goal"]]
    for way in (*OWN, *PROBES, "function_graph", "plain-again"):
        more = _least(figures, _word(way)) - _least(figures, "plain")
        goal = GOALS.get(way)
        verdict = (
            "" if goal is None else f"<= {goal}" + ("" if round(more, 1) <= goal else " MISSED")
        )
        rows.append(
            [way if way != "plain-again" else "nothing, afterwards", f"{more:,.1f}", verdict]
        )
    yield from aligned(rows)
    yield "ftrace's function profiler: Debian's kernel has none (CONFIG_FUNCTION_PROFILER)"


def _starts(bench: Bench) -> Iterator[str]:
    chosen = bench.chosen("__x64_sys_*", "vfs_*", "ext4_*", "tcp_*")
    files: dict[str, bytes] = {}
    for count in STARTS:
        files[f"list-{count}"] = listed(chosen[:count]).encode()
        files[f"names-{count}"] = "".join(f"{one.function}\n" for one in chosen[:count]).encode()
    values = {"COUNTS": " ".join(map(str, STARTS)), "ROUNDS": ROUNDS}
    figures = read(bench.run(each(STARTING, values), files))
    yield f"Virtual ms until functions are instrumented; least of {ROUNDS} rounds. The tracers' is"
    yield "without the time that their filter takes."
    rows = [["functions", "instruments", "goal", "function tracer", "function_graph"]]
    for count, goal in STARTS.items():
        took = least(figures, f"probe-{count}", "ms")
        verdict = "" if goal is None else f"<= {goal}" + ("" if took <= goal else " MISSED")
        others = [
            least(figures, f"{name}-{count}", "ms") for name in ("function", "function_graph")
        ]
        rows.append([str(count), f"{took:,.1f}", verdict, *(f"{ms:,.1f}" for ms in others)])
    yield from aligned(rows)


def _word(way: str) -> str:
    return way.replace(", ", "-").replace(" ", "-")


def _least(figures: Figures, way: str) -> float:
    return least(figures, way, "call")
