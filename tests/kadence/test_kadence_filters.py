# SPDX-License-Identifier: GPL-2.0-or-later
"""Which lines of outputs are compared, and which filters would make differing outputs equal."""

import hashlib
import tomllib
from pathlib import Path

import pytest

from kadence.program import filters, suggestion
from kadence.program.filters import STANDARD_OUTPUT, Filter

OUT = "out"


def written(place: Path, content: bytes) -> Path:
    place.write_bytes(content)
    return place


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("own", "content", "left"),
    [
        ([], b"a\nb", b"a\nb"),
        ([Filter("^a$")], b"a\nb\nab\n", b"b\nab\n"),
        ([Filter("^a$")], b"a\r\nb", b"b"),
        ([Filter("a"), Filter("b")], b"a\nb\nc\n", b"c\n"),
        ([Filter("a", STANDARD_OUTPUT)], b"a\n", b"a\n"),  # a filter for another output
        ([Filter(sort=True)], b"b\na\n", b"a\nb\n"),
        ([Filter("^c", sort=True)], b"b\nc\na\n", b"a\nb\n"),
        ([Filter("é")], "é\nb\n".encode(), b"b\n"),
        ([Filter("^a")], b"a\n\xff\x00\n", b"\xff\x00\n"),  # bytes that are no text stay unchanged
        ([Filter("a")], b"a\n", b""),
        ([Filter("a")], b"", b""),
    ],
)
def test_the_checksum_is_of_what_is_left(
    own: list[Filter], content: bytes, left: bytes, tmp_path: Path
) -> None:
    assert filters.checksum(own, OUT, written(tmp_path / OUT, content)) == sha256(left)


def test_a_difference_has_the_numbers_that_an_editor_shows(tmp_path: Path) -> None:
    first = written(tmp_path / "1", b"# a\nx\n# b\ny\n")
    second = written(tmp_path / "2", b"x\nz\n")
    found = filters.first_difference([Filter("^#")], OUT, first, second)
    assert found is not None and found.first is not None and found.second is not None
    assert (found.first.number, found.first.text) == (4, "y")
    assert (found.second.number, found.second.text) == (2, "z")
    longer = written(tmp_path / "2", b"x\ny\nz\n")
    found = filters.first_difference([Filter("^#")], OUT, first, longer)
    assert found is not None and found.first is None and found.second is not None
    assert found.second.number == 3
    assert filters.first_difference([Filter("[xyz#]")], OUT, first, longer) is None


def test_what_filters_remove_is_counted(tmp_path: Path) -> None:
    path = written(tmp_path / OUT, b"a\nb\na\n")
    own = [Filter("a"), Filter("b", OUT), Filter("a", STANDARD_OUTPUT), Filter(sort=True)]
    found = filters.counted(own, OUT, path)
    assert [(one.pattern, one.removed, one.lines) for one in found] == [
        ("a", 2, 3),
        ("b", 1, 3),
        ("", 0, 3),
    ]


def test_filters_that_do_nothing_or_too_much_are_told(tmp_path: Path) -> None:
    found = {OUT: written(tmp_path / OUT, b"a\na\n"), STANDARD_OUTPUT: written(tmp_path / "s", b"")}
    assert filters.warnings([Filter("a")], found) == [
        "The filters remove all 2 lines of out, which proves nothing."
    ]
    assert filters.warnings([Filter("x"), Filter(sort=True)], found) == [
        "The filter 'x' matches no line and removes nothing."
    ]
    assert filters.warnings([], found) == []


@pytest.mark.parametrize(
    ("one", "other", "pattern"),
    [
        ("# CPU time: 0.12u 0.00s", "# CPU time: 0.15u 0.01s", "^# CPU time: "),
        ("took 1.5e-3 s (wall)", "took 1.25 s (wall)", "^took "),
        ("0.25 seconds", "1.5 seconds", " seconds$"),
        ("12:01", "7:59", "^[0-9]+:[0-9]+$"),
        ("rate [a+b]: 1", "rate [a+b]: 2", r"^rate \[a\+b\]: "),
        ("x", "y", None),
        ("apples", "pears", None),
        ("\x00\x01", "\x00\x02", None),
    ],
)
def test_a_pattern_is_of_what_the_lines_have_in_common(
    one: str, other: str, pattern: str | None
) -> None:
    assert suggestion.pattern_of(one, other) == pattern
    if pattern is not None:
        assert Filter(pattern).removes(one) and Filter(pattern).removes(other)


def suggested(place: Path, one: bytes, other: bytes) -> list[Filter] | None:
    first, second = written(place / "1", one), written(place / "2", other)
    return suggestion.suggest([], STANDARD_OUTPUT, first, second)


def test_what_is_suggested_mends(tmp_path: Path) -> None:
    found = suggested(tmp_path, b"r 1\nTime: 5\npid 7\n", b"r 1\nTime: 6\npid 8\n")
    assert found == [Filter("^Time: ", STANDARD_OUTPUT), Filter("^pid ", STANDARD_OUTPUT)]
    text = "\n".join(suggestion.in_toml(found))
    assert tomllib.loads(text) == {
        "filter": [
            {"pattern": "^Time: ", "file": "stdout"},
            {"pattern": "^pid ", "file": "stdout"},
        ]
    }
    quoted = [Filter("^it's '", 'a"b')]
    assert tomllib.loads("\n".join(suggestion.in_toml(quoted)))["filter"] == [
        {"pattern": "^it's '", "file": 'a"b'}
    ]


def test_the_same_lines_in_another_order_are_sorted(tmp_path: Path) -> None:
    assert suggested(tmp_path, b"b\na\n", b"a\nb\n") == [Filter(file=STANDARD_OUTPUT, sort=True)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"value 1\n", b"value 2\n"),  # the filter would leave nothing
        (b"a\n", b"a\nb\n"),
        (b"x\nkept\n", b"y\nkept\n"),
    ],
)
def test_no_filter_is_suggested_that_would_not_help(
    one: bytes, other: bytes, tmp_path: Path
) -> None:
    assert suggested(tmp_path, one, other) is None
