# SPDX-License-Identifier: GPL-2.0-or-later
"""The rounds of a measurement, with this machine in place of the guests."""

import os
import re
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kadence import boot
from kadence.base.errors import GuestError
from kadence.measurement import execution, measure
from kadence.measurement.execution import ExecutionError
from kadence.measurement.measure import (
    ADAPTED,
    GENERIC,
    MACHINE,
    PLAIN,
    REFERENCE,
    TAILORED,
    Bench,
    Cell,
)
from kadence.program.filters import Filter
from kadence.program.program import Program

COMBINATIONS = 6


class Guests:
    """Runs every guest's command on this machine; the image's name says how the guest fails."""

    def __init__(self) -> None:
        self.runs = 0

    def run(self, request: boot.Request) -> boot.Result:
        self.runs += 1
        kind = request.image.name
        if kind == "panics" or (kind == "panics-later" and self.runs > 10):
            raise GuestError("the guest kernel panicked")
        completed = subprocess.run(
            request.argv,
            cwd=request.directory,
            env={**(request.environment or {}), "GUEST": kind},
            stdin=request.stdin,
            stdout=request.stdout,
            stderr=request.stderr,
            check=False,
        )
        log = "BUG: something" if kind == "complains" else ""
        seconds = {"boot_seconds": 0.1, "wall_seconds": 0.5, "user_seconds": 0.4}
        unused = dict.fromkeys(boot.Result.__dataclass_fields__, 0) | seconds
        return boot.Result(**(unused | {"status": completed.returncode, "log": log}))  # type: ignore[arg-type]


@pytest.fixture
def guests(monkeypatch: pytest.MonkeyPatch) -> Guests:
    guests = Guests()
    monkeypatch.setattr(boot, "run", guests.run)
    monkeypatch.setattr(boot, "complaints", lambda log: re.findall("BUG.*", log))
    return guests


Make = Callable[..., Bench]


@pytest.fixture
def bench(tmp_path: Path) -> Make:
    """A bench for a shell script that notes its mode and kernel in a journal."""

    def make(script: str, tailored: str = "tailored") -> Bench:
        folders = {}
        for mode in (PLAIN, ADAPTED):
            folders[mode] = tmp_path / mode
            folders[mode].mkdir()
            command = folders[mode] / "program"
            command.write_text(f"#!/bin/sh\necho {mode} $GUEST >>{tmp_path}/journal\n{script}\n")
            command.chmod(0o755)
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        return Bench(
            Program(tmp_path, "p", "", ("./program",), (), ("./program",), outputs=("out",)),
            folders,
            {GENERIC: Path("generic"), TAILORED: Path(tailored)},
            scratch,
        )

    return make


def test_every_round_runs_all_and_begins_with_another(
    guests: Guests, bench: Make, tmp_path: Path
) -> None:
    found = measure.measure(bench("echo same >out"), 7)
    journal = (tmp_path / "journal").read_text().splitlines()
    rounds = [journal[at : at + COMBINATIONS] for at in range(0, len(journal), COMBINATIONS)]
    assert len(rounds) == 8
    assert all(len(set(order)) == COMBINATIONS for order in rounds)
    assert len({order[0] for order in rounds}) == COMBINATIONS
    assert journal[0] == "plain"
    assert {len(samples) for samples in found.samples.values()} == {7}
    assert len(found.samples) == COMBINATIONS
    assert guests.runs == 8 * 4
    assert not found.differences
    assert not found.dropped


def test_a_difference_in_a_file_or_in_the_output_is_noted(guests: Guests, bench: Make) -> None:
    script = '[ "$GUEST" = tailored ] && echo other || echo same\necho ${GUEST:+same} >out'
    made = bench(script)
    found = measure.measure(made, 2)
    assert set(found.differences) == {
        (Cell(TAILORED, PLAIN), "standard output"),
        (Cell(TAILORED, ADAPTED), "standard output"),
        *((Cell(kernel, mode), "out") for kernel in (GENERIC, TAILORED) for mode in MODES),
    }
    assert all(rounds == [0, 1, 2] for rounds in found.differences.values())
    kept = {cell: made.kept(cell) / "standard output" for cell in (REFERENCE, *made.cells())}
    assert kept[REFERENCE].read_text() == "same\n"
    assert kept[Cell(TAILORED, PLAIN)].read_text() == "other\n"


def test_a_difference_is_told_once_with_a_filter_that_would_mend_it(
    guests: Guests, bench: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    script = 'echo same; echo "# ran on: ${GUEST}x"; touch out'
    measure.measure(bench(script), 2)
    told = capsys.readouterr().err
    assert told.count("[[filter]]\n") == told.count("pattern = '^# ran on: '\n") == len(GUEST_CELLS)
    for cell in GUEST_CELLS:
        assert f"standard output of the {cell} differs from the {REFERENCE}'s first run\n" in told


def test_adapted_runs_leave_records_of_trials(guests: Guests, bench: Make) -> None:
    script = 'touch out; [ -z "$KADAPT_TRIALS_RECORD" ] || echo $GUEST >>"$KADAPT_TRIALS_RECORD"'
    made = bench(script)
    made.trials.mkdir()
    (made.trials / "old").touch()
    found = measure.measure(made, 2)
    assert {cell.program for cell in found.trials} == {ADAPTED}
    assert {cell.kernel for cell in found.trials} == {MACHINE, GENERIC, TAILORED}
    for cell, paths in found.trials.items():
        assert [path.name for path in sorted(paths)] == [
            f"{cell.kernel}-{n}.trials" for n in range(3)
        ]
        guest = "" if cell.kernel == MACHINE else cell.kernel
        assert [path.read_text() for path in paths] == [f"{guest}\n"] * 3
    assert not (made.trials / "old").exists()


MODES = (PLAIN, ADAPTED)
GUEST_CELLS = [Cell(kernel, mode) for kernel in (GENERIC, TAILORED) for mode in MODES]


def test_a_program_that_is_not_deterministic_differs_from_itself(
    guests: Guests, bench: Make
) -> None:
    found = measure.measure(bench("date +%N; touch out"), 2)
    assert found.differences[REFERENCE, "standard output"] == [1, 2]


@pytest.mark.parametrize("image", ["panics", "panics-later", "complains"])
def test_a_tailored_kernel_that_fails_is_dropped(image: str, guests: Guests, bench: Make) -> None:
    found = measure.measure(bench("echo same >out", image), 7)
    assert set(found.dropped) == {Cell(TAILORED, PLAIN), Cell(TAILORED, ADAPTED)}
    assert {cell.kernel for cell in found.samples} == {MACHINE, GENERIC}
    assert {len(samples) for samples in found.samples.values()} == {7}


def test_a_program_that_fails_on_the_tailored_kernel_only_drops_it(
    guests: Guests, bench: Make
) -> None:
    found = measure.measure(bench('touch out; [ "$GUEST" != tailored ]'), 1)
    reasons = found.dropped.values()
    assert all("ended with status 1" in reason for reason in reasons)
    assert len(found.dropped) == 2


@pytest.mark.parametrize(
    ("condition", "lost"),
    [
        ('[ "$GUEST" != generic ]', {(GENERIC, PLAIN), (GENERIC, ADAPTED)}),
        ('[ "$GUEST$PWD" != "generic${PWD%/*}/adapted" ]', {(GENERIC, ADAPTED)}),
        ('[ "$GUEST$PWD" != "${PWD%/*}/adapted" ]', {(MACHINE, ADAPTED)}),
    ],
)
def test_a_combination_that_fails_drops_what_rests_on_it(
    condition: str, lost: set[tuple[str, str]], guests: Guests, bench: Make
) -> None:
    found = measure.measure(bench(f"touch out; {condition}"), 1)
    assert {(cell.kernel, cell.program) for cell in found.dropped} == lost
    assert len(found.samples) == COMBINATIONS - len(lost)


def test_a_program_that_could_not_be_adapted_is_measured_plain(guests: Guests, bench: Make) -> None:
    made = bench("echo same >out")
    made = replace(made, folders={PLAIN: made.folders[PLAIN]})
    found = measure.measure(made, 1)
    assert {cell.program for cell in found.samples} == {PLAIN}
    assert len(found.samples) == 3


def test_filters_apply_between_all_runs(guests: Guests, bench: Make) -> None:
    made = bench("echo result; echo time $(date +%N); touch out")
    own = (Filter("^time"), Filter("never"))
    made = replace(made, program=replace(made.program, filters=own))
    found = measure.measure(made, 1)
    assert not found.differences
    counts = [(one.file, one.pattern, one.removed, one.lines) for one in found.filtered]
    assert ("standard output", "^time", 1, 2) in counts
    assert found.warnings == ["The filter 'never' matches no line and removes nothing."]


def test_the_environment_reaches_every_combination(guests: Guests, bench: Make) -> None:
    made = bench("echo $TITLE; touch out")
    made = replace(made, program=replace(made.program, environment=(("TITLE", "x = 1"),)))
    found = measure.measure(made, 1)
    assert not found.differences
    for cell in found.samples:
        assert (made.kept(REFERENCE) / "standard output").read_text() == "x = 1\n", cell


def test_a_program_that_fails_everywhere_is_an_error(guests: Guests, bench: Make) -> None:
    with pytest.raises(ExecutionError, match="ended with status 3 as the plain program on this"):
        measure.measure(bench("exit 3"), 1)


def test_an_output_that_was_not_written_is_an_error(guests: Guests, bench: Make) -> None:
    with pytest.raises(ExecutionError, match="wrote no out"):
        measure.measure(bench("true"), 1)


def test_an_old_output_is_not_taken_for_a_new_one(guests: Guests, bench: Make) -> None:
    made = bench("true")
    (made.folders[PLAIN] / "out").write_text("old")
    with pytest.raises(ExecutionError, match="wrote no out"):
        measure.measure(made, 1)


def run_here(tmp_path: Path, *argv: str, timeout: float | None = None) -> execution.Ending:
    return execution.run(
        argv,
        tmp_path,
        image=None,
        scratch=tmp_path,
        environment=execution.environment(),
        timeout_seconds=timeout,
    )


def test_this_machines_run_is_accounted(tmp_path: Path) -> None:
    ending = run_here(tmp_path, "sh", "-c", "sleep 0.2; echo out; echo err >&2; exit 7")
    assert ending.status == 7
    assert (tmp_path / "stdout").read_text() == "out\n"
    assert (tmp_path / "stderr").read_text() == "err\n"
    assert ending.sample.seconds >= 0.2
    assert 0.2 <= ending.sample.program_seconds <= ending.sample.seconds
    assert ending.sample.boot_seconds == 0
    assert ending.sample.voluntary_switches > 0


def test_processor_time_of_the_machine_holds_the_programs(tmp_path: Path) -> None:
    loop = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    ran = run_here(tmp_path, "sh", "-c", loop).sample
    own = ran.user_seconds + ran.system_seconds
    assert 0 < own <= ran.machine_user_seconds + ran.machine_system_seconds


def test_a_programs_peak_of_memory_is_its_own(tmp_path: Path) -> None:
    small = run_here(tmp_path, "true").sample
    # This interpreter uses several times as much, which must not count as the program's.
    assert 0 < small.max_resident_bytes < 8 << 20
    fill = "import mmap; m = mmap.mmap(-1, 64 << 20); m.write(bytes(64 << 20))"
    large = run_here(tmp_path, "/usr/bin/python3", "-c", fill).sample
    assert 64 << 20 <= large.max_resident_bytes < 96 << 20
    assert large.minor_faults - small.minor_faults >= (64 << 20) // 4096


def test_signals_and_hangs_have_the_shells_status(tmp_path: Path) -> None:
    assert run_here(tmp_path, "sh", "-c", "kill -SEGV $$").status == 128 + 11
    assert run_here(tmp_path, "sleep", "60", timeout=0.2).status == 128 + 9


def test_an_interrupt_kills_a_command_that_is_about_to_end(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    script = f"sleep 0.5; kill -INT {os.getpid()}; sleep 0.1; touch ended"
    try:
        with pytest.raises(KeyboardInterrupt):
            run_here(tmp_path, "sh", "-c", script)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not (tmp_path / "ended").exists()


def test_a_missing_program_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ExecutionError, match=r"cannot run \./nothing: No such file"):
        run_here(tmp_path, "./nothing")


def test_our_own_variables_do_not_reach_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KADENCE_PLAN", "x")
    monkeypatch.setenv("KADAPT_DEVICE", "x")
    monkeypatch.setenv("KADENCE_CACHE", "/there")
    run_here(tmp_path, "env")
    told = (tmp_path / "stdout").read_text()
    assert re.findall("^KAD.*", told, re.MULTILINE) == ["KADENCE_CACHE=/there"]
    assert os.environ["PATH"] in (tmp_path / "stdout").read_text()
