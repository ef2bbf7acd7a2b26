# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles as they are written while a program runs: every complete row can be read."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stream_frames as frames

from kadence.base.errors import ArtefactError
from kadence.profiler import kprof
from kadence.profiler.format.profile import Block, CallSite, Peer, Profile, SystemCalls

Compile = Callable[..., Path]
Kadence = Callable[..., Any]
Refused = Callable[[Any], str]
SIZES = (0, 0, 2, *(0,) * 7, 1)
CALLS = SystemCalls(0, "write", "file", 3, 640, 0, None, 2, 1, SIZES, 2, 500, 9000)
KADENCE = Path(sys.executable).parent / "kadence"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "P.kprof"


@pytest.fixture
def read(path: Path) -> Callable[[bytes], Profile]:
    def written(content: bytes) -> Profile:
        path.write_bytes(content)
        return kprof.read(path)

    return written


def test_a_whole_stream(read: Callable[[bytes], Profile]) -> None:
    profile = read(frames.whole())
    assert (profile.interval, profile.unit, profile.backend) == (1000, "instructions", "kbbv")
    assert (profile.argv, profile.build_id, profile.exit_status) == (("a", "x"), "00ff", 3)
    assert profile.blocks == (
        Block(0x401000, 4, "main", "/src/a.c", 10, "/bin/a", True),
        Block(0, 7, "", "", 0, "", False, "0123abcd", 2),
    )
    assert profile.thread.tolist() == [1, 2, 2]
    assert profile.start.tolist() == [12, 0, 29]
    assert profile.instructions.tolist() == [17, 12, 0]
    assert profile.vectors.tocsr().toarray().tolist() == [[4, 13], [12, 0], [0, 0]]
    assert profile.counts.toarray().tolist() == [[1, 2], [3, 0], [0, 0]]
    assert profile.system_calls == (CALLS,)
    assert profile.call_sites == (CallSite("fwrite", "main", "/src/a.c", 12, "/bin/a"),)
    assert profile.peers == (Peer(2, "127.0.0.1:80"),)
    assert profile.memory.sites == ()
    assert profile.facts.complete is True
    assert profile.facts.socket_families == (2,)


def test_both_forms_are_the_same_profile(read: Callable[[bytes], Profile], path: Path) -> None:
    stream = read(frames.whole())
    kprof.write(path, stream)
    columns = kprof.read(path)
    for name in ("interval", "unit", "backend", "blocks", "system_calls", "build_id", "argv"):
        assert getattr(stream, name) == getattr(columns, name), name
    for name in ("exit_status", "facts", "memory", "functions", "call_sites", "peers"):
        assert getattr(stream, name) == getattr(columns, name), name
    for name in ("instructions", "thread", "start"):
        assert np.array_equal(getattr(stream, name), getattr(columns, name)), name
    assert (stream.vectors.tocsr() != columns.vectors.tocsr()).nnz == 0
    assert (stream.counts != columns.counts).nnz == 0


def test_another_backend_and_unit(read: Callable[[bytes], Profile]) -> None:
    profile = read(frames.START + frames.head(unit=1, backend="compiled"))
    assert (profile.backend, profile.unit) == ("compiled", "nanoseconds")
    assert profile.vectors.shape == (0, 0)


def test_an_exec_is_an_end_unless_it_failed(read: Callable[[bytes], Profile]) -> None:
    begin = frames.START + frames.head() + b"".join(frames.BLOCKS)
    assert read(begin + frames.frame("X")).facts.complete is True
    assert read(begin + frames.frame("X") + frames.ROWS[0]).facts.complete is False


def rows_before(length: int) -> int:
    """The number of complete rows in the first `length` bytes."""
    begin = len(frames.START + frames.head() + b"".join(frames.BLOCKS))
    begin += len(frames.CALL + frames.SITE + frames.PEER)
    ends = np.cumsum([len(row) for row in frames.ROWS]) + begin
    return int((ends <= length).sum())


def test_every_truncation_keeps_the_whole_rows(read: Callable[[bytes], Profile]) -> None:
    whole = frames.whole()
    first = len(frames.START + frames.head())
    for length in range(len(whole)):
        if length < first:
            with pytest.raises(ArtefactError):
                read(whole[:length])
            continue
        profile = read(whole[:length])
        assert profile.facts.complete is False
        assert len(profile.instructions) == rows_before(length)


def test_every_flipped_bit_ends_the_reading_there(read: Callable[[bytes], Profile]) -> None:
    whole = frames.whole()
    first = len(frames.START + frames.head())
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << (position % 8)
        if position < first:
            with pytest.raises(ArtefactError):
                read(bytes(damaged))
            continue
        profile = read(bytes(damaged))
        assert profile.facts.complete is False
        assert len(profile.instructions) == rows_before(position)


@pytest.mark.parametrize(
    "nonsense",
    [
        frames.frame("?"),
        frames.frame("B", 5, 0, 1, 0, 0, "", "", "", "", "", 0),
        frames.frame("R", 1, 0, 1, 9, 1, 1, 0),
        frames.frame("R", 1, 0, 3, 0, 1, 1, 0),
        frames.frame("R", 1, 0, 0, 1, 1, 9, *frames.TALLY[2:]),
        frames.frame("R", 1, 0, 0, 1, *frames.TALLY),
        frames.SITE + frames.frame("R", 1, 0, 0, 1, *frames.TALLY, 1),
        frames.SITE + frames.frame("R", 1, 0, 0, 2, *frames.TALLY),
        frames.SITE + frames.frame("R", 1, 0, 0, 1, *frames.TALLY[:-2], 34, 1),
        frames.frame("A", 2, 2, ""),
        frames.frame("T", 1, 1, 7, 1, 1, 0, 0, 0),
        frames.head(),
    ],
)
def test_whole_frames_without_sense_are_refused(
    read: Callable[[bytes], Profile], nonsense: bytes
) -> None:
    begin = frames.START + frames.head() + b"".join(frames.BLOCKS)
    with pytest.raises(ArtefactError, match="damaged"):
        read(begin + nonsense + frames.END)


# ---- what kbbv writes --------------------------------------------------------------------------


def test_a_crash_of_everything_leaves_the_intervals(program: Compile, path: Path) -> None:
    """SIGKILL ends both kadence and kbbv before they can write anything more."""
    command = [KADENCE, "profile", "--interval", "1000", "-o", path, "--", program("ending.c")]
    with subprocess.Popen(
        [*command, "terminate"], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        # The row in which the program says "ready" is in the file once a later row has begun.
        while not path.exists() or kprof.read(path).counts.sum() == 0:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    profile = kprof.read(path)
    assert profile.facts.complete is False
    assert profile.build_id == _build_id(program("ending.c"))
    assert profile.argv == (str(program("ending.c")), "terminate")
    assert (profile.instructions <= 1000 + 60).all()
    entered = profile.counts.sum(axis=0)
    names = [block.function for block in profile.blocks]
    assert int(entered[names.index("body")]) > 500


def _build_id(program: Path) -> str:
    told = subprocess.run(["readelf", "-n", program], check=True, capture_output=True, text=True)
    return told.stdout.split("Build ID: ")[1].split()[0]


def test_an_older_profile_survives_what_cannot_be_started(
    program: Compile, kadence: Kadence, path: Path
) -> None:
    path.write_text("of an earlier run")
    broken = path.parent / "program"
    content = bytearray(program("ending.c").read_bytes())
    content[32:40] = b"\xff" * 8  # the offset of the list of segments
    broken.write_bytes(content)
    broken.chmod(0o755)
    completed = kadence("profile", "-o", path, "--", broken)
    assert completed.returncode == 1
    assert "could not be started" in completed.stderr
    assert path.read_text() == "of an earlier run"
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["P.kprof", "program"]


def test_what_rows_had_too_much_is_taken_from_the_last_of_them(path: Path) -> None:
    path.write_bytes(frames.taken_back())
    profile = kprof.read(path)
    assert [block.function for block in profile.blocks] == ["main"]
    assert profile.thread.tolist() == [1, 1, 1, 2]
    assert profile.counts.toarray().tolist() == [[3], [2], [0], [5]]
    assert profile.instructions.tolist() == [12, 8, 0, 20]


def test_a_full_disk_leaves_what_came_before(
    program: Compile, kadence: Kadence, refused: Refused, path: Path
) -> None:
    """A file size limit stands in for the disk."""
    limited = ("sh", "-c", 'ulimit -f 1000; exec "$@"', "sh", KADENCE, "profile")
    completed = subprocess.run(
        [*limited, "--interval", "100", "-o", path, "--", program("mixture.c")],
        capture_output=True,
        text=True,
    )
    assert "has the intervals before that" in refused(completed)
    profile = kprof.read(path)
    assert profile.facts.complete is False
    assert len(profile.instructions) > 1000
    assert (profile.instructions <= 100 + 60).all()


def test_the_programs_descriptors_are_as_without(
    program: Compile, kadence: Kadence, path: Path
) -> None:
    """The profile's descriptor is out of the program's way, and survives closing all numbers."""
    script = "import os; print(os.open('/', 0)); os.closerange(3, 5000); sum(range(100000))"
    completed = kadence("profile", "-o", path, "--", "/usr/bin/python3", "-S", "-c", script)
    native = subprocess.run(
        ["/usr/bin/python3", "-S", "-c", script], capture_output=True, text=True
    )
    assert completed.stdout == native.stdout
    assert kprof.read(path).facts.complete is True
