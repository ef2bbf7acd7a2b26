# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts for the layout, however a program runs and ends. GCC's own counts are the truth in
tests/gccplugin/gcc_counts.py."""

from pathlib import Path

import pytest
import stream_frames
from compiled_programs import build, build_opener, entries, profile_of, run
from stream_frames import frame

from kadence.profiler import kprof
from kadence.profiler.format.profile import LayoutCount, Profile

STEPS_OF_THREADS = 4000
STEPS_OF_CHILD = 500
NAME = ("f", "a.c", "0123abcd")


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that ends in many ways."""
    return build(tmp_path_factory.mktemp("ways"), "ways.c", "-O2", "-pthread")


FIRST_BLOCK = 2  # GCC has two blocks of its own before it


def calls(profile: Profile, function: str) -> int:
    """How often the first block of a function was entered."""
    found = {one.index: one.count for one in profile.layout_counts if one.function == function}
    return found.get(FIRST_BLOCK, 0)


@pytest.mark.parametrize("mode", ["fast", "exact"])
def test_counts_of_threads_add_up(tmp_path: Path, mode: str) -> None:
    program = build(tmp_path, "ways.c", "-O2", "-pthread", mode=mode)
    run(program, "threads")
    assert calls(profile_of(program), "step") == STEPS_OF_THREADS


def test_a_child_counts_for_itself(ways: Path) -> None:
    run(ways, "fork")

    (beside,) = ways.parent.glob(f"{ways.name}.kprof.*")
    child = kprof.read(beside)
    beside.unlink()
    assert (calls(profile_of(ways), "main"), calls(profile_of(ways), "step")) == (1, 0)
    assert (calls(child, "main"), calls(child, "step")) == (0, STEPS_OF_CHILD)


@pytest.mark.parametrize("way", ["exec", "_exit", "handler", ""])
def test_nothing_is_lost_at_the_end(ways: Path, way: str) -> None:
    run(ways, way)
    assert calls(profile_of(ways), "main") == 1


def test_a_long_run_is_counted_once(ways: Path) -> None:
    """Its counts are written whenever the interval doubles, and at its end."""
    run(ways, "long")
    profile = profile_of(ways)
    assert calls(profile, "step") == entries(profile, "step") > 0


def test_a_library_that_is_closed_keeps_its_counts(tmp_path: Path) -> None:
    library = build(tmp_path, "team.c", "-O2", "-shared", "-fPIC", "-Dmain=called")
    program = build_opener(tmp_path)
    run(program, str(library))
    assert calls(profile_of(program), "work") == 3000


def layout_frame(unit: int, *counts: int) -> bytes:
    return frame("Y", unit, *NAME, len(counts) // 2, *counts)


def test_a_later_frame_replaces_an_earlier_one_of_its_unit(tmp_path: Path) -> None:
    ended = stream_frames.timed().removesuffix(stream_frames.END)
    frames = (layout_frame(0, 2, 5), layout_frame(1, 2, 7), layout_frame(0, 2, 6, 3, 1))
    path = tmp_path / "a.kprof"
    path.write_bytes(ended + b"".join(frames) + stream_frames.END)

    profile = kprof.read(path)
    assert profile.layout_counts == (LayoutCount(*NAME, 2, 13), LayoutCount(*NAME, 3, 1))
    kprof.write(path, profile)
    assert kprof.read(path).layout_counts == profile.layout_counts
    kprof.write_ranks(path, [profile, profile])
    assert kprof.read(path).layout_counts[0].count == 26
