# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles that are complete files but whose content is impossible."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import archives
import pytest
import stream_frames
import test_profiler_kprof
from scipy import sparse

from kadence.base.errors import ArtefactError
from kadence.profiler import kprof
from kadence.profiler.format.profile import Block, Facts, Profile, SystemCalls
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
        ({"exit_status": None}, "exit_status"),
        ({"facts": Facts(threads="many")}, "facts.threads is not a whole number"),
        ({"facts": Facts(complete=1)}, "facts.complete is not true or false"),
        ({"facts": Facts(socket_families=("inet",))}, "socket_families.0. is not a whole number"),
        ({"facts": Facts(socket_families=(-1,))}, "socket family"),
        ({"facts": Facts(threads=-1)}, "fact threads"),
        ({"facts": []}, "facts is not an object"),
        ({"argv": ("./a", 3)}, "not a text"),
        ({"build_id": 7}, "not a text"),
        ({"counts": not_a_number(), "vectors": not_a_number()}, "not a number"),
        ({"system_calls": (SystemCalls(4, "write", "", 1, 1),)}, "unknown row"),
        ({"system_calls": (SystemCalls(0, "write", "", -1, 1),)}, "has an impossible number"),
        ({"blocks": (Block(1, -4, "", "", 0, "", False),) * 3}, "has an impossible number"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    kprof.write(tmp_path / "p", replace(example(), **changes))
    with pytest.raises(ArtefactError, match=reason) as refusal:
        kprof.read(tmp_path / "p")
    assert str(tmp_path / "p") in str(refusal.value)


WHOLE = {"interval": [0, 0, 2, 2, 3], "block": [0, 2, 1, 2, 0], "count": [1, 1, 1, 1, 1]}


def counts(**changes: Any) -> dict[str, bytes]:
    return {"counts.parquet": archives.table(**(WHOLE | {"residual": [0] * 5} | changes))}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {
                "intervals.parquet": archives.table(
                    instructions=[1.0] * 4, thread=[1] * 4, start=[0] * 4
                )
            },
            "whole numbers",
        ),
        ({"intervals.parquet": archives.table(instructions=[1], start=[0])}, "thread is missing"),
        (
            {"intervals.parquet": archives.table(instructions=[1], thread=[1], start=[0])},
            "unknown row",
        ),
        (counts(interval=[0.0, 0, 2, 2, 3]), "whole numbers"),
        (counts(interval=[0, 0, 2, 1, 3]), "order of the rows"),
        (counts(interval=[-1, 0, 2, 2, 3]), "order of the rows"),
        (counts(interval=[0, 0, 2, 2, 4]), "unknown row"),
        (counts(interval=[0, 9, 2, 2, 3]), "order of the rows"),
        (counts(residual=[0.5] * 5), "whole numbers"),
        (counts(block=[0, 3, 1, 2, 0]), "unknown block"),
        (counts(block=[0, -1, 1, 2, 0]), "unknown block"),
        (counts(block=[0, 1 << 32, 1, 2, 0]), "unknown block"),
        (counts(block=[0, None, 1, 2, 0]), "no number in some rows"),
        (counts(block=["a", "b", "c", "d", "e"]), "whole numbers"),
        (counts(count=["1"] * 5), "numbers"),
        (counts(count=[True] * 5), "numbers"),
        ({"peers.parquet": archives.table(family=[1])}, "columns are not family int64"),
        ({"peers.parquet": archives.table(family=["1"], address=["a"])}, "columns are not"),
        ({"profile.json": b"[" * 100_000}, "recursion"),
        ({"profile.json": b"{}"}, "schema"),
    ],
)
def test_a_member_that_cannot_be_is_refused(
    changes: dict[str, bytes], reason: str, tmp_path: Path
) -> None:
    kprof.write(tmp_path / "p", example())
    archives.change(tmp_path / "p", changes)
    with pytest.raises(ArtefactError, match=reason) as refusal:
        kprof.read(tmp_path / "p")
    assert str(tmp_path / "p") in str(refusal.value)
    assert "\n" not in str(refusal.value)


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
