# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles as SimPoint reads them."""

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from kadence.base.errors import ArtefactError
from kadence.profiler import frequencies, kprof
from kadence.profiler.format.profile import Block, Profile


def profile_of(rows: list[list[int]], threads: list[int] | None = None) -> Profile:
    """A profile of blocks of one instruction; `rows` says how often each is entered."""
    matrix = sparse.csr_array(np.array(rows))
    instructions = np.asarray(matrix.sum(axis=1), dtype=np.int64)
    return Profile(
        interval=10,
        vectors=matrix,
        counts=matrix,
        instructions=instructions,
        thread=np.array(threads or [1] * len(rows), dtype=np.int32),
        start=np.cumsum(instructions) - instructions,
        blocks=tuple(Block(n, 1, f"f{n}", "", 0, "", True) for n in range(len(rows[0]))),
        system_calls=(),
    )


def as_simpoint_reads(text: str) -> list[dict[int, float]]:
    """By its parser's rules: a line without a block ends the file; a line is at most 1 MiB."""
    found = []
    for line in text.splitlines(keepends=True):
        assert line.endswith("\n")
        if not line.startswith("T"):
            continue
        assert len(line) < (1 << 20) - 1
        pairs = re.findall(r"\s*:\s*(\d+)\s*:\s*(\d+)", line[1:])
        if not pairs:
            break
        found.append({int(block): float(value) for block, value in pairs})
    return found


def test_simpoint_reads_what_was_exported(tmp_path: Path) -> None:
    written = frequencies.export_text(profile_of([[3, 0, 7], [0, 5, 0]]), tmp_path / "a.bb")
    assert (tmp_path / "a.bb").read_text() == "T:1:3 :3:7\nT:2:5\n"
    assert as_simpoint_reads((tmp_path / "a.bb").read_text()) == [{1: 3, 3: 7}, {2: 5}]
    assert written == frequencies.Written(intervals=2, empty=0)


def test_an_interval_in_which_nothing_ran_does_not_end_the_file(tmp_path: Path) -> None:
    profile = profile_of([[1, 0], [0, 0], [0, 2]])
    written = frequencies.export_text(profile, tmp_path / "a.bb")
    assert len(as_simpoint_reads((tmp_path / "a.bb").read_text())) == 2
    assert written == frequencies.Written(intervals=2, empty=1)


@pytest.mark.parametrize("name", ["a.bb", "a.bb.gz"])
def test_a_real_profile_comes_back(
    name: str, program: Callable[..., Path], profiled: Callable[..., Profile], kadence, tmp_path
) -> None:
    profile = profiled(program("mixture.c", "-O2"), interval=100_000)
    done = kadence("profile", "export", "--simpoint", "P.kprof", "-o", name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{len(profile.instructions)} intervals\n"
    done = kadence("profile", "import", name, "-o", "again.kprof", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = kprof.read(tmp_path / "again.kprof")
    ran = again.vectors.tocsr().toarray()
    known = profile.vectors.tocsr().toarray()
    places = [block.address - 1 for block in again.blocks]
    assert np.array_equal(ran, known[:, places])
    assert ran.sum() == known.sum()
    assert again.instructions.tolist() == profile.instructions.tolist()


def test_a_text_comes_back(tmp_path: Path) -> None:
    text = "T:1:3 :3:7\nT:2:5 :3:1\n"
    (tmp_path / "a.bb").write_text(text)
    frequencies.import_text(tmp_path / "a.bb", tmp_path / "p")
    frequencies.export_text(kprof.read(tmp_path / "p"), tmp_path / "b.bb")
    assert (tmp_path / "b.bb").read_text() == text


def test_the_gzip_holds_the_text_and_no_time(tmp_path: Path) -> None:
    profile = profile_of([[1, 2]])
    for name in ("a.bb.gz", "b.bb.gz"):
        frequencies.export_text(profile, tmp_path / name)
    packed = (tmp_path / "a.bb.gz").read_bytes()
    assert gzip.decompress(packed) == b"T:1:1 :2:2\n"
    assert packed == (tmp_path / "b.bb.gz").read_bytes()


def test_one_thread_is_exported_alone(kadence, refused, tmp_path: Path) -> None:
    kprof.write(tmp_path / "p", profile_of([[1, 0], [2, 0], [0, 4]], threads=[1, 1, 3]))
    command = ("profile", "export", "--simpoint", "p", "-o", "a.bb", "--thread")
    assert kadence(*command, 3, cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.bb").read_text() == "T:2:4\n"
    (tmp_path / "a.bb").unlink()
    assert "its threads are 1, 3" in refused(kadence(*command, 2, cwd=tmp_path))
    assert not (tmp_path / "a.bb").exists()


def test_export_says_as_json_what_it_wrote(kadence, tmp_path: Path) -> None:
    kprof.write(tmp_path / "p", profile_of([[1, 0], [0, 0]]))
    done = kadence("profile", "export", "--simpoint", "p", "-o", "a", "--json", cwd=tmp_path)
    assert json.loads(done.stdout) == {"intervals": 1, "empty": 1}


def wide(blocks: int) -> Profile:
    """Each block takes up at least 11 bytes of the line."""
    return profile_of([[10**8] * blocks])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: profile_of([[0, 0]]), "no interval"),
        (lambda: replace(profile_of([[1]]), vectors=sparse.csr_array([[0.5]])), "not numbers"),
        (lambda: replace(profile_of([[1]]), vectors=sparse.csr_array([[-1]])), "not numbers"),
        (lambda: wide((1 << 20) // 11), "smaller --interval"),
    ],
)
def test_what_simpoint_cannot_read_is_not_written(
    make: Callable[[], Profile], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ArtefactError, match=said):
        frequencies.export_text(make(), tmp_path / "a.bb")
    assert list(tmp_path.iterdir()) == []
