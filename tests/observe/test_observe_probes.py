# SPDX-License-Identifier: GPL-2.0-or-later
"""Instruments inside the kernel: what is chosen, what is read, what is shown and refused."""

import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kadence import cli
from kadence.base.errors import KadenceError, UsageError
from kadence.boot import debian
from kadence.kadapt.live.registers import bytes_of_result, has_simple_call
from kadence.lab import guest as lab_guest
from kadence.lab import session
from kadence.live.kernel import types_of
from kadence.observe.probes import instruments, modules, phases, results, slowdown, table
from kadence.observe.probes.instruments import Instrument, Kernel, Kind

KERNEL = Kernel(
    "a kernel",
    ["ffff0010 T vfs_read", "ffff0020 T vfs_write", "ffff0030 t notraced", "ffff0040 D vfs_data"],
    frozenset({0xFFFF0014, 0xFFFF0020}),
    None,
)
TIMED = [Instrument("vfs_read", 1, Kind.TIME), Instrument("vfs_write", 2, Kind.COUNT)]
# Ticks of half a nanosecond. Two tasks are in phase 3, one after the other.
TEXT = """\
arm 2000000 10 0 0 0 5000 3 8 40 42 43 22
block 0 0 -1 0 0 -
block 7 7 3 8000 2000 a name
record 0 4 2000 500 0 0 100 2000 0 0 9:3 63:1
record 1 9 0 0 0 0 0 0 0 0 0:9
block 7 8 3 4000 0 other
record 0 1 1000 0 64 1 0 0 0 0
"""


def test_what_is_traced_and_matches_is_chosen() -> None:
    chosen = instruments.choose(KERNEL, ["vfs_*"])
    assert [each.function for each in chosen] == ["vfs_read", "vfs_write"]
    # Without types, nobody knows where arguments are.
    assert {each.kind for each in chosen} == {Kind.COUNT}
    assert instruments.listed(chosen) == "ffff0010 0\nffff0020 0\n"


def test_tracepoints_are_chosen_by_their_own_names() -> None:
    lines = [*KERNEL.kallsyms, "ffff0100 D __tracepoint_sched_switch",
             "ffff0200 d __tracepoint_own\t[module]"]  # fmt: skip
    kernel = Kernel("a kernel", lines, KERNEL.traced, None)
    assert {each.function for each in instruments.choose(kernel, ["*"])} == {
        "vfs_read",
        "vfs_write",
    }
    for only_count in (False, True):
        chosen = instruments.choose(kernel, ["tracepoint:*"], only_count=only_count)
        assert instruments.listed(chosen) == "ffff0100 4\n"
        assert chosen[0].function == "tracepoint:sched_switch"
    with pytest.raises(UsageError, match="can be traced matches tracepoint:own"):
        instruments.choose(kernel, ["tracepoint:own"])


@pytest.mark.parametrize("pattern", ["vfs_data", "notraced", "nothing*"])
def test_what_cannot_be_traced_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError, match="no function of a kernel that can be traced matches"):
        instruments.choose(KERNEL, [pattern])


def test_too_many_functions_are_refused() -> None:
    lines = [f"{16 * each:x} T f{each}" for each in range(1, 5000)]
    places = frozenset(16 * each for each in range(1, 5000))
    with pytest.raises(UsageError, match="4,999 functions match, and at most 4,096"):
        instruments.choose(Kernel("a kernel", lines, places, None), ["*"])


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("function", "simple", "moved"),
    [
        ("vfs_write", True, 8),  # ssize_t
        ("sock_sendmsg", True, 4),  # int, of a struct msghdr
        ("vfs_open", True, 0),
        ("ktime_get_real_ts64", True, 0),  # void
        ("mt_find", True, 0),
        ("seq_printf", False, 0),  # an ellipsis
        ("__filemap_get_folio", True, 0),
        ("page_vma_mapped_walk", True, 0),
        ("sched_clock", True, 0),
    ],
)
def test_calls_by_registers_are_told_from_others(function: str, simple: bool, moved: int) -> None:
    types = types_of(debian.newest_release("6.12"))
    assert has_simple_call(types, function) == simple
    if simple:
        assert bytes_of_result(types, function) == moved


def test_results_are_read_and_added_up() -> None:
    found = results.read(TEXT.splitlines())
    assert found.costs.ns(40) == 20
    [outside, phase] = phases.by_phase(found, TIMED)
    assert (outside.number, outside.functions) == (results.NO_PHASE, {})
    assert (phase.number, phase.tasks, phase.elapsed, phase.ran) == (3, 2, 8000, 10000)
    read = phase.functions[0]
    assert (read.calls, read.inclusive, read.own, read.bytes, read.unended) == (
        5,
        3000,
        2500,
        64,
        1,
    )
    assert read.waited == [100, 2000, 0, 0]
    assert phase.concurrency(read) == 5100 / 8000
    assert (read.percentile(25), read.percentile(50), read.percentile(99)) == (1, 1024, 1024)
    assert [each.calls for each in phases.timed([phase])] == [5]


def test_the_table_names_what_took_the_time() -> None:
    found = results.read(TEXT.splitlines())
    shown = list(table.lines(phases.by_phase(found, TIMED), found.costs, 30))
    assert shown[0] == "phase 3: 2 tasks, 4.0 us, 5.0 us on a processor"
    assert shown[2].split() == ["vfs_read", "5", "1.2", "1.5", "30.0", "slept", "1.0,", "preempted",
                                "0.1", "0.64", "0.512", "0.512", "64"]  # fmt: skip
    assert shown[3].split() == ["vfs_write", "9"]
    assert shown[-1].startswith("5 timed calls took 40.0 ticks each, 2 % of the time")


def test_the_slowdown_is_predicted_from_counted_calls() -> None:
    counted = results.read(["arm 1000000 10 0 0 0 1 3 8 40 42 43 22", "block 1 1 -1 10300 200 x",
                            "record 0 100 0 0 0 0 0 0 0 0 0:100"])  # fmt: skip
    percent = slowdown.predicted_percent(counted, TIMED)
    assert percent == pytest.approx(100 * 100 * 40 / (10100 - 300))
    slowdown.require(percent, 50)
    with pytest.raises(UsageError, match="40.8 % longer, more than 10 %; observe fewer"):
        slowdown.require(percent, 10)


@pytest.mark.parametrize("text", ["", "arm 1", TEXT.replace("record 0 4", "record 0 x")])
def test_results_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(KadenceError, match="ended without its results"):
        results.read(text.splitlines())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--per-phase"], "no command to run"),
        (["--per-phase", "--most-slowdown", "0", "--", "ls"], "must be more than 0 %"),
        (
            ["--per-phase", "--kernel", "/boot/x", "--", "ls"],
            "needs Debian's kernel or one of the store",
        ),
        (["--process", "1", "--", "ls"], "either a command or --job and --process"),
        (["--process", "1", "--seconds", "0"], "0 seconds are too few"),
        (["--process", "1"], "/dev/kadapt_probe; `modprobe kadapt_probe`"),
    ],
)
def test_what_cannot_be_instrumented_is_refused(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["observe", *words]) != 0
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1


PROGRAM = "dd if=/dev/zero of=/dev/null bs=1 count=500 status=none; cat"


@pytest.mark.kernel
def test_a_command_runs_with_instruments(tmp_path: Path, kadence: Callable[..., object]) -> None:
    counts = tmp_path / "counts.tsv"
    functions = "vfs_write,vfs_read,tracepoint:sched_process_exec"
    words = ["observe", "--per-phase", "--functions", functions, "-o", counts]
    done = kadence(*words, "--", "sh", "-c", PROGRAM, input="given\n")
    assert (done.returncode, done.stdout) == (0, "given\n"), done  # type: ignore[attr-defined]
    assert "3 functions; they should make the run" in done.stderr  # type: ignore[attr-defined]
    rows = list(csv.DictReader(counts.open(), delimiter="\t"))
    written = sum(int(row["calls"]) for row in rows if row["function"] == "vfs_write")
    moved = sum(int(row["bytes"]) for row in rows if row["function"] == "vfs_write")
    assert (written, moved) == (501, 500 + len("given\n"))
    executed = [int(row["calls"]) for row in rows if row["function"].startswith("tracepoint:")]
    assert sum(executed) == len(["sh", "dd", "cat"])


@pytest.mark.kernel
def test_a_slow_run_is_refused_before_it_starts(
    tmp_path: Path, kadence: Callable[..., object]
) -> None:
    words = ["observe", "--per-phase", "--functions", "vfs_write", "--most-slowdown", "0.001"]
    done = kadence(*words, "--", "sh", "-c", PROGRAM, stdin=-3)
    assert done.returncode == 1  # type: ignore[attr-defined]
    assert done.stdout == ""  # type: ignore[attr-defined]
    assert "longer, more than 0.001 %" in done.stderr  # type: ignore[attr-defined]


def on_a_machine(folder: Path, lines: Sequence[str]) -> None:
    """Run the lines of a script, as root, on a guest that shares this machine's files."""
    loads = [f"insmod {module}" for module in modules.built(debian.newest_release("6.12"))]
    tracer = "mount -t tracefs tracefs /sys/kernel/tracing || true"
    script = folder / "script"
    script.write_text("\n".join(["set -e", *loads, tracer, *lines]))
    reading = session.run(lab_guest.stock(), ["sh", "-e", str(script)], timeout_seconds=900)
    assert reading.result.status == 0, reading.result.log


@pytest.mark.kernel
def test_a_process_of_the_machine_is_observed(root: Path, tmp_path: Path) -> None:
    command = f"{root}/.venv/bin/kadence observe --functions write_null,ksys_write --seconds 1"
    on_a_machine(
        tmp_path,
        [
            "dd if=/dev/zero of=/dev/null bs=1 status=none &",
            f"{command} -o {tmp_path}/counts.tsv --most-slowdown 100 --process $!",
            "kill $!",
        ],
    )
    rows = list(csv.DictReader((tmp_path / "counts.tsv").open(), delimiter="\t"))
    calls = {row["function"]: int(row["calls"]) for row in rows}
    assert calls["write_null"] > 1000
    assert abs(calls["ksys_write"] - calls["write_null"]) <= 1
    assert {row["phase"] for row in rows} == {"-1"}


TRUNCATING = 'while (1) { open(F, ">", "/mnt/f"); print F "x" x 65536; close F }'
ON_THE_WAY = ("__x64_sys_*", "do_sys_openat2", "do_filp_open", "path_openat", "do_truncate",
              "shmem_*", "vfs_write", "ksys_write")  # fmt: skip


@pytest.mark.kernel
def test_the_walk_on_a_machine_finds_a_known_cause(root: Path, tmp_path: Path) -> None:
    command = f"{root}/.venv/bin/kadence observe --why --functions '{','.join(ON_THE_WAY)}'"
    on_a_machine(
        tmp_path,
        [
            "mount -t tmpfs none /mnt",
            f"perl -e '{TRUNCATING}' &",
            "sleep 0.5",
            f"{command} --seconds 1 --most-slowdown 50 --process $! 2>{tmp_path}/said",
            "kill $!",
        ],
    )
    said = (tmp_path / "said").read_text()
    assert re.search(r"%  __x64_sys_openat › .* › path_openat", said), said
    assert re.search(r"%    do_truncate › shmem_setattr", said), said
    assert "opening truncates: files that have contents are opened with O_TRUNC" in said
