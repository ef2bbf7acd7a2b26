# SPDX-License-Identifier: GPL-2.0-or-later
"""Phases of all ranks together: every rank's rows are in their planted phases."""

import json
from dataclasses import replace

import numpy as np
import pytest
from planted import BLOCKS, CYCLES, Planted, letters, one_kind, three_phases
from scipy import sparse

from kadence.phases.analysis import describe
from kadence.phases.find import ranks
from kadence.phases.find.segmentation import segment
from kadence.profiler import kprof
from kadence.profiler.combine.merging import coarsened
from kadence.profiler.combine.ranks import merged
from kadence.profiler.format.profile import Facts, Profile


def shuffled(profile: Profile, seed: int) -> Profile:
    """The same rank, with its blocks met in another order and loaded at other addresses."""
    order = np.random.default_rng(seed).permutation(len(profile.blocks))
    return replace(
        profile,
        blocks=tuple(
            replace(profile.blocks[number], address=profile.blocks[number].address + seed * 0x1000)
            for number in order
        ),
        vectors=sparse.csr_array(profile.vectors.tocsr()[:, order]),
        counts=sparse.csr_array(profile.counts[:, order]),
    )


@pytest.fixture
def planted() -> list[Planted]:
    """Two ranks that do the same, and a rank that only exchanges."""
    return [three_phases(), three_phases(), one_kind("S", 40)]


@pytest.fixture
def profiles(planted: list[Planted]) -> list[Profile]:
    return [shuffled(rank.profile(), seed) for seed, rank in enumerate(planted)]


def test_ranks_have_their_phases_in_common(planted, profiles):
    whole = merged(profiles)
    body = describe(whole, segment(whole))
    expected = ["CFS".index(letter) for rank in planted for letter in letters(rank)]
    mixed = [len(mixture) > 1 for rank in planted for mixture in rank.rows]
    found = np.array(body["assignment"])[~np.array(mixed)]
    assert found.tolist() == np.array(expected)[~np.array(mixed)].tolist()
    assert [phase["kind"] for phase in body["phases"][:2]] == ["compute", "file-io"]
    assert body["threads"] == [1, 2, 3]
    calls = {call["name"]: call["count"] for call in body["phases"][1]["system_calls"]}
    assert calls["write"] == 2 * CYCLES * 4 * 100


def test_each_rank_begins_with_a_boundary_of_its_own(profiles):
    whole = merged(profiles)
    beginnings = [one.row for one in segment(whole).boundaries if one.before is None]
    rows = [len(profile.instructions) for profile in profiles]
    assert beginnings == [0, rows[0], rows[0] + rows[1]]


def test_what_every_rank_does_once_and_briefly_is_no_phase():
    def rank() -> Planted:
        planted = Planted()
        for letter, rows in (("S", 2), ("C", 300)):
            for _ in range(rows):
                planted.add({letter: 1.0})
        return planted

    whole = merged([shuffled(rank().profile(), seed) for seed in range(4)])
    assert len(segment(whole).representatives) == 1


def test_markers_fire_as_often_as_in_all_ranks(profiles):
    whole = merged(profiles)
    body = describe(whole, segment(whole))
    marker = next(one for one in body["markers"] if one["phase"] == 1)
    assert (marker["function"], marker["fires"], marker["boundaries"]) == (
        "checkpoint",
        2 * CYCLES,
        2 * CYCLES,
    )


@pytest.mark.parametrize(
    "rows", [slice(None), slice(100, 130), [5, 250, 3, 121], np.array([], dtype=np.int64)]
)
def test_rows_of_all_ranks_are_those_of_each(profiles, rows):
    whole = merged(profiles)
    place = {(block.function, block.line): number for number, block in enumerate(whole.blocks)}
    dense = np.zeros(whole.vectors.shape)
    first = 0
    for profile in profiles:
        columns = [place[block.function, block.line] for block in profile.blocks]
        count = len(profile.instructions)
        dense[first : first + count, columns] = profile.vectors.tocsr().toarray()
        first += count
    assert len(place) == len(BLOCKS)
    np.testing.assert_array_equal(whole.vectors[rows].toarray(), dense[rows])


def test_tasks_of_all_ranks_are_counted(profiles):
    several = [replace(one, facts=Facts(threads=3, processes=1)) for one in profiles[:2]]
    facts = merged([*several, profiles[2]]).facts
    # The ranks have three threads, three threads and one thread.
    assert facts.threads + facts.processes - 1 == 7


def test_the_command_takes_every_rank(profiles, kadence, tmp_path):
    for number, profile in enumerate(profiles):
        kprof.write(tmp_path / f"{number}.kprof", profile)
    names = ["0.kprof", "1.kprof", "2.kprof"]
    done = kadence("phases", *names, "-o", "all.json", "--matrix", "m.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    body = json.loads((tmp_path / "all.json").read_text())
    assert [rank["profile"] for rank in body["ranks"]] == names
    assert [rank["threads"] for rank in body["ranks"]] == [[1], [2], [3]]
    assert [rank["first_row"] for rank in body["ranks"]] == [0, 120, 240]
    assert body["command"] == ["kadence", "phases", *names, "-o", "all.json"]
    assert kadence("plan", "all.json", "-o", "plan.json", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [({"build_id": "cd" * 20}, "different programs"), ({"interval": 7}, "same --interval")],
)
def test_ranks_that_do_not_belong_together_are_refused(
    profiles, kadence, refused, tmp_path, change, complaint
):
    kprof.write(tmp_path / "0.kprof", profiles[0])
    kprof.write(tmp_path / "1.kprof", replace(profiles[1], **change))
    done = kadence("phases", "0.kprof", "1.kprof", "-o", "all.json", cwd=tmp_path)
    assert complaint in refused(done)
    assert not (tmp_path / "all.json").exists()


def test_ranks_with_shorter_intervals_get_the_longest(tmp_path):
    """As when each rank has its own fitted interval."""
    whole = three_phases().profile()
    assert (whole.instructions == whole.interval).all()
    coarse = coarsened(whole, 4 * whole.interval)
    paths = [tmp_path / "0.kprof", tmp_path / "1.kprof"]
    for path, profile in zip(paths, (whole, coarse), strict=True):
        kprof.write(path, profile)
    found, members = ranks.read(paths)
    rows = len(whole.instructions) // 4
    assert found.interval == 4 * whole.interval
    assert [(rank.first_row, rank.intervals) for rank in members] == [(0, rows), (rows, rows)]
    assert found.instructions.tolist() == [4 * whole.interval] * (2 * rows)
    vectors = found.vectors.tocsr()
    assert (vectors[:rows] != vectors[rows:]).nnz == 0
    np.testing.assert_allclose(vectors.sum(axis=0), 2 * whole.vectors.tocsr().sum(axis=0))


def test_merged_ranks_have_the_same_phases(profiles, kadence, tmp_path):
    names = ["0.kprof", "1.kprof", "2.kprof"]
    for name, profile in zip(names, profiles, strict=True):
        kprof.write(tmp_path / name, profile)
    for words in (
        ["profile", "merge", *names, "-o", "all.kprof"],
        ["phases", *names, "-o", "ranks.json"],
        ["phases", "all.kprof", "-o", "all.json"],
    ):
        done = kadence(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    body, of_ranks = (
        json.loads((tmp_path / name).read_text()) for name in ("all.json", "ranks.json")
    )
    for name in ("assignment", "phases", "threads", "markers"):
        assert body[name] == of_ranks[name], name
