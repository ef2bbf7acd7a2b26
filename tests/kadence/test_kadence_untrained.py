# SPDX-License-Identifier: GPL-2.0-or-later
"""Operations that a layout makes slower, and the objects of made-up kernels that go back."""

from collections import Counter
from pathlib import Path

from kadence.kconfig.layout.artefact import Counts
from kadence.kconfig.layout.counters import Function
from kadence.kconfig.layout.sections import Section, Sections
from kadence.kernel import untrained
from kadence.kernel.untrained import Neighbours, Slower
from kadence.lab.counts import Block
from kadence.lab.figures import Figure, Sheet
from kadence.lab.guest import Guest
from kadence.lab.settled import Settled

K = 0xFFFFFFFF81000000


def sheet(**medians: float | None) -> Sheet:
    figures = {
        name: Figure(name, "bytes" if name == "memory" else "ns", median)
        for name, median in medians.items()
    }
    settled = Settled.__new__(Settled)
    return Sheet(Guest("x", Path("x")), settled, "tmpfs", figures)


def test_operations_above_one_percent_are_slower() -> None:
    before = sheet(a=100, b=100, c=100, memory=100, failed=None, lost=100, million=100)
    after = sheet(a=101, b=102, c=105, memory=200, failed=100, lost=None, million=200)
    assert untrained.slower(before, after) == [Slower("c", 100, 105), Slower("b", 100, 102)]
    assert untrained.slower(before, before) == []


def test_parts_and_copies_belong_to_their_function() -> None:
    names = ["f", "f.cold", "f.constprop.0.isra.0", "f.part.0.cold"]
    assert {untrained.source_name(name) for name in names} == {"f"}


def test_a_function_that_is_inlined_elsewhere_has_its_neighbours_object() -> None:
    sections = Sections(
        [Section(K, 64, ".text.hot.one", "a.o"), Section(K + 64, 64, ".text.three", "b.o")]
    )
    known = untrained.known([(K, "one"), (K + 64, "three.cold")], sections)
    assert known == {"one": "a.o", "three": "b.o"}
    found = Neighbours([(K, "one"), (K + 16, "two"), (K + 32, "three")], known)
    offsets = (-1, 0, 15, 16, 31, 32, 4096)
    assert [found.object_at(K + each) for each in offsets] == ["", *4 * ["a.o"], "b.o", "b.o"]


def test_what_executes_more_by_object() -> None:
    blocks = [
        Block(K, 10, 3, "falls", 0, (5, 1)),
        Block(K + 64, 20, 4, "falls", 0, (6,)),
        Block(K + 10, 6, 2, "falls", 0, (6,)),
    ]
    found = untrained.by_object(blocks, lambda address: "a.o" if address < K + 64 else "b.o")
    assert found == {"a.o": 18 + 12, "b.o": 24}


def test_the_objects_with_half_of_the_growth_go_back() -> None:
    then = Counter({"a.o": 1000, "b.o": 1000, "c.o": 1000})
    now = Counter({"a.o": 1300, "b.o": 500, "c.o": 1400, "new.o": 350})
    assert untrained.grown(then, now, {"a", "b", "c", "new"}) == ["c", "new"]
    assert untrained.grown(then, now | Counter({"c.o": 2000}), {"a", "b", "c", "new"}) == ["c"]
    assert untrained.grown(then, now, {"a", "b"}) == ["a"]
    assert untrained.grown(then, then, {"a", "b", "c"}) == []


def test_counts_without_objects_lose_them_alone() -> None:
    function = Function(1, 2, 3, (4,))
    objects = {"a": [function], "b": [function]}
    counts = Counts(["p"], "0", None, objects=objects, order=["b.o .text.f"], returned=["c"])
    found = counts.without(["b"])
    assert (list(found.objects), found.order, found.returned) == (["a"], [], ["c", "b"])
    assert found.digest != counts.digest
