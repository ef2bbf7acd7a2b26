# SPDX-License-Identifier: GPL-2.0-or-later
"""The codec: what JSON becomes, and what it says of JSON that is something else."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest

from kadence.base import artefact, codec
from kadence.base.codec import DERIVED, FLAT, NULLABLE, DecodeError, Key


@dataclass(frozen=True)
class Inner:
    count: int
    share: float

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError("the count is negative")


@dataclass(frozen=True)
class Outer:
    name: str
    before: Annotated[int | None, Key("from")]
    pair: tuple[int, int]
    inner: tuple[Inner, ...]
    named: dict[str, bool]
    around: Annotated[Inner, FLAT]
    file: Annotated[str, NULLABLE] = ""
    seen: Annotated[tuple[int, ...], DERIVED] = ()


GOOD: dict[str, Any] = {
    "name": "a",
    "from": None,
    "pair": [1, 2],
    "inner": [{"count": 1, "share": 0.5}, {"count": 2, "share": 1}],
    "named": {"x": True},
    "count": 3,
    "share": 0.25,
    "file": None,
    "another": "is left alone",
}


def test_json_becomes_the_dataclass() -> None:
    found = codec.decode(Outer, GOOD)
    inner = (Inner(1, 0.5), Inner(2, 1.0))
    assert found == Outer("a", None, (1, 2), inner, {"x": True}, Inner(3, 0.25), "", ())
    assert isinstance(found.inner[1].share, float)


def test_a_number_beyond_all_floats_is_refused() -> None:
    with pytest.raises(DecodeError, match="share is too large a number"):
        codec.decode(Outer, GOOD | {"share": 10**400})


def test_what_was_decoded_can_be_written_and_read_again() -> None:
    found = codec.decode(Outer, GOOD)
    written = codec.encode(found)
    assert written == {key: GOOD[key] for key in GOOD if key != "another"} | {"file": ""}
    assert codec.decode(Outer, written) == found


def test_sets_are_written_in_order() -> None:
    assert codec.encode(frozenset({"b", "a"})) == ["a", "b"]


def test_null_is_the_default_of_no_other_field() -> None:
    with pytest.raises(DecodeError, match="name is not a text"):
        codec.decode(Outer, GOOD | {"name": None})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": 1}, "it.name is not a text"),
        ({"from": "x"}, "it.from is not a whole number"),
        ({"from": True}, "it.from is not a whole number"),
        ({"pair": [1]}, "it.pair is not a list of 2"),
        ({"inner": {}}, "it.inner is not a list"),
        ({"inner": [{"count": 1}]}, r"it.inner\[0\].share is missing"),
        ({"inner": [{"count": 1, "share": "x"}]}, r"it.inner\[0\].share is not a number"),
        ({"inner": [{"count": -1, "share": 0}]}, r"it.inner\[0\]: the count is negative"),
        ({"named": {"x": 1}}, "it.named.x is not true or false"),
        ({"named": []}, "it.named is not an object"),
        ({"share": float("nan")}, "it.share is not a number"),
        ({"share": False}, "it.share is not a number"),
    ],
)
def test_other_json_is_refused_by_its_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(DecodeError, match=said):
        codec.decode(Outer, GOOD | change, "it")


@pytest.mark.parametrize("key", ["name", "from", "pair", "named", "count", "file"])
def test_a_missing_key_is_an_error(key: str) -> None:
    with pytest.raises(DecodeError, match=f"^{key} is missing"):
        codec.decode(Outer, {name: value for name, value in GOOD.items() if name != key})


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(DecodeError, match="the document is not an object"):
        codec.decode(Outer, [1])


def test_a_name_that_is_not_utf8_is_kept(tmp_path: Path) -> None:
    """A file's name may hold any bytes; Python has surrogates for those that are not UTF-8."""
    command = ["kadence", "phases", os.fsdecode(b"n\xe4me.kprof"), "näme.kprof"]
    artefact.write(tmp_path / "a", artefact.PHASES, None, command, {})
    assert artefact.read(tmp_path / "a", artefact.PHASES)["command"] == command
