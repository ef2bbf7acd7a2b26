# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of code that a guest runs: known by construction, by the plugin that counts calls, and by
Valgrind's model of caches."""

import random
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from kadence.base.errors import GuestError
from kadence.boot import debian, qemu
from kadence.kernel.executable import Executable
from kadence.kernel.footprint import Functions, footprint
from kadence.lab import calls, counts, figures
from kadence.lab.counts import GEOMETRIES, Counted
from kadence.lab.guest import stock
from kadence.live.kernel import kallsyms_of
from kadence.observe.probes import modules

pytestmark = pytest.mark.kernel

HERE = Path(__file__).resolve().parent
WRITES, TURNS, ROUNDS = 1000, 300, 1000
WRITING, TAKING_TURNS, OWN = 1, 2, 2  # sections
STEPS = 9
FUNCTIONS, CALLS = 400, 300_000
ROUNDS_OF_LAB, BATCH = 3, 10_000  # BATCH is that of bench/lab/calls.c
OF_VALGRIND = 0.02  # the difference that may remain
RELEASE = debian.newest_release("6.12")
KERNEL_ENTRIES = ("__x64_sys_pwrite64", "vfs_write", "shmem_file_write_iter")

Built = Callable[..., Path]


@pytest.fixture(scope="session")
def compiled(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Compiles a static program for the guest."""
    folder = tmp_path_factory.mktemp("counts")

    def compile_program(source: Path, *options: str, linked: str = "-static") -> Path:
        target = folder / source.stem
        flags = ("-Wall", "-Wextra", "-Werror", linked, f"-I{root / 'boot'}", *options)
        subprocess.run(["gcc-12", *flags, "-o", target, source], check=True)
        return target

    return compile_program


def counted(script: str, programs: dict[str, Path], *extra: Path, **wanted: object) -> Counted:
    """Run a script in a guest, and read what was counted."""
    with tempfile.TemporaryDirectory(prefix="kadence-counts-") as name:
        folder = Path(name)
        options = counts.options(folder, **wanted)  # type: ignore[arg-type]
        machine = qemu.Machine(
            debian.kernel_image(RELEASE),
            options=options,
            kernel_arguments=["quiet", calls.KERNEL_ARGUMENT],
        )
        files = programs | {path.name: path for path in extra}
        outcome = qemu.run_script(machine, script, files)
        assert not outcome.status, outcome.console
        return counts.read(folder)


@pytest.fixture(scope="module")
def writing(compiled: Built) -> Counted:
    """A thousand writes."""
    program = compiled(HERE / "programs/sections.c", "-O2")
    return counted(f"sleep 5; /sections {WRITES} {TURNS}", {"sections": program}, section=WRITING)


@pytest.fixture(scope="module")
def addresses() -> dict[str, int]:
    return {name: address for address, name in calls.functions(kallsyms_of(RELEASE))}


@pytest.mark.parametrize("function", KERNEL_ENTRIES)
def test_each_execution_is_counted(
    writing: Counted, addresses: dict[str, int], function: str
) -> None:
    entered = [one for one in writing.blocks if one.address == addresses[function]]
    assert sum(sum(one.counts) for one in entered) == WRITES
    called = [one for one in writing.edges if one.successor == addresses[function]]
    assert sum(sum(one.counts) for one in called) == WRITES


def test_blocks_have_all_instructions(writing: Counted) -> None:
    ran = sum(one.instructions * sum(one.counts) for one in writing.blocks)
    assert ran == writing.kernel > 0


def test_a_block_is_left_as_often_as_it_is_entered(writing: Counted) -> None:
    """But for the last one, and those that fault."""
    entered: Counter[tuple[int, int]] = Counter()
    for block in writing.blocks:
        entered[block.address, block.bytes] += sum(block.counts)
    for edge in writing.edges:
        entered[edge.address, edge.bytes] -= sum(edge.counts)
    # Blocks that resume what was interrupted, or return to programs, go on elsewhere.
    going_on = {
        (one.address, one.bytes)
        for one in writing.blocks
        if one.ending not in ("leaves", "resumes")
    }
    assert sum(abs(entered[one]) for one in going_on) <= 10


def steps_of(program: Path) -> list[int]:
    """The addresses of the functions that programs/lines.c calls in turn."""
    told = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return [int(one, 16) for one in re.findall(r"^(\w+) T step_", told, re.MULTILINE)]


def test_known_misses_are_counted_exactly(compiled: Built) -> None:
    """Nine lines of one set: with eight ways each is missed each time, with twelve ways once."""
    program = compiled(HERE / "programs/lines.c", "-O2", f"-DROUNDS={ROUNDS}")
    steps = steps_of(program)
    found = counted(
        "sleep 5; /lines",
        {"lines": program},
        geometries=GEOMETRIES,
        section=OWN,
        only_programs=True,
    )
    lines = {line.address: line for line in found.lines}
    assert len(steps) == STEPS
    assert [lines[step].fetches for step in steps] == [ROUNDS] * STEPS
    assert [lines[step].misses[:2] for step in steps] == [(ROUNDS, 1)] * STEPS
    # The way used least recently is that of the next step.
    evicted = {(one.address, one.by): one.count for one in found.evictions}
    following = [*steps[1:], steps[0]]
    pairs = zip(following, steps, strict=True)
    assert [evicted[pair] for pair in pairs] == [ROUNDS - 1] * STEPS
    small, larger, _ = found.caches
    # Beside them there are the lines that ran once, or in each round.
    assert small.misses - STEPS * ROUNDS == len(found.lines) - STEPS
    assert larger.misses == len(found.lines)


def test_a_programs_code_is_found_wherever_it_lies(compiled: Built) -> None:
    """The kernel loads it at a random address, and the shell's code lies elsewhere."""
    program = compiled(
        HERE / "programs/lines.c", "-fPIE", f"-DROUNDS={ROUNDS}", "-O2", linked="-static-pie"
    )
    found = counted(
        "sleep 5; /lines; ls / >/dev/null",
        {"lines": program},
        geometries=GEOMETRIES,
        section=OWN,
    )
    executable = Executable.of(str(program))
    assert executable is not None
    steps = steps_of(program)
    assert not {line.address for line in found.lines} & set(steps)
    code = footprint(found, Functions([]), executable).program_code
    assert code is not None
    lines = [text.split() for text in code.code]
    names = {int(address, 16): (name, int(fetches)) for address, fetches, _, name, _ in lines}
    assert {names[step] for step in steps} == {(f"step_{n}", ROUNDS) for n in range(STEPS)}
    assert {name for name, _ in names.values()} <= {*(f"step_{n}" for n in range(STEPS)),
                                                    "take_turns", "main"}  # fmt: skip


def test_rounds_of_operations_are_counted_without_their_preparation(
    addresses: dict[str, int],
) -> None:
    """Rounds are counted, with the first one, which warms up; a process starts in none of them."""
    with tempfile.TemporaryDirectory(prefix="kadence-counts-") as name:
        folder = Path(name)
        options = counts.options(folder, section=figures.ROUNDS_SECTION)
        figures.take(stock(), ["getppid"], ROUNDS_OF_LAB, emulator_options=options)
        blocks = counts.read(folder).blocks
    entered = Counter({one.address: sum(one.counts) for one in blocks})
    assert entered[addresses["__do_sys_getppid"]] == (ROUNDS_OF_LAB + 1) * BATCH
    assert entered[addresses["__x64_sys_execve"]] == 0


def scattered(folder: Path) -> Path:
    """A program whose calls go to many functions of several lines, in a fixed disorder."""
    order = random.Random(1)
    functions = "".join(
        f"static __attribute__((noinline)) int f{number}(int x) {{ int y = x; "
        + "".join(
            f"if (y & {1 << bit % 7}) y = y * {3 + number} + {bit}; else y ^= {number + bit}; "
            for bit in range(order.randint(2, 14))
        )
        + "return y; }\n"
        for number in range(FUNCTIONS)
    )
    names = ", ".join(f"f{number}" for number in range(FUNCTIONS))
    source = folder / "scattered.c"
    source.write_text(
        f'#include "mark.h"\n{functions}'
        f"static int (*const all[])(int) = {{{names}}};\n"
        "__attribute__((noinline)) int work(void)\n{\n"
        "\tunsigned state = 1;\n\tint x = 1;\n"
        f"\tfor (int call = 0; call < {CALLS}; call++) {{\n"
        "\t\tstate = state * 1103515245 + 12345;\n"
        f"\t\tx = all[(state >> 16) % (state & 768 ? 90 : {FUNCTIONS})](x);\n"
        "\t}\n\treturn x;\n}\n"
        "static int marked(void)\n{\n"
        '\tKADENCE_MARK("2");\n\tint x = work();\n\tKADENCE_MARK("0");\n\treturn x;\n}\n'
        "int main(void)\n{\n\treturn marked() & 1;\n}\n"
    )
    return source


def by_valgrind(program: Path, size: int, ways: int) -> int:
    """The misses of work()."""
    done = subprocess.run(
        [
            *("valgrind", "--tool=callgrind", "--cache-sim=yes", f"--I1={size},{ways},64"),
            *("--toggle-collect=work", "--callgrind-out-file=/dev/null", program),
        ],
        capture_output=True,
        text=True,
    )
    found = re.search(r"I1 +misses: +([\d,]+)", done.stderr)
    assert found, done.stderr
    return int(found[1].replace(",", ""))


def test_misses_are_those_of_valgrinds_model(compiled: Built, tmp_path: Path) -> None:
    program = compiled(scattered(tmp_path), "-O1")
    found = counted(
        "sleep 5; /scattered || :",
        {"scattered": program},
        geometries=GEOMETRIES,
        section=OWN,
        only_programs=True,
    )
    for cache in found.caches:
        expected = by_valgrind(program, cache.bytes, cache.ways)
        assert cache.misses == pytest.approx(expected, rel=OF_VALGRIND)


def test_phases_are_told_apart(root: Path, compiled: Built, addresses: dict[str, int]) -> None:
    """Phase 1 writes; in phase 2 two processes give each other the turn."""
    program = compiled(root / "tests/kadapt/probe/phases.c", "-O2", f"-I{root / 'kadapt/uapi'}")
    loaded = modules.built(RELEASE, modules.DRIVER)
    script = "".join(f"insmod /{path.name}; " for path in loaded)
    found = counted(
        f"{script}/phases {WRITES} {TURNS}",
        {"phases": program},
        *loaded,
        section=TAKING_TURNS,
        switch=addresses[counts.SWITCH],
    )
    numbers = {phase: number for number, phase in found.phases.items()}
    reads = [one for one in found.blocks if one.address == addresses["pipe_read"]]
    by_phase = {
        phase: sum(one.counts[number] for one in reads) for phase, number in numbers.items()
    }
    # The child is in no phase; the first and the last may be outside of the section.
    assert TURNS - 2 <= by_phase.pop(2) <= TURNS
    assert not any(by_phase.values())


@pytest.mark.parametrize(
    ("options", "processors", "complaint"),
    [
        ("", 1, "the plugin needs out=FILE"),
        (",out=/dev/null", 2, "the plugin counts one processor"),
        (",out=/dev/null,switch=x", 1, "switch= is no address"),
        (",out=/dev/null,caches=32768", 1, "caches= has no such geometry"),
        (",out=/dev/null,caches=33000/8", 1, "caches= has no such geometry"),
        (",out=/dev/null,caches=32768/8+", 1, "caches= has no such geometry"),
    ],
)
def test_the_plugin_refuses_bad_options(
    root: Path, options: str, processors: int, complaint: str
) -> None:
    command = [qemu.QEMU, "-accel", "tcg", "-smp", str(processors), "-nodefaults"]
    done = subprocess.run(
        [*command, "-display", "none", "-plugin", f"{root / 'build' / counts.PLUGIN}{options}"],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert complaint in done.stderr


def test_a_guest_that_left_no_counts_is_told(tmp_path: Path) -> None:
    with pytest.raises(GuestError, match="without the counts of its plugin"):
        counts.read(tmp_path)
