# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan's treatments change neither output nor status, and resident memory stays bounded."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from memory_programs import PROGRAMS, Outcome, Programs

from kadence import boot
from kadence.base.resources import built
from kadence.boot import debian

MIB = 1 << 20


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    """A place to build programs in."""
    return Programs(tmp_path)


# Source -> arguments.
ADVERSARIES = {
    "sparse_touch.c": (),
    "fork_and_write.c": (),
    "guard_pages.c": (),
    "realloc_loops.c": (),
    "odd_requests.c": (),
    "allocating_threads.c": (),
    "deep_stack.c": (),
    "mapped_file.c": ("file",),
    "exec_itself.c": (),
    "containers.cc": (),
    "work_arrays.f90": (),
}
# Programs that end by _exit() or never allocate a large block need not write counters.
WITHOUT_COUNTERS = ("deep_stack.c", "mapped_file.c")
CONTAINERS = ("containers.cc", "new_allocator.h", "stl_vector.h", "basic_string.tcc")


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3 -flto"])
@pytest.mark.parametrize("source", ADVERSARIES)
def test_adapted_programs_do_as_the_plain_ones(programs: Programs, source: str, level: str) -> None:
    files = CONTAINERS if source == "containers.cc" else (source,)
    pair = programs.build(source, options=level.split(), files=files)
    found = programs.compare(pair, *ADVERSARIES[source])
    assert found.memory or source in WITHOUT_COUNTERS, found


@pytest.mark.parametrize("treatments", [(), ("keep",), ("populate",), ("huge",)])
@pytest.mark.parametrize("source", ["realloc_loops.c", "odd_requests.c", "allocating_threads.c"])
def test_each_treatment_alone_changes_nothing(
    programs: Programs, source: str, treatments: tuple[str, ...]
) -> None:
    pair = programs.build(source, treatments=treatments)
    found = programs.compare(pair)
    assert ("keep" in treatments) == ("blocks" in found.memory)
    assert ("keep" in treatments) == (found.memory.get("again_bytes", 0) > 0)


@pytest.mark.parametrize("least", [4096, 100_000, 5 << 20])
def test_smaller_blocks_are_mallocs(programs: Programs, least: int) -> None:
    pair = programs.build("realloc_loops.c", fresh_least_bytes=least)
    programs.compare(pair)


def test_limit_on_addresses_leaves_the_plain_calls(programs: Programs) -> None:
    """Under `ulimit -v` and `ulimit -d` the program gets as many blocks as the plain one."""
    pair = programs.build("limited_addresses.c")
    for limit in "-v", "-d":
        before = ("bash", "-c", f'ulimit {limit} 1500000; exec "$@"', "bash")
        assert programs.compare(pair, before=before).memory == {}


@pytest.mark.parametrize("kind", ["address", "data"])
def test_limit_that_a_program_sets_itself_ends_the_arena(programs: Programs, kind: str) -> None:
    """The arena's reserved addresses must not count against the limit."""
    pair = programs.build("limited_addresses.c")
    assert programs.compare(pair, kind).memory["blocks"] == 2


def test_static_program_is_plain(programs: Programs) -> None:
    for source in "realloc_loops.c", "odd_requests.c":
        pair = programs.build(source, options=["-static"])
        assert programs.compare(pair).memory == {}
    pair = programs.build("containers.cc", options=["-static"], files=CONTAINERS)
    assert programs.compare(pair).memory == {}


def test_programs_own_allocator_wins(programs: Programs) -> None:
    pair = programs.build("realloc_loops.c", "counting_allocator.c", options=["-fno-builtin"])
    found = programs.compare(pair)
    assert found.memory == {}
    assert found.complaints == programs.run(pair.plain).complaints


def test_preloaded_allocator_wins(programs: Programs, tmp_path: Path) -> None:
    library = tmp_path / "allocator.so"
    command = ["gcc-12", "-O2", "-fno-builtin", "-shared", "-fPIC", "-o", library]
    subprocess.run([*command, PROGRAMS / "counting_allocator.c"], check=True)
    for source in "realloc_loops.c", "allocating_threads.c":
        pair = programs.build(source)
        found = programs.compare(pair, LD_PRELOAD=str(library))
        assert found.memory == {}
        assert found.complaints == programs.run(pair.plain, LD_PRELOAD=str(library)).complaints


def test_linked_allocator_wins(programs: Programs) -> None:
    pair = programs.build("realloc_loops.c", options=["-ljemalloc"])
    assert programs.compare(pair).memory == {}


def test_programs_own_operators_win(programs: Programs) -> None:
    """The compiler does not see the operators of another unit; the library finds them."""
    pair = programs.build("containers.cc", "own_operators.cc", files=CONTAINERS)
    assert programs.compare(pair).memory == {}


def test_library_frees_what_the_program_allocated(programs: Programs, tmp_path: Path) -> None:
    library = tmp_path / "loaded.so"
    source = PROGRAMS / "loaded_library.c"
    subprocess.run(["gcc-12", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    pair = programs.build("loading_program.c", options=["-ldl"])
    assert programs.compare(pair, library).memory["blocks"]


def test_adapted_library_in_a_plain_program_is_plain(programs: Programs, tmp_path: Path) -> None:
    """The free() of a library that dlopen() loads does not serve the whole process."""
    shared = programs.build("loaded_library.c", options=["-shared", "-fPIC"])
    program = programs.build("loading_program.c", options=["-ldl"]).plain
    plain, adapted = (programs.run(program, library) for library in (shared.plain, shared.adapted))
    assert (adapted.status, adapted.output) == (plain.status, plain.output)
    assert adapted.status == 0
    assert adapted.memory == {}


@pytest.mark.parametrize("source", ["realloc_loops.c", "containers.cc"])
def test_sanitizers_allocator_wins(programs: Programs, source: str) -> None:
    pair = programs.build(source, options=["-fsanitize=address"])
    found = programs.compare(pair, "moderate", ASAN_OPTIONS="detect_leaks=1")
    assert found.memory == {}
    assert "ERROR" not in found.complaints


def test_valgrind_finds_nothing(programs: Programs) -> None:
    pair = programs.build("odd_requests.c")
    before = ("valgrind", "-q", "--error-exitcode=9", "--leak-check=full")
    plain, adapted = (
        programs.run(program, before=before) for program in (pair.plain, pair.adapted)
    )
    assert adapted.output == plain.output
    assert adapted.status == plain.status
    assert adapted.memory == {}


def figures(outcome: Outcome) -> tuple[int, int]:
    """Returns what the program printed: its peak of resident bytes, and its page faults."""
    kibibytes, faults = outcome.complaints.split()
    return int(kibibytes) * 1024, int(faults)


SIZES = ("same", "grow", "shrink", "random", "realloc", "small", "mixed")


@pytest.mark.parametrize("how", SIZES)
def test_resident_memory_is_bounded(programs: Programs, how: str) -> None:
    """In each of its modes the program touches all of its blocks."""
    pair = programs.build("resident_bound.c")
    plain, adapted = (programs.run(program, how) for program in (pair.plain, pair.adapted))
    assert plain.status == adapted.status == 0
    assert adapted.memory["blocks"]
    (before, _), (now, _) = figures(plain), figures(adapted)
    assert now <= before * 1.05 + 32 * MIB


def test_counters_count_blocks(programs: Programs) -> None:
    """60 blocks of 20 MiB, three at a time: all but the first three get kept pages."""
    pair = programs.build("resident_bound.c")
    found = programs.run(pair.adapted, "same").memory
    assert found == {
        "blocks": 60,
        "bytes": 60 * 20 * MIB,
        "again_bytes": 57 * 20 * MIB,
        "peak_bytes": 60 * MIB,
        "refused": 0,
    }


def test_nothing_is_kept_without_leave(programs: Programs) -> None:
    """If the plan allows no kept bytes, malloc serves the blocks."""
    pair = programs.build("resident_bound.c", keep_bytes=0)
    assert programs.run(pair.adapted, "same").memory == {}
    pair = programs.build("resident_bound.c", keep_bytes=25 * MIB)
    assert programs.run(pair.adapted, "same").memory["again_bytes"] == 57 * 20 * MIB


def run_in_guest(kernel: Any, program: Path, *arguments: str) -> tuple[boot.Result, str]:
    """Run on User-Mode Linux. Returns result and output. The guest's log must be clean."""
    output = program.with_suffix(".out")
    with output.open("wb") as stream:
        request = boot.Request(
            image=kernel.image,
            argv=[str(program), *arguments],
            directory=program.parent,
            stdout=stream.fileno(),
            memory_bytes=1 << 30,
            hang_timeout_seconds=600.0,
        )
        result = boot.run(request)
    assert boot.complaints(result.log) == [], result.log
    return result, output.read_text()


AHEAD = ("heap", "stack", "mappings")


@pytest.mark.kernel
@pytest.mark.parametrize("source", ADVERSARIES)
def test_programs_in_a_guest_do_as_the_plain_ones_here(
    generic_kernel: Any, programs: Programs, source: str
) -> None:
    files = CONTAINERS if source == "containers.cc" else (source,)
    pair = programs.build(source, files=files, ahead=AHEAD)
    plain = programs.run(pair.plain, *ADVERSARIES[source])
    result, output = run_in_guest(generic_kernel, pair.adapted, *ADVERSARIES[source])
    assert (result.status, output) == (plain.status, plain.output)


@pytest.mark.kernel
@pytest.mark.parametrize("how", SIZES)
def test_resident_memory_is_bounded_in_a_guest(
    generic_kernel: Any, programs: Programs, how: str
) -> None:
    """Also, the guest has at most a twentieth of the plain program's page faults."""
    pair = programs.build("resident_bound.c", ahead=AHEAD)
    resident, faults = figures(programs.run(pair.plain, how))
    result, _ = run_in_guest(generic_kernel, pair.adapted, how)
    assert result.status == 0
    assert result.max_resident_bytes <= resident * 1.05 + 32 * MIB
    assert result.minor_faults <= faults / 20


@pytest.mark.kernel
def test_heaps_of_threads_are_served_ahead_in_a_guest(
    generic_kernel: Any, programs: Programs
) -> None:
    """The threads touch small blocks in the order in which they take them."""
    pair = programs.build("heaps_of_threads.c", ahead=AHEAD)
    plain = programs.run(pair.plain)
    _, faults = figures(plain)
    result, output = run_in_guest(generic_kernel, pair.adapted)
    assert (result.status, output) == (plain.status, plain.output)
    assert result.minor_faults <= faults / 10


GROUP_MIB, HELD_MIB, BLOCKS_OF_A_MIB = 48, 36, 24


@pytest.mark.kernel
def test_who_lives_in_a_control_group_lives_there_adapted(
    programs: Programs, tmp_path: Path
) -> None:
    """Near the group's limit, the program touches one page of each block that is populated."""
    pair = programs.build("group_limit.c", treatments=["populate", "keep"])
    believing = f"{built('kadapt/measure-memory')} --assume=populate >/dev/null"
    cache = f"KADENCE_CACHE={programs.cache['KADENCE_CACHE']}"
    image = debian.kernel_image(debian.newest_release("6.12"))
    used = {}
    for program in (pair.plain, pair.adapted):
        output = tmp_path / f"{program.name}.err"
        with output.open("wb") as complaints:
            request = boot.Request(
                image=image,
                argv=["env", cache, "sh", "-c", f'{believing} && exec "$@"', "sh", str(program)]
                + [str(number) for number in (GROUP_MIB, HELD_MIB, BLOCKS_OF_A_MIB)],
                target="x86_64",
                stderr=complaints.fileno(),
                memory_bytes=512 << 20,
            )
            result = boot.run(request)
        assert (result.status, boot.complaints(result.log)) == (0, []), result.log
        used[program] = int(output.read_text().split()[0]) * 1024
    # The library populated some blocks, and left a sixteenth of the limit.
    assert used[pair.plain] + 4 * MIB < used[pair.adapted] <= GROUP_MIB * MIB * 15 // 16 + MIB
