# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of a guest's kernel, counted by QEMU's plugin, against what the guest's own clock says."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from kadence.boot import debian, qemu
from kadence.lab import calls
from kadence.live.kernel import kallsyms_of

pytestmark = pytest.mark.kernel

HERE = Path(__file__).resolve().parent
WRITES, TURNS = 1000, 300
SAID = re.compile(r"^ns (\d+)\r?\nleast (\d+)\r?$", re.MULTILINE)
# What the program itself executes for a call, and between its looks at the clock.
OWN_INSTRUCTIONS = 30
WRITING, TAKING_TURNS = 1, 2
ROUNDING_NS = 2  # the guest's clock multiplies a counter that begins at another number each time


@dataclass(frozen=True)
class Seen:
    """What one guest said, with the plugin and without."""

    ns: int
    least_ns: int
    least_ns_without: int
    tallies: list[calls.Tally]

    def of(self, section: int, function: str) -> calls.Tally:
        """The only tally of a function in a section."""
        [found] = [
            tally
            for tally in self.tallies
            if (tally.section, tally.function) == (section, function)
        ]
        return found

    def own(self, section: int) -> int:
        """All instructions of the kernel in a section."""
        return sum(tally.own for tally in self.tallies if tally.section == section)


@pytest.fixture(scope="session")
def sections(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program whose calls are known."""
    target = tmp_path_factory.mktemp("lab") / "sections"
    flags = ("-O2", "-Wall", "-Wextra", "-Werror", "-static", f"-I{root / 'boot'}")
    subprocess.run(["gcc-12", *flags, "-o", target, HERE / "programs/sections.c"], check=True)
    return target


@pytest.fixture(scope="module")
def seen(sections: Path, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """The same guest with the plugin and without."""
    folder = tmp_path_factory.mktemp("calls")
    release = debian.newest_release("6.12")

    def said(*options: str) -> tuple[int, int]:
        machine = qemu.Machine(
            debian.kernel_image(release),
            options=options,
            kernel_arguments=["quiet", calls.KERNEL_ARGUMENT],
        )
        # The kernel's own threads are not done when the first process begins.
        script = f"sleep 5; /sections {WRITES} {TURNS}"
        outcome = qemu.run_script(machine, script, {"sections": sections})
        found = SAID.search(outcome.console)
        assert not outcome.status, outcome.console
        assert found, outcome.console
        return int(found[1]), int(found[2])

    ns, least_ns = said(*calls.options(folder, kallsyms_of(release)))
    return Seen(ns, least_ns, said()[1], calls.tallies(folder))


def test_the_guest_does_not_see_the_plugin(seen: Seen) -> None:
    assert abs(seen.least_ns - seen.least_ns_without) <= ROUNDING_NS


@pytest.mark.parametrize("function", ["__x64_sys_pwrite64", "vfs_write", "shmem_file_write_iter"])
def test_each_call_is_counted(seen: Seen, function: str) -> None:
    assert seen.of(WRITING, function).calls == WRITES


def test_the_instructions_are_those_of_the_guests_clock(seen: Seen) -> None:
    """The clock counts the program's, too."""
    assert 0 < seen.ns - seen.own(WRITING) < WRITES * OWN_INSTRUCTIONS


def test_a_call_contains_its_callees(seen: Seen) -> None:
    outer, inner = seen.of(WRITING, "__x64_sys_pwrite64"), seen.of(WRITING, "vfs_write")
    assert inner.own < inner.inclusive < outer.inclusive < seen.own(WRITING)
    assert inner.inclusive / WRITES <= inner.longest


def test_a_call_does_not_contain_what_other_tasks_do_while_it_waits(seen: Seen) -> None:
    """Else both readers would contain nearly all of the section."""
    reads = seen.of(TAKING_TURNS, "pipe_read")
    # The first and the last ones may begin outside of the section.
    assert 2 * TURNS - 4 <= reads.calls <= 2 * TURNS
    assert seen.of(TAKING_TURNS, "schedule").calls >= TURNS
    assert reads.inclusive < 0.7 * seen.own(TAKING_TURNS)
    calls_in_all = seen.of(TAKING_TURNS, "do_syscall_64").inclusive
    assert 0.9 * seen.own(TAKING_TURNS) < calls_in_all <= seen.own(TAKING_TURNS)


@pytest.mark.parametrize(
    ("options", "processors", "complaint"),
    [
        ("", 1, "needs functions=FILE and out=FILE"),
        (",functions=/missing,out=/dev/null", 1, "cannot read functions from /missing"),
        (",functions=/dev/null,out=/dev/null", 1, "cannot read functions from /dev/null"),
        (",functions=/missing,out=/dev/null", 3, "counts 2 processors at most"),
    ],
)
def test_the_plugin_refuses_bad_options(
    root: Path, options: str, processors: int, complaint: str
) -> None:
    plugin = root / "build/kadence/lab-calls.so"
    command = [qemu.QEMU, "-accel", "tcg", "-smp", str(processors), "-nodefaults"]
    done = subprocess.run(
        [*command, "-display", "none", "-plugin", f"{plugin}{options}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode
    assert complaint in done.stderr


def test_functions_are_named_by_the_kernels_symbols(tmp_path: Path) -> None:
    lines = ["2 T later", "1 t first", "3 D data", "4 T module [m]", "5 T __x86_thunk", "2 T alias"]
    calls.options(tmp_path, lines)
    assert (tmp_path / calls.FUNCTIONS).read_text() == "1 first\n2 alias\n2 later\n"
