# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles of ranks in one file: nothing is lost, and one rank at a time is in memory."""

import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import archives
import numpy as np
import pytest
import stream_frames as frames

from kadence.base.errors import ArtefactError
from kadence.profiler import kprof, rankfile
from kadence.profiler.format import archive
from kadence.profiler.format.profile import Profile

Kadence = Callable[..., Any]
Refused = Callable[[Any], str]


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Three ranks: the second met its blocks in another order, the third is still a stream."""
    found = [tmp_path / f"{rank}.kprof" for rank in range(3)]
    found[2].write_bytes(frames.whole())
    first = kprof.read(found[2])
    kprof.write(found[0], first)
    turned = replace(
        first,
        blocks=first.blocks[::-1],
        vectors=first.vectors.tocsr()[:, ::-1].tocsr(),
        counts=first.counts[:, ::-1].tocsr(),
    )
    kprof.write(found[1], turned)
    return found


def test_all_ranks_are_in_it(paths: list[Path], kadence: Kadence, tmp_path: Path) -> None:
    output = tmp_path / "all.kprof"
    done = kadence("profile", "merge", *paths, "-o", output)
    assert (done.returncode, done.stdout) == (0, "9 intervals of 3 ranks\n")
    one, whole = kprof.read(paths[0]), kprof.read(output)
    assert whole.blocks == one.blocks
    assert whole.thread.tolist() == [1, 2, 2, 3, 4, 4, 5, 6, 6]
    assert whole.start.tolist() == one.start.tolist() * 3
    assert whole.vectors.tocsr().toarray().tolist() == one.vectors.tocsr().toarray().tolist() * 3
    assert whole.counts.toarray().tolist() == one.counts.toarray().tolist() * 3
    assert [call.interval for call in whole.system_calls] == [0, 3, 6]
    assert [whole.call_sites[call.site or 0] for call in whole.system_calls] == [
        *one.call_sites
    ] * 3
    assert whole.facts.threads == 1 + 3 * (one.facts.threads - 1)
    assert (whole.build_id, whole.interval) == (one.build_id, one.interval)
    assert "9 of 1,000 instructions" in kadence("profile", "show", output).stdout


def test_what_was_merged_can_be_merged_and_packed(paths: list[Path], tmp_path: Path) -> None:
    one, both = tmp_path / "both.kprof", tmp_path / "all.kprof"
    rankfile.merge(paths[:2], one)
    assert rankfile.merge([one, paths[2]], both) == 9
    found = kprof.read(both)
    kprof.write(one, found)
    again = kprof.read(one)
    assert again.thread.tolist() == found.thread.tolist() == [1, 2, 2, 3, 4, 4, 5, 6, 6]
    assert np.array_equal(again.vectors.tocsr().toarray(), found.vectors.tocsr().toarray())


def test_one_rank_at_a_time_is_in_memory(
    paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[weakref.ref[Profile]] = []
    read = kprof.read

    def watched(path: Path) -> Profile:
        assert all(profile() is None for profile in seen)
        profile = read(path)
        seen.append(weakref.ref(profile))
        return profile

    monkeypatch.setattr(kprof, "read", watched)
    rankfile.merge(paths, tmp_path / "all.kprof")
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"build_id": "cd" * 20}, "different programs"),
        ({"backend": "compiled"}, "different backends (kbbv and compiled)"),
        ({"interval": 700}, "same --interval"),
        ({"unit": "nanoseconds"}, "same --interval"),
    ],
)
def test_what_is_not_of_one_program_is_refused(
    paths: list[Path],
    kadence: Kadence,
    refused: Refused,
    tmp_path: Path,
    change: dict[str, Any],
    complaint: str,
) -> None:
    kprof.write(paths[1], replace(kprof.read(paths[1]), **change))
    done = kadence("profile", "merge", *paths, "-o", tmp_path / "all.kprof")
    assert complaint in refused(done)
    assert not list(tmp_path.glob("*all*"))


def test_damage_is_refused(paths: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "all.kprof"
    rankfile.merge(paths, output)
    whole = output.read_bytes()
    for damaged in (whole + b"x", whole[: len(whole) // 2], whole[:-1]):
        output.write_bytes(damaged)
        with pytest.raises(ArtefactError, match="damaged"):
            kprof.read(output)
    for position in range(len(archive.MAGIC), len(whole), 7):
        changed = bytearray(whole)
        changed[position] ^= 0x10
        output.write_bytes(changed)
        with pytest.raises(ArtefactError, match="damaged"):
            kprof.read(output)


def test_a_rank_that_is_missing_is_refused(paths: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "all.kprof"
    rankfile.merge(paths, output)
    members = archives.members(output)
    for missing in (["rank0/profile.json"], ["rank2/counts.parquet"], list(members)):
        archives.write(
            output, {name: each for name, each in members.items() if name not in missing}
        )
        with pytest.raises(ArtefactError, match="is damaged|is not a profile"):
            kprof.read(output)
