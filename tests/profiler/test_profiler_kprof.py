# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles on disk: read back unchanged, or refused in one sentence."""

import json
import random
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import archives
import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from kadence.base import artefact
from kadence.base.errors import ArtefactError
from kadence.profiler import kprof
from kadence.profiler.format import archive, matrices
from kadence.profiler.format.profile import (
    Block,
    CallSite,
    Facts,
    Function,
    Loop,
    Mapping,
    Memory,
    Peer,
    Profile,
    SystemCalls,
    Touches,
)
from kadence.profiler.stream.rawstream import START

SCALARS = ("interval", "blocks", "system_calls", "functions", "build_id", "argv", "command")
WHOLE_RUN = ("call_sites", "peers", "exit_status", "facts", "memory", "backend", "unit")
LATE = Mapping("heap", False, None, 1, 1, 4, None, False, False, 0)
COLUMNS = ("instructions", "thread", "start")
MATRICES = ("vectors", "counts")


def example() -> Profile:
    counts = np.array([[3, 0, 1], [0, 0, 0], [0, 2, 5], [1 << 40, 0, 0]], dtype=np.float64)
    blocks = (
        Block(0x401000, 4, "main", "/src/a.c", 10, "/bin/a", True),
        Block(2**64 - 4096, 7, "", "", 0, "", False),
        Block(0x400FF0, 2, "näme", "b\udcff.f90", 3, "/lib/b.so", False, "89abcdef", 7),
    )
    vectors = counts * np.array([block.instructions for block in blocks])
    vectors[2, 2] += 1  # a side exit: one entry did not run to the block's end
    return Profile(
        interval=1000,
        vectors=sparse.csr_array(vectors),
        counts=sparse.csr_array(counts),
        instructions=vectors.sum(axis=1).astype(np.int64),
        thread=np.array([1, 1, 2, 3], dtype=np.int32),
        start=np.array([0, 998, 500, 2**62], dtype=np.int64),
        blocks=blocks,
        system_calls=(
            SystemCalls(0, "write", "file", 3, 1 << 45, 0, None, 2, 1, (0, 3), 2, 9, 1 << 50),
            SystemCalls(3, "futex", "", 1, 0),
            SystemCalls(3, "sendto", "socket", 1, 5, 1, 0, sizes=(0, 0, 0, 1)),
        ),
        functions=(
            Function(
                "main", "a.c", 10, "0123abcd", (Loop(1, 12, 1, 4, 5, (6,)), Loop(2, 13, 2)), 2
            ),
            Function("plain", "a.c", 40, "ffffffff"),
        ),
        build_id="00ff",
        argv=("./a", "x y", "\udcfe"),
        command=("kadence", "profile"),
        exit_status=3,
        call_sites=(
            CallSite("fwrite", "main", "/src/a.c", 12, "/bin/a"),
            CallSite("", "", "", 0, ""),
        ),
        peers=(Peer(2, "127.0.0.1:80"),),
        backend="compiled",
        unit="nanoseconds",
        facts=Facts(complete=True, threads=3, socket_families=(1, 2), shared_memory=True),
        memory=Memory(
            sites=(CallSite("malloc", "main", "/src/a.c", 12, "/bin/a"),),
            mappings=(
                Mapping("stack", False, None, 8192, 0, 0, None, True, False, 0),
                Mapping("anonymous", True, 0, 1 << 40, 1 << 39, 1, 3, False, True, 1 << 38),
            ),
            touches=(Touches(0, 0, 2, 1, 2, 0, 0), Touches(3, 1, 9, 3, 0, 4, 1 << 33)),
        ),
    )


def empty() -> Profile:
    nothing = sparse.csr_array((0, 0))
    none = np.zeros(0, dtype=np.int64)
    return Profile(1, nothing, nothing.copy(), none, none.astype(np.int32), none, (), ())


def fractional() -> Profile:
    """A profile that no run gives, but that another program may write."""
    profile = example()
    return replace(profile, vectors=profile.vectors * 0.3, counts=profile.counts * -1.0)


def differently_shaped() -> Profile:
    profile = example()
    dense = profile.vectors.tocsr().toarray()
    dense[1, 1] = 5
    return replace(profile, vectors=sparse.csr_array(dense))


EXAMPLES = (example, empty, fractional, differently_shaped)


def assert_same(one: Profile, other: Profile) -> None:
    for name in (*SCALARS, *WHOLE_RUN):
        assert getattr(one, name) == getattr(other, name), name
    for name in COLUMNS:
        mine, theirs = getattr(one, name), getattr(other, name)
        assert mine.dtype == theirs.dtype, name
        assert np.array_equal(mine, theirs), name
    for name in MATRICES:
        mine, theirs = getattr(one, name).tocsr(), getattr(other, name).tocsr()
        assert mine.shape == theirs.shape, name
        for part in ("indptr", "indices", "data"):
            assert np.array_equal(getattr(mine, part), getattr(theirs, part)), (name, part)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "P.kprof"


@pytest.mark.parametrize("make", EXAMPLES)
def test_round_trip(path: Path, make: object) -> None:
    assert callable(make)
    profile = make()
    kprof.write(path, profile)
    assert_same(kprof.read(path), profile)


def test_the_same_profile_gives_the_same_bytes(path: Path, tmp_path: Path) -> None:
    kprof.write(path, example())
    kprof.write(tmp_path / "again", kprof.read(path))
    assert path.read_bytes() == (tmp_path / "again").read_bytes()


def test_a_large_profile_is_compact(path: Path) -> None:
    rows, columns = 2000, 500
    counts = sparse.random_array(
        (rows, columns), density=0.2, rng=np.random.default_rng(1), format="csr"
    )
    counts.data = np.ceil(counts.data * 1000)
    blocks = tuple(Block(4096 + 16 * i, 5, f"f{i}", "a.c", i, "/a", True) for i in range(columns))
    profile = replace(
        example(),
        counts=counts,
        vectors=counts * 5,
        instructions=np.asarray(counts.sum(axis=1) * 5).astype(np.int64),
        thread=np.ones(rows, dtype=np.int32),
        start=np.arange(rows, dtype=np.int64),
        blocks=blocks,
    )
    kprof.write(path, profile)
    assert_same(kprof.read(path), profile)
    assert path.stat().st_size < 4 * counts.nnz


def test_columns_of_several_strips(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "STRIP", 3)
    for make in (example, fractional, differently_shaped):
        kprof.write(path, make())
        assert_same(kprof.read(path), make())


def test_every_truncation_is_refused(path: Path) -> None:
    kprof.write(path, example())
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ArtefactError):
            kprof.read(path)


def test_every_flipped_bit_is_refused(path: Path) -> None:
    kprof.write(path, example())
    whole = path.read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << (position % 8)
        path.write_bytes(damaged)
        with pytest.raises(ArtefactError):
            kprof.read(path)


def test_random_bytes_are_refused(path: Path) -> None:
    generator = random.Random(20)
    for _ in range(200):
        noise = generator.randbytes(generator.randrange(400))
        for content in (noise, archive.MAGIC + noise, kprof.STREAM_MAGIC + noise, START + noise):
            path.write_bytes(content)
            with pytest.raises(ArtefactError):
                kprof.read(path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sites": ()}, "unknown allocation site"),
        ({"mappings": ()}, "unknown mapping or row"),
        ({"mappings": (LATE, LATE)}, "unknown row"),
        ({"touches": (Touches(4, 0, 1, 1, 0, 0, 0),)}, "unknown mapping or row"),
        ({"touches": (Touches(0, 0, 1, 2, 0, 0, 0),)}, "more runs than pages"),
        ({"touches": (Touches(0, 0, 3, 1, 2, 2, 0),)}, "more runs than pages"),
    ],
)
def test_memory_that_cannot_be_is_refused(path: Path, changes: dict[str, Any], reason: str) -> None:
    profile = example()
    kprof.write(path, replace(profile, memory=replace(profile.memory, **changes)))
    with pytest.raises(ArtefactError, match=reason):
        kprof.read(path)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (SystemCalls(4, "write", "file", 1, 1), "unknown row"),
        (SystemCalls(0, "write", "file", 1, 1, site=2), "unknown (site|peer)"),
        (SystemCalls(0, "write", "file", 1, 1, peer=1), "unknown (site|peer)"),
    ],
)
def test_calls_that_cannot_be_are_refused(path: Path, call: SystemCalls, reason: str) -> None:
    kprof.write(path, replace(example(), system_calls=(call,)))
    with pytest.raises(ArtefactError, match=reason):
        kprof.read(path)


@pytest.mark.parametrize("name", sorted(kprof.MEMBERS))
def test_a_member_that_is_unsound_or_missing_is_refused(path: Path, name: str) -> None:
    kprof.write(path, example())
    members = archives.members(path)
    half = members[name][: len(members[name]) // 2]
    for damaged in (
        members | {name: half + b"\xff"},
        members | {name: b""},
        _without(members, name),
    ):
        archives.write(path, damaged)
        with pytest.raises(ArtefactError, match="is damaged|is not a"):
            kprof.read(path)


def _without(members: dict[str, bytes], name: str) -> dict[str, bytes]:
    return {each: content for each, content in members.items() if each != name}


def test_what_follows_the_end_is_refused(path: Path) -> None:
    kprof.write(path, example())
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(ArtefactError, match="checksum is wrong"):
        kprof.read(path)


def test_another_version_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(artefact.VERSIONS, artefact.PROFILE, 9)
    kprof.write(path, example())
    monkeypatch.undo()
    with pytest.raises(ArtefactError, match="version 9 of kadence.profile, this Kadence knows 4"):
        kprof.read(path)


def test_a_file_of_the_older_format_is_named(path: Path) -> None:
    path.write_bytes(START[: -len("STRM")] + b"COLS" + bytes(100))
    with pytest.raises(ArtefactError, match="another version"):
        kprof.read(path)


def test_an_unknown_member_is_refused(path: Path) -> None:
    kprof.write(path, example())
    archives.change(path, {"notes.txt": b"mine"})
    with pytest.raises(ArtefactError, match="notes.txt belongs to no profile"):
        kprof.read(path)


def test_an_archive_of_something_else_is_refused(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as other:
        other.writestr("letter.txt", "hello")
    with pytest.raises(ArtefactError, match="checksum is wrong"):
        kprof.read(path)
    archives.write(path, {})
    with pytest.raises(ArtefactError, match="is not a profile"):
        kprof.read(path)


def test_other_programs_read_the_tables(path: Path, tmp_path: Path) -> None:
    """Info-ZIP's unzip unpacks the archive, and pyarrow alone finds the numbers."""
    kprof.write(path, example())
    subprocess.run(["unzip", "-q", path, "-d", tmp_path / "out"], check=True)
    run = json.loads((tmp_path / "out/profile.json").read_text(encoding="ascii"))
    assert (run["schema"], run["interval"], run["argv"][1]) == ("kadence.profile", 1000, "x y")
    counts = pq.read_table(tmp_path / "out/counts.parquet").to_pydict()
    assert counts == {
        "interval": [0, 0, 2, 2, 3],
        "block": [0, 2, 1, 2, 0],
        "count": [3, 1, 2, 5, 1 << 40],
        "residual": [0, 0, 0, 1, 0],
    }
    blocks = pq.read_table(tmp_path / "out/blocks.parquet", columns=["address", "line", "index"])
    assert blocks.to_pylist()[1:] == [
        {"address": 2**64 - 4096, "line": 0, "index": None},
        {"address": 0x400FF0, "line": 3, "index": 7},
    ]


def test_reading_starts_no_thread(path: Path) -> None:
    """A process that exits while Arrow starts its threads may end by SIGABRT."""
    kprof.write(path, example())
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from kadence.profiler import kprof\n"
        "before = os.listdir('/proc/self/task')\n"
        "kprof.read(Path(sys.argv[1]))\n"
        "sys.exit(os.listdir('/proc/self/task') != before)\n"
    )
    subprocess.run([sys.executable, "-c", code, path], check=True)


def test_what_is_no_profile_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("hello", encoding="utf-8")
    for place in (text, tmp_path, tmp_path / "missing"):
        with pytest.raises(ArtefactError):
            kprof.read(place)


def test_nothing_is_left_where_it_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="cannot write"):
        kprof.write(tmp_path / "missing" / "P.kprof", example())
    assert list(tmp_path.iterdir()) == []
