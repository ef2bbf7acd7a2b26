# SPDX-License-Identifier: GPL-2.0-or-later
"""Instruments in a User-Mode Linux kernel that was built with points."""

import csv
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base.errors import KadenceError, UsageError
from kadence.kconfig.request.request import MINIMAL, BuildRequest
from kadence.kconfig.store.build import build
from kadence.observe.probes import instruments, um
from kadence.observe.probes.instruments import Instrument, Kind
from kadence.observe.probes.phases import by_phase
from kadence.observe.probes.results import Results

HERE = Path(__file__).parent
SLEEP_NS = 200_000_000
PROGRAM = "dd if=/dev/zero of=/dev/null bs=3 count=500 status=none; sleep 0.2"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (BuildRequest(points=True, target="x86_64"), "--points is for kernels without the functi"),
        (BuildRequest(points=True, units=(HERE,)), "--points and --unit"),
        (BuildRequest(points=True, series="6.1"), "probes are written for 6.12, not for 6.1"),
    ],
)
def test_what_can_have_no_points_is_refused(
    request_: BuildRequest, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kadence.kadapt.live.source.check", lambda _: None)
    with pytest.raises(UsageError, match=message):
        request_.checked()


@pytest.fixture(scope="module")
def built() -> Any:
    """The smallest kernel with points."""
    return build(BuildRequest(kind=MINIMAL, points=True))


@pytest.fixture(scope="module")
def chosen(built: Any) -> Callable[..., list[Instrument]]:
    """Choose instruments of that kernel."""
    kernel = um.kernel_of("it", built.points)

    def choose(*patterns: str) -> list[Instrument]:
        return instruments.choose(kernel, patterns)

    return choose


def observe(built: Any, chosen: list[Instrument], argv: list[str], tmp_path: Path) -> Results:
    """Run the command in silence, and read what its instruments recorded."""
    with (tmp_path / "given").open("w+b") as given:
        return um.Observer("it", built.image, argv, 100.0).count(chosen, given.fileno())


def calls(found: Results, chosen: list[Instrument]) -> Counter[tuple[int, str]]:
    """The calls of each function, by phase."""
    counted: Counter[tuple[int, str]] = Counter()
    for phase in by_phase(found, chosen):
        for at, function in phase.functions.items():
            counted[phase.number, chosen[at].function] += function.calls
    return counted


@pytest.mark.kernel
def test_calls_bytes_and_waiting_are_known_ones(
    built: Any, chosen: Callable[..., list[Instrument]], tmp_path: Path
) -> None:
    timed = chosen("write_null", "hrtimer_nanosleep", "tracepoint:sched_process_exec")
    found = observe(built, timed, ["sh", "-c", PROGRAM], tmp_path)
    [outside] = by_phase(found, timed)
    by_name = {timed[at].function: each for at, each in outside.functions.items()}
    written, slept = by_name["write_null"], by_name["hrtimer_nanosleep"]
    assert (written.calls, written.bytes) == (500, 1500)
    assert sum(written.waited) == 0
    assert slept.calls == 1
    # The host's clock gave the ticks their length.
    waited, ran = (found.costs.ns(ticks) for ticks in (sum(slept.waited), slept.inclusive))
    assert waited > SLEEP_NS * 0.95
    assert 0 <= ran < waited / 2
    assert by_name["tracepoint:sched_process_exec"].calls == len(["sh", "dd", "sleep"])


@pytest.mark.kernel
def test_two_tasks_are_in_phases_of_their_own(
    root: Path, built: Any, chosen: Callable[..., list[Instrument]], tmp_path: Path
) -> None:
    program = tmp_path / "phases"
    flags = ("-O2", "-Wall", "-Wextra", "-Werror", "-static", f"-I{root}/kadapt/uapi")
    source = HERE / "programs/phases/phases.c"
    subprocess.run(["gcc-12", *flags, "-o", program, source], check=True)
    timed = chosen("sys_pwrite64", "sys_pread64", "sys_fcntl", "pipe_write")
    assert {each.kind for each in timed} == {Kind.TIME, Kind.BYTES_LONG}
    counted = calls(observe(built, timed, [str(program), "200"], tmp_path), timed)
    known = {(7, "sys_pwrite64"): 600, (200, "sys_pread64"): 200, (-1, "sys_fcntl"): 4,
             (7, "pipe_write"): 200, (200, "pipe_write"): 200}  # fmt: skip
    assert counted == known


@pytest.mark.kernel
@pytest.mark.parametrize("batch", range(3))
def test_every_function_can_be_timed(
    built: Any, chosen: Callable[..., list[Instrument]], tmp_path: Path, batch: int
) -> None:
    """No function breaks the kernel: the command comes to its end, and the log is clean."""
    every = instruments.matching(um.kernel_of("it", built.points), ["*"])
    part = every[batch * 3000 : (batch + 1) * 3000]
    assert part
    counted = calls(observe(built, part, ["sh", "-c", PROGRAM], tmp_path), part)
    assert len(counted) > 50


@pytest.mark.kernel
def test_the_guest_belongs_to_its_user(built: Any, tmp_path: Path, root: Path) -> None:
    """Nobody has no privilege, but may observe a guest that is a process of nobody's."""
    function = next(
        line.split()[0]
        for line in built.points.read_text().splitlines()
        if line.endswith(" write_null")
    )
    (tmp_path / "functions").write_text(f"{function} 1\n")
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    probe = [str(root / "build/kadence/probe"), "functions", "out", "--", "true"]
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    request = boot.Request(image=built.image, argv=[*nobody, *probe], directory=tmp_path)
    result = boot.run(request)
    assert (result.status, boot.complaints(result.log)) == (0, []), result.log
    assert (tmp_path / "out").read_text().startswith("arm ")


@pytest.mark.kernel
def test_the_command_writes_a_table_and_a_timeline(
    built: Any, tmp_path: Path, kadence: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    counts, trace = tmp_path / "counts.tsv", tmp_path / "trace.json"
    words = ["observe", "--per-phase", "--kernel", built.id, "--most-slowdown", "50"]
    words += ["-o", str(counts), "--timeline", str(trace)]
    done = kadence(*words, "--", "sh", "-c", "cat; exit 3", input="given\n")
    assert (done.returncode, done.stdout) == (3, "given\n"), done
    rows = list(csv.DictReader(counts.open(), delimiter="\t"))
    assert {"sys_read", "sys_execve"} <= {row["function"] for row in rows}
    assert '"sys_execve"' in trace.read_text()


@pytest.mark.kernel
def test_a_kernel_without_points_is_refused(
    kadence: Callable[..., subprocess.CompletedProcess[str]],
    refused: Callable[[object], str],
) -> None:
    plain = build(BuildRequest())
    done = kadence("observe", "--per-phase", "--kernel", plain.id, "--", "true")
    assert f"generic kernel {plain.id} has no points for instruments" in refused(done)


@pytest.mark.kernel
def test_what_is_no_point_is_refused(built: Any, tmp_path: Path) -> None:
    wrong = [Instrument("between", 0x60001008, Kind.TIME)]
    with pytest.raises(KadenceError):
        observe(built, wrong, ["true"], tmp_path)
