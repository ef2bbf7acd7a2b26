# SPDX-License-Identifier: GPL-2.0-or-later
"""The state of a tune: whole or refused, and only where it belongs."""

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kadence.base.errors import ArtefactError, UsageError
from kadence.measurement.measure import PLAIN
from kadence.tune import state
from kadence.tune.model import Predicted
from kadence.tune.state import Belongs, Confirming, Contest, Cost, Entry, Round, State

HERE = Belongs("build", "program", "machine", "candidates", "seconds", "kadence")


def a_round(number: int) -> Round:
    cost = Cost(1.0 + number / 7, 0.9, 1 << 20)
    return Round((PLAIN, "a"), {PLAIN: cost, "a": cost}, 0.25, 1)


def a_state(rounds: int = 3) -> State:
    return State(
        belongs=HERE,
        seed=7,
        plain_seconds=1.5,
        entries=(Entry("a", Predicted(0.9, 0.5, 1.1, "why"), ""), Entry("b", None, "no")),
        spent=12.25,
        refused={"c": "differs"},
        contests=(Contest(("a",), PLAIN, tuple(map(a_round, range(rounds))), True),),
        confirming=Confirming("a", 8, (a_round(9),)),
        repeats=1,
        finished=False,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "race.json"
    state.save(place, a_state(), "ab12", ["kadence", "tune"])
    return place


def test_a_state_is_read_as_it_was_written(path: Path) -> None:
    assert state.load(path) == a_state()
    state.require(path, a_state(), HERE)


def test_a_round_is_added_where_it_belongs() -> None:
    racing = replace(a_state(), confirming=None)
    assert len(racing.with_round(a_round(5)).contests[0].rounds) == 4
    confirming = a_state().with_round(replace(a_round(5), attempts=2))
    assert confirming.confirming is not None and len(confirming.confirming.rounds) == 2
    assert confirming.repeats == 2
    assert len(confirming.rounds()) == 5


def test_a_part_of_a_file_is_refused(path: Path) -> None:
    content = path.read_bytes()
    for length in range(0, len(content) - 1, 37):
        path.write_bytes(content[:length])
        with pytest.raises(ArtefactError, match="race.json") as caught:
            state.load(path)
        assert "\n" not in str(caught.value)


def test_a_changed_figure_is_refused(path: Path) -> None:
    content = path.read_text()
    assert '"spent": 12.25' in content
    path.write_text(content.replace('"spent": 12.25', '"spent": 12.75'))
    with pytest.raises(ArtefactError, match="checksum is wrong; use --again"):
        state.load(path)


def test_every_flipped_byte_is_refused_or_changes_nothing(path: Path) -> None:
    content = path.read_bytes()
    for place in range(0, len(content), 11):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        try:
            found = state.load(path)
        except (ArtefactError, UsageError):
            continue
        assert found == a_state()


@pytest.mark.parametrize("field", state.OTHERS)
def test_another_state_is_refused_by_name(path: Path, field: str) -> None:
    with pytest.raises(UsageError) as caught:
        state.require(path, a_state(), replace(HERE, **{field: "other"}))
    assert f"belongs to {state.OTHERS[field]}; use --again" in str(caught.value)


def test_impossible_rounds_are_refused(path: Path) -> None:
    document = json.loads(path.read_text())
    document["contests"][0]["rounds"][0]["order"] = ["a"]
    path.write_text(json.dumps(document))
    with pytest.raises(ArtefactError, match="do not name the same"):
        state.load(path)


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file may be larger, as on a disk with so much space left."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_the_former_state(path: Path) -> None:
    before = path.read_bytes()
    with full_disk(len(before)), pytest.raises(ArtefactError, match="cannot write"):
        state.save(path, a_state(rounds=20), None, [])
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_remains_of_a_killed_save_are_removed(path: Path) -> None:
    (path.parent / ".race.json.abc").write_text("half")
    (path.parent / "other").write_text("mine")
    state.remove_remains(path)
    assert sorted(each.name for each in path.parent.iterdir()) == ["other", "race.json"]
    assert state.load(path) == a_state()
