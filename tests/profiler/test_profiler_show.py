# SPDX-License-Identifier: GPL-2.0-or-later
"""What `kadence profile show` says about a profile."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from kadence.profiler import kprof, summary
from kadence.profiler.format.profile import (
    Block,
    CallSite,
    Facts,
    Mapping,
    Memory,
    Peer,
    Profile,
    SystemCalls,
    Touches,
)


def example() -> Profile:
    counts = sparse.csr_array(np.array([[10, 0, 5], [10, 20, 0], [0, 1, 0]]))
    blocks = (
        Block(0x401010, 6, "step", "/src/a.c", 12, "/bin/a", False),
        Block(0x7F0000, 3, "", "", 0, "/lib/libm.so.6", False),
        Block(0x401000, 4, "step", "/src/a.c", 10, "/bin/a", True),
    )
    vectors = counts * np.array([block.instructions for block in blocks])
    return Profile(
        interval=80,
        vectors=sparse.csr_array(vectors),
        counts=counts,
        instructions=np.array([80, 120, 3], dtype=np.int64),
        thread=np.array([1, 1, 2], dtype=np.int32),
        start=np.array([0, 80, 0], dtype=np.int64),
        blocks=blocks,
        system_calls=(
            SystemCalls(0, "write", "file", 3, 300, site=0),
            SystemCalls(1, "write", "file", 1, 100, site=0),
            SystemCalls(1, "futex", "", 2, 0),
        ),
        call_sites=(CallSite("fwrite", "save", "/src/a.c", 70, "/bin/a"),),
        peers=(Peer(2, "127.0.0.1:80"),),
        build_id="00ff",
        argv=("./a", "-n"),
        facts=Facts(threads=2, memory_bytes=3 << 20, complete=True),
        memory=Memory(
            sites=(CallSite("malloc", "fill", "/src/a.c", 40, "/bin/a"),),
            mappings=(
                Mapping("anonymous", False, 0, 1 << 20, 0, 0, None, False, False, 0),
                Mapping("stack", False, None, 8192, 0, 0, None, False, False, 0),
            ),
            touches=(Touches(0, 0, 200, 1, 0, 0, 0), Touches(1, 0, 56, 1, 0, 0, 0)),
        ),
    )


def test_the_document_adds_up() -> None:
    found = summary.document(example())
    assert found["instructions"] == 203
    assert found["threads"] == [
        {"thread": 1, "intervals": 2, "instructions": 200},
        {"thread": 2, "intervals": 1, "instructions": 3},
    ]
    step, library = found["hottest_functions"]
    assert (step["function"], step["line"], step["instructions"]) == ("step", 10, 140)
    assert step["share"] == pytest.approx(140 / 203, abs=1e-6)
    assert (library["function"], library["instructions"]) == ("", 63)
    assert [one["block"] for one in found["hottest_blocks"]] == [1, 2, 3]
    assert [one["entries"] for one in found["hottest_blocks"]] == [20, 21, 5]
    assert [one["instructions"] for one in found["hottest_blocks"]] == [120, 63, 20]
    assert found["system_calls"] == [
        {"name": "write", "descriptor": "file", "count": 4, "bytes": 400},
        {"name": "futex", "descriptor": "", "count": 2, "bytes": 0},
    ]
    (site,) = found["call_sites"]
    assert (site["function"], site["line"], site["count"], site["bytes"]) == ("save", 70, 4, 400)
    assert found["peers"] == [{"family": 2, "address": "127.0.0.1:80"}]
    memory = found["memory"]
    assert (memory["mapped_bytes"], memory["pages_touched"]) == (3 << 20, 256)
    assert [one["pages_touched"] for one in memory["sites"]] == [256, 0]
    assert memory["sites"][0]["call"] == "malloc"


def test_people_read_the_same(kadence, tmp_path: Path) -> None:
    kprof.write(tmp_path / "p", example())
    shown = kadence("profile", "show", "p", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    for words in (
        "./a -n",
        "by kbbv; ended with status 0",
        "3 of 80 instructions",
        "69.0%  step  a.c:10",
        "59.1%  20 times  step  a.c:12, at 0x401010",
        "31.0%  ?  libm.so.6",
        "4  write (file), 400 bytes",
        "4  write (file), 400 bytes: save  a.c:70",
        "1.0 MiB touched for the first time, 3.0 MiB mapped at most",
        "1.0 MiB  fill  a.c:40, by malloc",
    ):
        assert words in shown.stdout
    assert "not seen" not in shown.stdout
    as_json = kadence("profile", "show", "--json", "p", cwd=tmp_path)
    assert json.loads(as_json.stdout) == json.loads(json.dumps(summary.document(example())))


def test_what_is_cut_off_or_estimated_is_said_to_be() -> None:
    profile = replace(
        example(), facts=Facts(complete=False), backend="compiled", unit="nanoseconds"
    )
    shown = summary.text(summary.document(profile))
    assert "(compiled); incomplete" in shown
    assert "not seen      system calls, memory\n" in shown
    assert "203 (estimated)" in shown
    assert "3 of 80 nanoseconds" in shown


def test_a_name_that_is_no_text_is_shown(kadence, tmp_path: Path) -> None:
    kprof.write(tmp_path / "p", replace(example(), argv=("./\udcfe",)))
    assert "./\\udcfe" in kadence("profile", "show", "p", cwd=tmp_path).stdout
    shown = kadence("profile", "show", "--json", "p", cwd=tmp_path)
    assert json.loads(shown.stdout)["program"] == ["./\udcfe"]


def test_a_profile_of_nothing_is_shown() -> None:
    none = np.zeros(0, dtype=np.int64)
    nothing = sparse.csr_array((0, 0))
    profile = Profile(1, nothing, nothing, none, none.astype(np.int32), none, (), ())
    assert "intervals     0 of 1" in summary.text(summary.document(profile))


def test_a_run_is_shown_with_its_hottest_line(
    program: Callable[..., Path], profiled: Callable[..., Profile], kadence, tmp_path: Path
) -> None:
    profile = profiled(program("mixture.c", "-O2"), interval=100_000)
    found = json.loads(kadence("profile", "show", "--json", tmp_path / "P.kprof").stdout)
    assert found["instructions"] == int(profile.instructions.sum())
    assert found["complete"]
    hottest = profile.blocks[int(np.argmax(profile.vectors.tocsr().sum(axis=0)))]
    shown = found["hottest_blocks"][0]
    assert (shown["file"], shown["line"]) == (hottest.file, hottest.line)


def test_what_is_no_profile_is_not_shown(kadence, refused, tmp_path: Path) -> None:
    (tmp_path / "p").write_text("hello")
    assert "is not a profile" in refused(kadence("profile", "show", tmp_path / "p"))
