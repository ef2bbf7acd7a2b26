# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles that are complete files but whose content is impossible."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stream_frames
import test_profiler_kprof
from scipy import sparse

from kadence.base.errors import ArtefactError
from kadence.profiler import kprof
from kadence.profiler.format import chunks
from kadence.profiler.format.profile import Block, Profile, SystemCalls
from kadence.profiler.stream.rawstream import START


def example() -> Profile:
    return test_profiler_kprof.example()


def not_a_number() -> sparse.csr_array:
    matrix = example().counts.copy()
    matrix.data[0] = float("nan")
    return matrix


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"interval": "1000"}, "interval"),
        ({"interval": -1}, "interval"),
        ({"backend": "perf"}, "backend 'perf'"),
        ({"unit": "hours"}, "unit 'hours'"),
        ({"exit_status": None}, "exit status"),
        ({"facts": {"threads": "many"}}, "fact threads"),
        ({"facts": {"complete": 1}}, "fact complete"),
        ({"facts": {"socket_families": ["inet"]}}, "family"),
        ({"facts": []}, "facts are not an object"),
        ({"argv": ("./a", 3)}, "not text"),
        ({"build_id": 7}, "not text"),
        ({"counts": not_a_number(), "vectors": not_a_number()}, "not a number"),
        ({"system_calls": (SystemCalls(4, "write", "", 1, 1),)}, "unknown row"),
        ({"system_calls": (SystemCalls(0, "write", "", -1, 1),)}, "has an impossible number"),
        ({"blocks": (Block(1, -4, "", "", 0, "", False),) * 3}, "has an impossible number"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    kprof.write(tmp_path / "p", replace(example(), **changes))
    with pytest.raises(ArtefactError, match=reason):
        kprof.read(tmp_path / "p")


def column(kind: str, *values: int) -> bytes:
    array = np.array(values, dtype=f"<{kind}")
    return chunks.COLUMN_START.pack(kind.encode("ascii"), array.size) + chunks._split(array)


@pytest.mark.parametrize(
    ("tag", "body", "reason"),
    [
        ("ROWS", column("f8", 1, 2, 3, 4) * 3, "whole numbers"),
        ("CNTS", column("f8", 1, 0, 1, 0) + column("u1", 0, 0) * 2, "whole numbers"),
        ("CNTS", column("i1", 3, -2, 1, 0) + column("u1", 0, 0) * 2, "number of entries"),
        (
            "CNTS",
            column("u8", 2**62, 2**62, 2**63, 2) + column("u1", 0, 0) * 2,
            "number of entries",
        ),
        ("META", b"[" * 100_000, "recursion"),
    ],
)
def test_a_chunk_that_cannot_be_is_refused(
    tag: str, body: bytes, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = kprof._bodies(example()) | {tag: body}
    monkeypatch.setattr(kprof, "_bodies", lambda _profile: bodies)
    kprof.write(tmp_path / "p", example())
    with pytest.raises(ArtefactError, match=reason):
        kprof.read(tmp_path / "p")


def with_block(*changed: int | str) -> bytes:
    return stream_frames.head() + stream_frames.frame("B", *changed)


@pytest.mark.parametrize(
    ("frames", "reason"),
    [
        (lambda: with_block(0, 2**64, 4, 1, 10, "", "", "", "", "", 0), "too large"),
        (lambda: with_block(0, 16, 2**63, 1, 10, "", "", "", "", "", 0), "an impossible number"),
        (lambda: stream_frames.head(backend="perf"), "backend 'perf'"),
    ],
)
def test_a_stream_that_says_what_cannot_be_is_refused(
    frames: Callable[[], bytes], reason: str, tmp_path: Path
) -> None:
    (tmp_path / "p").write_bytes(START + frames())
    with pytest.raises(ArtefactError, match=reason):
        kprof.read(tmp_path / "p")


def test_a_path_that_is_none_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(START + stream_frames.head(path="/bin/\0sh"))
    assert kprof.read(tmp_path / "p").functions == ()
