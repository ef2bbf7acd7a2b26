# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of Debian's kernel, counted and timed inside it, against QEMU's plugin."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kadence import boot
from kadence.boot import debian, qemu
from kadence.lab import calls
from kadence.live.kernel import kallsyms_of
from kadence.observe.probes import results
from kadence.observe.probes.results import NO_PHASE, Results

pytestmark = pytest.mark.kernel

HERE = Path(__file__).resolve().parent / "probe"
WRITES, TURNS = 2000, 1500
WRITING, TAKING_TURNS, RESTING, FORKING = 1, 2, 3, 4
REST_NS = 20_000_000
COUNT, TIME, BYTES_LONG = 0, 1, 2
BEGIN, END = "= records", "= end"
MODULE_BYTES = 0x20000
PLACE = r"echo place $(sed -n 's/^kadapt_probe .*\(0x[^ ]*\).*/\1/p' /proc/modules)"

Files = dict[str, Path | bytes]


@dataclass(frozen=True)
class Driver:
    """The driver's modules for Debian's kernel, and the tools for guests."""

    release: str
    files: Files

    def run(self, script: str, files: Files | None = None, **machine: object) -> str:
        """The console of a guest that ran the script to its good end."""
        arguments = {"kernel_arguments": ["quiet", calls.KERNEL_ARGUMENT], "timeout_seconds": 600}
        image = debian.kernel_image(self.release)
        outcome = qemu.run_script(
            qemu.Machine(image, memory_megabytes=1024, **(arguments | machine)),  # type: ignore[arg-type]
            f"insmod /kadapt.ko || exit 91\ninsmod /kadapt_probe.ko || exit 92\n{script}",
            self.files | (files or {}),
        )
        assert outcome.status == 0, outcome.console
        assert boot.complaints(outcome.console) == [], outcome.console
        return outcome.console

    def listed(self, functions: Sequence[tuple[str, int]]) -> bytes:
        """The file of functions that the tool reads."""
        known = {name: address for address, name in calls.functions(kallsyms_of(self.release))}
        return "".join(f"{known[name]:x} {kind}\n" for name, kind in functions).encode()


@pytest.fixture(scope="module")
def driver(
    kadapt_module: Callable[[str], Path], guest_program: Callable[[Path], Path], root: Path
) -> Driver:
    release = debian.newest_release("6.12")
    module = kadapt_module(release)
    return Driver(
        release,
        {
            "kadapt.ko": module,
            "kadapt_probe.ko": module.with_name("kadapt_probe.ko"),
            "probe": root / "build/kadence/probe",
            "phases": guest_program(HERE / "phases.c"),
        },
    )


def records(console: str) -> Results:
    """What the guest printed between BEGIN and END."""
    _, _, rest = console.partition(f"{BEGIN}\n")
    text, _, _ = rest.partition(END)
    return results.read(text.splitlines())


def recording(command: str, functions: str = "/functions") -> str:
    """Runs the command and prints the records."""
    return (
        f"/probe {functions} /out -- {command} || exit 93\necho '{BEGIN}'; cat /out; echo '{END}'\n"
    )


# ---- times, against the truth -------------------------------------------------------------------

FUNCTIONS = [
    ("__x64_sys_pwrite64", TIME),
    ("vfs_write", BYTES_LONG),
    ("shmem_file_write_iter", TIME),
    ("pipe_read", TIME),
    ("pipe_write", TIME),
    ("schedule", TIME),
    ("do_nanosleep", TIME),
    ("copy_process", TIME),
    ("do_exit", TIME),
    ("anon_pipe_buf_release", COUNT),
]
NAMES = [name for name, _ in FUNCTIONS]


@dataclass(frozen=True)
class Seen:
    """What the instruments and the plugin saw of the same run."""

    found: Results
    tallies: list[calls.Tally]

    def truth(self, section: int, function: str) -> calls.Tally:
        [tally] = [t for t in self.tallies if (t.section, t.function) == (section, function)]
        return tally

    def calls(self, phases: Sequence[int], function: str) -> int:
        return sum(record.calls for record in self.records(phases, function))

    def mean(self, phases: Sequence[int], function: str) -> float:
        inclusive = sum(record.inclusive for record in self.records(phases, function))
        return inclusive / self.calls(phases, function)

    def only(self, phase: int, function: str) -> results.Record:
        [record] = self.records([phase], function)
        return record

    def records(self, phases: Sequence[int], function: str) -> list[results.Record]:
        return [
            record
            for block in self.found.blocks
            for record in block.records
            if block.phase in phases and NAMES[record.function] == function
        ]


@pytest.fixture(scope="module")
def seen(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    folder = tmp_path_factory.mktemp("probe")
    # Without randomisation the module is at the same place in each run.
    place = re.search(r"^place 0x(\w+)", driver.run(PLACE), re.MULTILINE)
    assert place
    low = int(place[1], 16)
    *options, plugin = calls.options(folder, kallsyms_of(driver.release))
    console = driver.run(
        "sleep 3\n" + recording(f"/phases {WRITES} {TURNS}"),
        {"functions": driver.listed(FUNCTIONS)},
        options=(*options, f"{plugin},ignored={low:x}-{low + MODULE_BYTES:x}"),
    )
    return Seen(records(console), calls.tallies(folder))


@pytest.mark.parametrize("function", ["__x64_sys_pwrite64", "vfs_write", "shmem_file_write_iter"])
def test_times_without_switches_are_within_half_a_percent(seen: Seen, function: str) -> None:
    truth = seen.truth(WRITING, function)
    assert seen.calls([WRITING], function) == truth.calls == WRITES
    assert seen.mean([WRITING], function) == pytest.approx(truth.inclusive / WRITES, rel=0.005)


@pytest.mark.parametrize("function", ["schedule", "pipe_read"])
def test_times_across_switches_are_within_a_percent(seen: Seen, function: str) -> None:
    """The child is in no phase, and makes its calls in the parent's second section."""
    truth = seen.truth(TAKING_TURNS, function)
    mean = seen.mean([TAKING_TURNS, NO_PHASE], function)
    assert mean == pytest.approx(truth.inclusive / truth.calls, rel=0.01)


def test_a_single_wait_is_within_a_percent(seen: Seen) -> None:
    truth = seen.truth(RESTING, "do_nanosleep")
    assert seen.mean([RESTING], "do_nanosleep") == pytest.approx(truth.inclusive, rel=0.01)


def test_calls_are_counted_by_phase(seen: Seen) -> None:
    assert seen.calls([TAKING_TURNS], "pipe_read") == TURNS
    assert seen.calls([TAKING_TURNS], "pipe_write") == TURNS
    # A byte begins the command, which may wait for it already when it is observed.
    assert seen.calls([NO_PHASE], "pipe_read") in (TURNS, TURNS + 1)
    assert seen.calls([TAKING_TURNS], "anon_pipe_buf_release") > 0
    assert seen.calls([RESTING], "do_nanosleep") == 1


def test_waiting_is_no_time_of_a_call(seen: Seen) -> None:
    record = seen.only(RESTING, "do_nanosleep")
    slept = record.waited[results.WAITS.index("slept")]
    assert REST_NS * 0.99 < slept < REST_NS * 1.01
    assert sum(record.waited) == slept
    assert record.inclusive < REST_NS / 1000


def test_bytes_are_the_sum_of_results(seen: Seen) -> None:
    assert seen.only(WRITING, "vfs_write").bytes == WRITES * 16


def test_children_are_part_of_their_callers(seen: Seen) -> None:
    outer, inner = seen.only(WRITING, "__x64_sys_pwrite64"), seen.only(WRITING, "vfs_write")
    assert outer.children == inner.inclusive
    assert sum(outer.histogram.values()) == WRITES


def test_the_end_of_a_task_ends_its_calls(seen: Seen) -> None:
    """Of the program, of the child that took turns, and of the child of phase 4."""
    ends = seen.records([NO_PHASE, FORKING], "do_exit")
    assert [record.unended for record in ends] == [1, 1, 1]
    assert all(record.inclusive > 0 for record in ends)


def test_the_costs_are_calibrated(seen: Seen) -> None:
    costs = seen.found.costs
    assert (costs.counted, costs.calls[COUNT]) == (3, 8)
    assert costs.inner < costs.calls[TIME] <= 40
    # To add a result takes three instructions.
    assert costs.calls[BYTES_LONG] == costs.calls[TIME] + 3
    assert (costs.tasks_lost, costs.stays_lost) == (0, 0)
