# SPDX-License-Identifier: GPL-2.0-or-later
"""A fitted interval: the rows are those of a run that had this interval from the start."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stream_frames as frames

from kadence.base.errors import ArtefactError
from kadence.profiler import kprof
from kadence.profiler.combine import recorded
from kadence.profiler.combine.merging import coarsened
from kadence.profiler.format.profile import Profile, SystemCalls
from kadence.profiler.run import launch, runner
from kadence.profiler.stream import rawstream

Compile = Callable[..., Path]
Kadence = Callable[..., Any]
Profiled = Callable[..., Profile]
Fitted = Callable[..., Profile]
BARE = ("-nostdlib", "-static", "-no-pie")


@pytest.fixture
def fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fitted:
    """Profile a command line without an interval; `finest` is the shortest, in instructions."""

    def run(*argv: object, finest: int, most_rows: int = runner.MOST_ROWS) -> Profile:
        monkeypatch.setattr(runner, "FINEST_INTERVAL", finest)
        monkeypatch.setattr(runner, "MOST_ROWS", most_rows)
        return profile_of(tmp_path / "fitted.kprof", argv, None)

    return run


@pytest.fixture
def profiled(tmp_path: Path) -> Profiled:
    """Likewise with an interval, started alike: a program's start-up depends on its parent."""

    def run(*argv: object, interval: int) -> Profile:
        return profile_of(tmp_path / "chosen.kprof", argv, interval)

    return run


def profile_of(output: Path, argv: Sequence[object], interval: int | None) -> Profile:
    outcome = runner.profile([str(word) for word in argv], output, interval)
    profile = kprof.read(output)
    assert outcome.rows == len(profile.instructions)
    return profile


def assert_same_rows(one: Profile, other: Profile) -> None:
    """Memory and nanoseconds are not compared."""
    assert one.interval == other.interval
    assert one.thread.tolist() == other.thread.tolist()
    assert one.start.tolist() == other.start.tolist()
    assert one.instructions.tolist() == other.instructions.tolist()
    assert one.blocks == other.blocks
    assert (one.vectors.tocsr() != other.vectors.tocsr()).nnz == 0
    assert (one.counts != other.counts).nnz == 0
    assert calls_of(one) == calls_of(other)


def calls_of(profile: Profile) -> set[tuple[object, ...]]:
    """Each call with its site, without the figures that differ from run to run."""
    calls = [replace(call, nanoseconds_between=0) for call in profile.system_calls]
    return {
        (replace(call, site=None), None if call.site is None else profile.call_sites[call.site])
        for call in calls
    }


def rows_of(profile: Profile, thread: int) -> int:
    return int((profile.thread == thread).sum())


# finest interval -> the interval at the end of a million instructions
@pytest.mark.parametrize(
    ("finest", "interval"), [(1000, 1000), (999, 1998), (333, 1332), (90, 1440)]
)
def test_known_rows(
    program: Compile, fitted: Fitted, profiled: Profiled, finest: int, interval: int
) -> None:
    binary = program("million.S", *BARE)
    profile = fitted(binary, finest=finest)
    assert (profile.interval, profile.instructions.sum()) == (interval, 1_000_000)
    assert len(profile.instructions) == -(-1_000_000 // interval)
    assert runner.MOST_ROWS // 2 < len(profile.instructions) <= runner.MOST_ROWS
    assert_same_rows(profile, profiled(binary, interval=interval))


def test_a_short_run_keeps_the_finest(program: Compile, fitted: Fitted) -> None:
    profile = fitted(program("million.S", *BARE), finest=100_000)
    assert (profile.interval, len(profile.instructions)) == (100_000, 10)


def test_without_an_interval_the_command_fits_it(
    program: Compile, kadence: Kadence, tmp_path: Path
) -> None:
    path = tmp_path / "P.kprof"
    assert kadence("profile", "-o", path, "--", program("million.S", *BARE)).returncode == 0
    profile = kprof.read(path)
    assert (profile.interval, len(profile.instructions)) == (runner.FINEST_INTERVAL, 10)
    assert profile.command[:3] == ("kadence", "profile", "-o")


@pytest.mark.parametrize(
    ("source", "most_rows"), [("mixture.c", 1000), ("calls.c", 50), ("transfers.c", 100)]
)
def test_rows_are_those_of_that_interval(
    program: Compile,
    fitted: Fitted,
    profiled: Profiled,
    tmp_path: Path,
    source: str,
    most_rows: int,
) -> None:
    binary = program(source)
    profile = fitted(binary, tmp_path / "data", finest=250, most_rows=most_rows)
    other = profiled(binary, tmp_path / "data", interval=profile.interval)
    assert profile.interval > 500
    assert most_rows // 2 < len(profile.instructions) <= most_rows
    assert_same_rows(profile, other)


def test_memory_is_told_with_the_rows(program: Compile, fitted: Fitted, profiled: Profiled) -> None:
    binary = program("memory.c", "-static")
    profile = fitted(binary, finest=1000)
    other = profiled(binary, interval=profile.interval)
    assert profile.interval > 1000
    assert profile.memory.mappings == other.memory.mappings
    assert pages_of(profile) == pages_of(other)
    touched = [(touch.interval, touch.mapping) for touch in profile.memory.touches]
    assert len(touched) == len(set(touched))


def pages_of(profile: Profile) -> dict[int, int]:
    """The number of pages touched, by mapping."""
    pages: dict[int, int] = {}
    for touch in profile.memory.touches:
        pages[touch.mapping] = pages.get(touch.mapping, 0) + touch.pages
    return pages


def test_threads_have_one_interval(program: Compile, fitted: Fitted, profiled: Profiled) -> None:
    binary = program("threads.c", "-pthread")
    profile = fitted(binary, finest=250)
    other = profiled(binary, interval=profile.interval)
    most = max(rows_of(profile, thread) for thread in (1, 2, 3, 4))
    assert runner.MOST_ROWS // 2 < most <= runner.MOST_ROWS
    for thread in (2, 3, 4):
        # Which thread runs the C library's own code depends on which comes first.
        rows = [one.instructions[one.thread == thread] for one in (profile, other)]
        assert (rows[0][:-1] > profile.interval - 60).all()
        assert (np.abs(np.cumsum(rows[0])[:-1] % -profile.interval) < 60).all()
        assert abs(int(rows[0].sum()) - int(rows[1].sum())) < 1000


def test_a_child_begins_anew(program: Compile, fitted: Fitted, tmp_path: Path) -> None:
    profile = fitted(program("ending.c"), "fork", finest=50)
    children = [kprof.read(path) for path in tmp_path.glob("fitted.*.kprof")]
    assert profile.interval > 50
    assert len(children) == 2
    for child in children:
        assert child.interval == 50
        assert child.start[0] == 0
        assert (child.instructions <= 50 + 60).all()


# ---- the stream --------------------------------------------------------------------------------


def stream(*parts: bytes) -> bytes:
    begin = (frames.START, frames.head(), *frames.BLOCKS, frames.CALL, frames.SITE)
    return b"".join((*begin, *parts))


def test_rows_between_the_multiples_are_one(tmp_path: Path) -> None:
    """Thread 2 is in the middle of its second row when the interval doubles."""
    path = tmp_path / "P.kprof"
    mapping = frames.frame("M", 1, 0, 1, 0, 1, 8192, 8000)
    touches = [frames.frame("T", 1, 1, 0, pages, 1, 1, 0, 0) for pages in (3, 4, 5)]
    content = stream(
        *(mapping, touches[0], frames.frame("R", 1, 0, 1, 0, 249, 996, 1, *frames.TALLY)),
        frames.frame("R", 2, 996, 1, 1, 142, 994, 0),
        *(touches[1], frames.frame("R", 1, 1990, 1, 0, 250, 1000, 1, *frames.TALLY)),
        frames.frame("I", 2000),
        *(touches[2], frames.frame("R", 1, 2990, 1, 0, 500, 2000, 0)),
        frames.frame("R", 2, 4990, 1, 1, 143, 1001, 0),
        frames.frame("R", 2, 5991, 1, 1, 1, 7, 0),
        *(frames.FACTS, frames.END),
    )
    path.write_bytes(content)
    profile = kprof.read(path)
    assert profile.interval == 2000
    assert profile.thread.tolist() == [1, 1, 2, 2]
    assert profile.instructions.tolist() == [1996, 2000, 1995, 7]
    assert profile.start.tolist() == [0, 2990, 996, 5991]
    assert profile.counts.toarray().tolist() == [[499, 0], [500, 0], [0, 285], [0, 1]]
    sizes = (0, 0, 4, *(0,) * 7, 2)
    assert profile.system_calls == (
        SystemCalls(0, "write", "file", 6, 1280, 0, None, 4, 2, sizes, 4, 1000, 18000),
    )
    touched = [(touch.interval, touch.pages) for touch in profile.memory.touches]
    assert touched == [(0, 7), (1, 5)]
    counter = rawstream.RowCounter(path)
    assert counter.advance() == 5  # an estimate: the counter does not tell threads apart


@pytest.mark.parametrize(
    "nonsense",
    [
        frames.frame("I", 1000),
        frames.frame("I", 3000),
        frames.frame("I", 0),
        frames.frame("I"),
        frames.frame("I", 2000) + frames.frame("I", 2000),
    ],
)
def test_an_interval_only_doubles(tmp_path: Path, nonsense: bytes) -> None:
    path = tmp_path / "P.kprof"
    path.write_bytes(stream(nonsense, frames.END))
    with pytest.raises(ArtefactError, match="damaged"):
        kprof.read(path)


def stream_of_time(*parts: bytes) -> bytes:
    return b"".join((frames.START, frames.head(unit=1), *frames.BLOCKS, *parts))


def test_rows_of_time_are_put_together_by_it(tmp_path: Path) -> None:
    """The second row begins late, thread 2 in the third interval; nothing ran in the fourth."""
    path = tmp_path / "P.kprof"
    content = stream_of_time(
        *(frames.frame("L", 0), frames.frame("R", 1, 0, 1, 0, 3, 12, 0)),
        *(frames.frame("L", 1005), frames.frame("R", 1, 12, 1, 0, 5, 20, 0)),
        *(frames.frame("L", 2900), frames.frame("R", 1, 32, 1, 0, 7, 28, 0)),
        *(frames.frame("R", 2, 60, 1, 1, 1, 7, 0), frames.frame("L", 3001)),
        *(frames.frame("L", 4010), frames.frame("R", 1, 67, 1, 0, 11, 44, 0)),
        *(frames.frame("I", 2000), frames.frame("L", 5000)),
        *(frames.frame("R", 1, 111, 1, 0, 13, 52, 0), frames.frame("R", 2, 111, 1, 1, 2, 14, 0)),
        *(frames.frame("L", 6000), frames.frame("R", 1, 177, 1, 0, 17, 68, 0)),
    )
    path.write_bytes(content)
    profile = kprof.read(path)
    assert (profile.interval, profile.unit) == (2000, "nanoseconds")
    assert profile.thread.tolist() == [1, 1, 1, 1, 2, 2]
    assert profile.counts.toarray().tolist() == [
        [8, 0],
        [7, 0],
        [24, 0],
        [17, 0],
        [0, 1],
        [0, 2],
    ]
    assert profile.start.tolist() == [0, 32, 67, 177, 60, 111]


def test_time_that_is_not_told_is_that_of_the_start(tmp_path: Path) -> None:
    """A finished profile has no times; rows that began together stay together."""
    path = tmp_path / "P.kprof"
    rows = [frames.frame("R", 1, 12 * n, 1, 0, 3, 12, 0) for n in range(5)]
    path.write_bytes(stream_of_time(*rows, frames.frame("R", 2, 24, 1, 1, 1, 7, 0)))
    longer = coarsened(kprof.read(path), 2000)
    assert (longer.interval, longer.start.tolist()) == (2000, [0, 24, 48, 24])
    assert longer.counts.toarray().tolist() == [[6, 0], [6, 0], [3, 0], [0, 1]]


@pytest.mark.parametrize(
    "content",
    [
        stream(frames.frame("L", 1000)),
        stream_of_time(frames.frame("L", 1000), frames.frame("L", 999)),
    ],
    ids=["of instructions", "back"],
)
def test_time_only_passes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "P.kprof"
    path.write_bytes(content)
    with pytest.raises(ArtefactError, match="damaged"):
        kprof.read(path)


def test_a_running_profile_can_be_read(program: Compile, tmp_path: Path) -> None:
    """Wherever the stream is cut off, all rows before the cut have one interval."""
    places = launch.Places(tmp_path / "raw.kprof", tmp_path / "list", tmp_path)
    places.list.touch()
    command = launch.command([str(program("million.S", *BARE))], places, 1000, 10)
    launch.run(command, launch.Surroundings(), None)
    content = places.output.read_bytes()
    part = tmp_path / "part.kprof"
    for length in range(len(content) // 3, len(content), 97):
        part.write_bytes(content[:length])
        profile = kprof.read(part)
        assert len(profile.instructions) <= 10
        assert (profile.instructions[:-1] > profile.interval - 60).all()
    whole = recorded.profile(rawstream.read(places.output))
    assert (whole.interval, len(whole.instructions)) == (128_000, 8)


def test_a_profile_made_coarser_is_that_of_the_longer_interval(
    program: Compile, profiled: Profiled
) -> None:
    binary = program("mixture.c")
    assert_same_rows(
        coarsened(profiled(binary, interval=500), 3500), profiled(binary, interval=3500)
    )
