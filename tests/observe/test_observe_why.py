# SPDX-License-Identifier: GPL-2.0-or-later
"""The walk to what takes the kernel's time, and the advice, on causes that are known."""

import re
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kadence.boot import debian, qemu
from kadence.lab import calls
from kadence.lab.guest import stock
from kadence.live.kernel import kallsyms_of
from kadence.observe import advice, paths, walk
from kadence.observe.observation import by_path, observe
from kadence.observe.paths import Paths
from kadence.observe.probes import modules

HERE = Path(__file__).resolve().parent / "programs/causes"
ROWS = {row.name: row for row in advice.read()}
# Have no program in causes/: they need a guest of their own.
IN_A_SMALL_GUEST = "the page cache is too small"
IN_A_SLOW_GUEST = "names collide in the cache"  # test_observe_planted.py
SECTIONS, RAISED = 40, 500
CASE = re.compile(r"^case (\d+) (.*)$", re.MULTILINE)

TREE = """\
dropped 2
1 9 -1 others 0 5 0
1 8 -1 command 0 0 0
1 7 -1 interrupts 0 7 0
2 10 -1 others 0 0 0
2 6 -1 command 0 1 1
2 11 -1 interrupts 0 0 0
1 0 8 do_syscall_64 3 10 0
1 1 0 __x64_sys_open 2 40 0
1 2 1 do_truncate 2 300 0
1 3 0 __x64_sys_wait4 1 50 0
1 4 3 do_wait 1 0 9000
1 5 2 schedule 1 0 600
"""

IN_PHASES = """\
dropped 0
1 9 -1 command 0 10 0
1 8 -1 others 0 0 0
1 7 -1 interrupts 0 0 0
1 0 9 phase:3 2 0 0
1 1 9 phase:12 1 0 0
1 2 0 do_syscall_64 5 0 0
1 3 2 __x64_sys_read 5 300 0
1 4 1 do_syscall_64 5 0 0
1 5 4 __x64_sys_write 5 490 0
1 6 4 __x64_sys_read 2 200 0
"""


def test_the_walk_begins_with_the_phase_that_takes_most() -> None:
    command = paths.read(IN_PHASES.splitlines(), 1).command
    assert walk.bottom(command).function == "__x64_sys_write"
    assert list(walk.lines(command)) == [
        "69.0 %  phase 12: once, 690 ns each",
        "49.0 %    __x64_sys_write: 5 calls, 98 ns each",
        "20.0 %    __x64_sys_read: 2 calls, 100 ns each",
        "30.0 %  phase 3 › __x64_sys_read: 5 calls, 60 ns each",
    ]


def test_advice_names_the_phases() -> None:
    command = paths.read(IN_PHASES.splitlines(), 1).command
    row = advice.Advice("reads", "__x64_sys_read", "it reads", "none", {"program": "do not"})
    [first, _] = advice.lines(command, advice.fitting(command, [row]))
    assert "7 calls of __x64_sys_read, 71 ns each, in phases 3, 12; none" in first


def test_paths_are_read_by_section() -> None:
    found = paths.read(TREE.splitlines(), 1)
    assert (found.dropped, found.others.instructions, found.interrupts.instructions) == (2, 5, 7)
    assert (found.command.instructions, found.command.waited) == (400, 600)
    assert paths.read(TREE.splitlines(), 2).command.cost == 2


def test_the_walk_ends_where_nothing_below_explains_a_tenth() -> None:
    command = paths.read(TREE.splitlines(), 1).command
    assert walk.bottom(command).function == "do_truncate"
    assert list(walk.lines(command)) == [
        "94.0 %  __x64_sys_open › do_truncate: 2 calls, 450 ns each, waiting 60.0 %"
    ]


def test_paths_are_added_up_by_caller_and_callee() -> None:
    command = paths.read(TREE.splitlines(), 1).command
    [found] = by_path(command, ["__x64_sys_*>do_*", "do_truncate"])[:1]
    assert (found.function, found.calls, found.own, found.inclusive) == (
        "__x64_sys_open > do_truncate",
        2,
        300,
        300,
    )
    names = [each.function for each in by_path(command, ["__x64_sys_*>do_*"])]
    assert names == ["__x64_sys_open > do_truncate", "__x64_sys_wait4 > do_wait"]


def test_waiting_for_a_child_is_not_a_cause() -> None:
    command = paths.read(TREE.splitlines(), 1).command
    assert all("wait4" not in line for line in walk.lines(command))


def test_a_command_that_did_nothing_has_no_tree() -> None:
    rows = ["dropped 0", *(f"1 {n} -1 {name} 0 0 0" for n, name in enumerate(
        ("others", "command", "interrupts")))]  # fmt: skip
    assert list(walk.lines(paths.read(rows, 1).command)) == [
        "the kernel did nothing for the command"
    ]


def test_every_row_says_what_to_change_and_where_that_is_described() -> None:
    assert len(ROWS) >= 25
    for row in ROWS.values():
        assert row.says, row
        assert row.source, row
        assert row.change, row
        assert set(row.change) <= set(advice.CHANGES), row


@dataclass(frozen=True)
class Causes:
    """What one guest's kernel did for all programs of causes/."""

    lines: Sequence[str]
    numbers: dict[str, int]

    def advice(self, name: str, *, has_cause: bool) -> tuple[Paths, list[str]]:
        """The paths of a row's program, and the rows that fit them."""
        found = paths.read(self.lines, 2 * self.numbers[name] + (1 if has_cause else 2))
        fits = advice.fitting(found.command, list(ROWS.values()))
        return found, [row.name for row, _ in fits]


def counted(folder: Path, script: str, *sources: Path) -> tuple[Sequence[str], str]:
    """The paths of a guest that runs a script with /program, and what it printed."""
    program = folder / "program"
    flags = ("-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-static", "-pthread")
    subprocess.run(["gcc-12", *flags, "-o", program, *sources], check=True)
    release = debian.newest_release("6.12")
    machine = qemu.Machine(
        debian.kernel_image(release),
        memory_megabytes=1024,
        options=calls.options(folder, kallsyms_of(release), paths=True),
        kernel_arguments=["quiet", calls.KERNEL_ARGUMENT],
    )
    outcome = qemu.run_script(machine, script, {"program": program})
    assert not outcome.status, outcome.console
    lines = (folder / calls.PATHS).read_text(encoding="ascii").splitlines()
    assert lines[0] == "dropped 0"
    return lines, outcome.console


@pytest.fixture(scope="module")
def causes(tmp_path_factory: pytest.TempPathFactory) -> Causes:
    script = "ifconfig lo 127.0.0.1 up; sleep 4; /program"
    lines, said = counted(tmp_path_factory.mktemp("causes"), script, *HERE.glob("*.c"))
    return Causes(lines, {name: int(number) for number, name in CASE.findall(said)})


@pytest.mark.kernel
@pytest.mark.parametrize("name", sorted({*ROWS} - {IN_A_SMALL_GUEST, IN_A_SLOW_GUEST}))
def test_advice_fits_the_program_with_the_cause_only(causes: Causes, name: str) -> None:
    found, fits = causes.advice(name, has_cause=True)
    assert name in fits, list(walk.lines(found.command))
    found, fits = causes.advice(name, has_cause=False)
    assert name not in fits, list(walk.lines(found.command))


@pytest.mark.kernel
def test_calls_are_the_commands_wherever_interrupts_arrive(tmp_path: Path) -> None:
    source = HERE.parent / "signals/signals.c"
    lines, _ = counted(tmp_path, f"sleep 4; /program {SECTIONS} {RAISED}", source)
    interrupts = 0
    for section in range(1, SECTIONS + 1):
        found = paths.read(lines, section)
        sent = [each.calls for each in found.command.all() if each.function == "__x64_sys_tgkill"]
        assert sum(sent) == RAISED, section
        interrupts += sum(each.calls for each in found.interrupts.below)
    assert interrupts >= SECTIONS


@pytest.mark.kernel
def test_a_command_is_told_why(kadence: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    program = "dd if=/dev/zero bs=1 count=20000 status=none | cat >/dev/null"
    done = kadence("observe", "--why", "--", "sh", "-c", program)
    assert done.returncode == 0, done.stderr
    assert "of them for the command, which waited" in done.stderr
    assert "pipes in small pieces: processes exchange a few bytes" in done.stderr
    assert "  program: send more in each message, or share memory" in done.stderr


@pytest.mark.kernel
def test_what_two_tasks_do_at_once_is_of_the_phase_of_each(root: Path, tmp_path: Path) -> None:
    program = tmp_path / "phases"
    flags = ("-O2", "-Wall", "-Wextra", "-Werror", "-static", f"-I{root}/kadapt/uapi")
    source = HERE.parent / "phases/phases.c"
    subprocess.run(["gcc-12", *flags, "-o", program, source], check=True)
    driver = modules.built(debian.newest_release("6.12"), modules.DRIVER)
    found = observe(stock(), [str(program), "200"], ["*"], 600, with_paths=True, modules=driver)
    assert found.reading.result.status == 0
    assert found.paths
    counted: Counter[tuple[int | None, str]] = Counter()
    for path in found.paths.command.all():
        phases = [above.phase for above in path.above() if above.phase is not None]
        counted[phases[0] if phases else None, path.function] += path.calls
    known = {(7, "__x64_sys_pwrite64"): 600, (200, "__x64_sys_pread64"): 200,
             (None, "__x64_sys_fcntl"): 4, (7, "__x64_sys_write"): 200,
             (200, "__x64_sys_write"): 200, (None, "phase:7"): 1,
             (None, "phase:200"): 1}  # fmt: skip
    names = {name for _, name in known}
    others = {key: n for key, n in counted.items() if key[1] in names and key not in known}
    assert others == {}
    assert {key: counted[key] for key in known} == known


@pytest.mark.kernel
def test_a_file_that_does_not_fit_into_memory_is_told(
    tmp_path: Path, kadence: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    large, small = tmp_path / "large", tmp_path / "small"
    large.write_bytes(bytes(400 << 20))
    small.write_bytes(bytes(20 << 20))
    # To open a file anew would drop its pages here.
    twice = "open F, shift; for (1, 2) { seek F, 0, 0; 1 while sysread F, my $b, 1 << 20 }"
    for file, fits in ((large, True), (small, False)):
        done = kadence("observe", "--why", "--mem", "256M", "--", "perl", "-e", twice, file)
        assert done.returncode == 0, done.stderr
        assert (IN_A_SMALL_GUEST in done.stderr) == fits, done.stderr
