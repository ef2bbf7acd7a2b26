# SPDX-License-Identifier: GPL-2.0-or-later
"""kadence.read_profile() and the like: what a notebook gets."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kadence as package
from kadence.base.errors import ArtefactError

Run = Callable[..., "subprocess.CompletedProcess[str]"]
RANKS = 2
WITHOUT_PANDAS = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pandas":
            raise ImportError(name)
sys.meta_path.insert(0, Hidden())
import kadence
profile = kadence.read_profile({!r})
profile.distances()
profile.intervals()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, kadence: Run) -> Path:
    """Two ranks of a program that writes and computes, as far as a notebook reads them."""
    place = tmp_path_factory.mktemp("notebook")
    for rank in range(RANKS):
        profile = f"rank{rank}.kprof"
        words = ["--interval", "50000", "-o", profile, "--", "seq", str(20000 + rank)]
        kadence("profile", *words, cwd=place, check=True)
    names = [f"rank{rank}.kprof" for rank in range(RANKS)]
    kadence("phases", *names, "-o", "P.phases.json", cwd=place, check=True)
    kadence("plan", "P.phases.json", "-o", "P.plan.json", cwd=place, check=True)
    return place


def test_profile_adds_up(folder: Path) -> None:
    profile = package.read_profile(folder / "rank0.kprof")
    intervals, blocks = profile.intervals(), profile.blocks()
    assert profile.vectors().shape == (len(intervals), len(blocks))
    assert intervals["instructions"].sum() == blocks["instructions"].sum()
    assert (np.asarray(profile.vectors().sum(axis=1)).ravel() == intervals["instructions"]).all()
    calls = profile.system_calls()
    assert calls["calls"].sum() == intervals["system_calls"].sum()
    written = calls[(calls["name"] == "write")]["transferred_bytes"].sum()
    assert written == len(subprocess.run(["seq", "20000"], capture_output=True, check=True).stdout)
    assert profile.touched_pages()["touched_pages"].sum() > 0


def test_distances_are_manhattans(folder: Path) -> None:
    profile = package.read_profile(folder / "rank0.kprof")
    vectors = profile.vectors().toarray().astype(float)
    vectors /= vectors.sum(axis=1, keepdims=True)
    expected = np.abs(vectors[:, None] - vectors[None]).sum(axis=2)
    assert np.allclose(profile.distances(), expected, atol=1e-6)
    some = profile.distances(np.array([3, 1]))
    assert np.allclose(some, expected[np.ix_([3, 1], [3, 1])], atol=1e-6)


def test_phases_of_each_rank(folder: Path) -> None:
    phases = package.read_phases(folder / "P.phases.json")
    ranks = phases.ranks()
    lengths = [
        len(package.read_profile(folder / f"rank{rank}.kprof").intervals()) for rank in range(RANKS)
    ]
    assert ranks.groupby("rank").size().tolist() == lengths
    assert ranks["phase"].tolist() == phases.assignment().tolist()
    assert set(ranks["phase"]) <= set(phases.phases()["phase"])
    assert len(phases.boundaries()) >= RANKS


def test_plan_has_a_policy_for_each_phase(folder: Path) -> None:
    plan = package.read_plan(folder / "P.plan.json")
    phases = package.read_phases(folder / "P.phases.json").phases()
    assert plan.policies()["phase"].tolist() == phases["phase"].tolist()
    for frame in (plan.markers(), plan.sites(), plan.refused()):
        assert isinstance(frame, pd.DataFrame)


def test_another_artefact_is_refused(folder: Path) -> None:
    with pytest.raises(ArtefactError, match=r"P\.plan\.json"):
        package.read_phases(folder / "P.plan.json")
    with pytest.raises(ArtefactError, match=r"cannot read .*missing"):
        package.read_report(folder / "missing.json")


def test_without_pandas_one_sentence_says_so(folder: Path) -> None:
    code = WITHOUT_PANDAS.format(str(folder / "rank0.kprof"))
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ToolError: data frames need pandas; install it: pip install pandas" in ran.stderr
