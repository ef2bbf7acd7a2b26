# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence phases` and `kadence plan` as commands: the same bytes every time, and bad input."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from planted import one_kind, three_phases
from scipy import sparse

from kadence.profiler import kprof


@pytest.fixture(scope="module")
def profile_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("profile") / "planted.kprof"
    kprof.write(path, three_phases().profile())
    return path


@pytest.fixture(scope="module")
def phases_path(profile_path, kadence) -> Path:
    path = profile_path.with_suffix(".phases.json")
    assert kadence("phases", profile_path, "-o", path).returncode == 0
    return path


def test_the_artefact_names_schema_program_and_command(profile_path, phases_path):
    document = json.loads(phases_path.read_text())
    assert (document["schema"], document["version"]) == ("kadence.phases", 7)
    assert document["build_id"] == "ab" * 20
    assert document["program"] == ["/tmp/planted"]
    assert document["command"] == ["kadence", "phases", str(profile_path), "-o", str(phases_path)]
    assert len(document["phases"]) == 3


def test_the_plan_follows_from_the_phases(phases_path, kadence, tmp_path):
    done = kadence("plan", phases_path, "-o", tmp_path / "p.json", "--quantum", "2")
    assert done.returncode == 0
    assert "phase 0: quantum 2 s" in done.stdout
    plan = json.loads((tmp_path / "p.json").read_text())
    assert (plan["schema"], plan["version"]) == ("kadence.plan", 6)
    assert [policy["quantum_ns"] for policy in plan["policies"]] == [2_000_000_000, 0, 0]


def test_the_same_profile_gives_the_same_bytes(profile_path, kadence, tmp_path):
    seen = set()
    for seed, threads in [("0", "1"), ("1", "2"), ("77", "4")]:
        os_environment = os.environ | {
            "PYTHONHASHSEED": seed,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
        }
        for command in (
            ("phases", profile_path, "-o", "x", "--matrix", "m.png", "--annotated", "a.png"),
            ("plan", "x", "-o", "y"),
        ):
            done = kadence(*command, cwd=tmp_path, env=os_environment)
            assert done.returncode == 0, done.stderr
        seen.add(tuple((tmp_path / name).read_bytes() for name in ("x", "y", "m.png", "a.png")))
    assert len(seen) == 1


def test_one_interval_is_enough(kadence, tmp_path):
    kprof.write(tmp_path / "one.kprof", one_kind("C", 1).profile())
    done = kadence("phases", "one.kprof", "-o", "p", "--matrix", "m.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert kadence("plan", "p", "-o", "q", cwd=tmp_path).returncode == 0


def test_an_empty_profile_is_refused(kadence, refused, tmp_path):
    empty = sparse.csr_array((0, 11))
    profile = one_kind("C", 1).profile(
        vectors=empty,
        counts=empty,
        instructions=np.zeros(0, dtype=np.int64),
        thread=np.zeros(0, dtype=np.int32),
        start=np.zeros(0, dtype=np.int64),
        system_calls=(),
    )
    kprof.write(tmp_path / "e.kprof", profile)
    done = kadence("phases", tmp_path / "e.kprof", "-o", tmp_path / "p")
    assert "empty" in refused(done)
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("verb", ["phases", "plan"])
@pytest.mark.parametrize("content", [None, b"", b"\0\1\2", b"[]", b'{"schema": "other"}'])
def test_what_is_no_artefact_is_refused(kadence, refused, tmp_path, verb, content):
    source = tmp_path / "input"
    if content is not None:
        source.write_bytes(content)
    assert str(source) in refused(kadence(verb, source, "-o", tmp_path / "output"))
    assert not (tmp_path / "output").exists()


def test_a_profile_cut_short_is_refused(profile_path, kadence, refused, tmp_path):
    cut = tmp_path / "cut.kprof"
    cut.write_bytes(profile_path.read_bytes()[:-9])
    refused(kadence("phases", cut, "-o", tmp_path / "output"))
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize("version", [6, 99])
def test_a_phases_artefact_of_another_version_is_refused(
    phases_path, kadence, refused, tmp_path, version
):
    document = json.loads(phases_path.read_text()) | {"version": version}
    (tmp_path / "later").write_text(json.dumps(document))
    done = kadence("plan", tmp_path / "later", "-o", tmp_path / "output")
    assert f"version {version} of kadence.phases, this Kadence knows 7" in refused(done)


@pytest.mark.parametrize("option", ["-o", "--matrix", "--annotated"])
def test_an_unwritable_output_is_refused(profile_path, kadence, refused, tmp_path, option):
    outputs = {"-o": tmp_path / "p", option: tmp_path / "nowhere" / "x"}
    words = [word for pair in outputs.items() for word in pair]
    assert "nowhere" in refused(kadence("phases", profile_path, *words))
    assert not (tmp_path / "p").exists()


def test_a_number_of_phases_can_be_asked_for(profile_path, kadence, tmp_path):
    done = kadence("phases", profile_path, "-o", tmp_path / "p", "--phases", "2")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "p").read_text())
    assert len(document["phases"]) == len(set(document["assignment"])) == 2
    assert document["command"][-2:] == ["--phases", "2"]


@pytest.mark.parametrize("count", ["0", "-1", "x", "100000"])
def test_a_number_of_phases_that_cannot_be_is_refused(
    profile_path, kadence, refused, tmp_path, count
):
    done = kadence("phases", profile_path, "-o", tmp_path / "p", "--phases", count)
    assert "phases" in refused(done)
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    "options",
    [["--processors", "0"], ["--processors", "x"], ["--quantum", "0"], ["--quantum", "11"]],
)
def test_options_beyond_their_limits_are_refused(phases_path, kadence, refused, tmp_path, options):
    assert options[0] in refused(kadence("plan", phases_path, "-o", tmp_path / "p", *options))
    assert not (tmp_path / "p").exists()
