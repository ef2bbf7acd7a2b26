# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts for GCC and orders for the linker. GCC, gcov-dump and nm are the oracles."""

import re
import struct
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kadence.base.errors import BuildError, GuestError, KadenceError, UsageError
from kadence.kconfig.configuration import identity
from kadence.kconfig.layout import artefact, counters, order, planting, sections
from kadence.kconfig.layout.artefact import Counts
from kadence.kconfig.layout.counters import Function
from kadence.kconfig.layout.order import Flow
from kadence.kconfig.layout.sections import Section
from kadence.kconfig.request.request import BuildRequest
from kadence.kconfig.tree import units

SOURCE = """
#include <stdio.h>
static int seldom(int x) { printf("%d", x); return x * 3; }
int never(int x) { return x ? seldom(x - 1) : 1; }
int often(int x) { if (x == 1234567) return seldom(x); return x + 1; }
int main(void) { int x = 0; for (int i = 0; i < 1000; i++) x = often(x); return x != 1000; }
"""
SUMMARY_BYTES = 16


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """GCC's own counters of a program that ran."""
    (tmp_path / "p.c").write_text(SOURCE)
    build = ["gcc-12", "-O2", "-fprofile-arcs", "-c", "p.c"]
    subprocess.run(build, cwd=tmp_path, check=True)
    subprocess.run(["gcc-12", "-fprofile-arcs", "-o", "p", "p.o"], cwd=tmp_path, check=True)
    subprocess.run(["./p"], cwd=tmp_path, check=True)
    return tmp_path / "p.gcda"


def assembly(folder: Path) -> str:
    """What GCC makes of the counters beside the source."""
    use = ["gcc-12", "-O2", "-fprofile-use", "-Wno-missing-profile", "-S", "-o", "-", "p.c"]
    return subprocess.run(use, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_a_line_tells_how_much_is_laid_out(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text("  CC      mm/slab.o\n")
    counts = Counts(["p"], "0", None, objects={"mm/slab": 2 * [Function(1, 2, 3, (4,))], "a": []})
    assert planting.told(counts, log) == "laid out by the counts of 2 functions in 2 objects"
    log.write_text(2 * "the control flow of function 'f' does not match its profile data\n")
    assert planting.told(counts, log).endswith("; GCC skipped 2 that changed since")


def without_summary(content: bytes) -> bytes:
    """As the kernel writes its files."""
    assert struct.unpack_from("<I", content, 16) == (counters.SUMMARY,)
    return content[:16] + content[16 + SUMMARY_BYTES :]


def test_gcc_takes_the_counters_of_a_kernels_file_as_its_own(trained: Path) -> None:
    own = trained.read_bytes()
    expected = assembly(trained.parent)
    trained.write_bytes(without_summary(own))
    assert assembly(trained.parent) != expected  # GCC drops the counts
    version, functions = counters.read("p", without_summary(own))
    most = max(max(each.counts) for each in functions)
    trained.write_bytes(counters.write(version, functions, most))
    assert assembly(trained.parent) == expected


def test_a_function_without_counters_is_compiled_as_without_a_profile(trained: Path) -> None:
    """`never` did not run: with its zeros it would become cold."""

    def is_cold(function: str) -> bool:
        text = assembly(trained.parent)
        before = text[: text.index(f"\n{function}:")]
        return re.findall(r"\.section\s+(\S+?),|^\s+(\.text)$", before, re.MULTILINE)[-1][0] != ""

    version, functions = counters.read("p", trained.read_bytes())
    most = max(max(each.counts) for each in functions)
    trained.write_bytes(counters.write(version, functions, most))
    assert is_cold("never")
    ran = [each for each in functions if each.ran]
    assert 0 < len(ran) < len(functions)
    trained.write_bytes(counters.write(version, ran, most))
    assert not is_cold("never")


def test_gcov_reads_what_is_written(tmp_path: Path) -> None:
    place = tmp_path / "p.gcda"
    functions = [Function(7, 8, 9, (1, 0, 2**33)), Function(10, 11, 12, ())]
    place.write_bytes(counters.write(0x4232322A, functions, 2**33))
    told = subprocess.run(["gcov-dump-12", "-l", place], capture_output=True, text=True).stdout
    assert f"runs=1, sum_max={2**32 - 1}" in told
    assert re.findall(r"ident=(\d+)", told) == ["7", "10"]
    assert "1 0 8589934592" in told
    assert counters.read("p", place.read_bytes()) == (0x4232322A, functions)


def test_counters_that_are_all_zero_may_be_left_out(tmp_path: Path) -> None:
    head = struct.pack("<4I", counters.MAGIC, 1, 0, 0)
    function = struct.pack("<5I", counters.FUNCTION, 12, 1, 2, 3)
    content = head + function + struct.pack("<Ii", counters.ARCS, -24) + bytes(4)
    assert counters.read("p", content)[1] == [Function(1, 2, 3, (0, 0, 0))]


@pytest.mark.parametrize("content", [b"", b"adcg", b"x" * 40])
def test_what_is_no_file_of_counters_is_refused(content: bytes) -> None:
    with pytest.raises(GuestError):
        counters.read("p", content)


# A calls B a hundred times and C once; D runs alone, and most often.
FLOW = Flow(
    bytes={"a": 100, "b": 100, "c": 100, "d": 10},
    heat={"a": 1000, "b": 900, "c": 10, "d": 100_000},
    edges={("a", "b"): 100, ("a", "c"): 1},
)


def test_the_closest_chains_become_one() -> None:
    found = order.pettis_hansen(FLOW)
    assert found[0] == "d"
    assert abs(found.index("a") - found.index("b")) == 1
    assert sorted(found) == ["a", "b", "c", "d"]


def test_chains_are_turned_so_that_heavy_edges_are_short() -> None:
    edges = {("a", "b"): 10, ("c", "d"): 9, ("a", "d"): 8}
    flow = Flow(dict.fromkeys("abcd", 10), dict.fromkeys("abcd", 1), edges)
    assert order.pettis_hansen(flow) in (list("badc"), list("cdab"))


def test_a_callee_comes_behind_its_caller() -> None:
    found = order.call_chain_clustering(FLOW)
    assert found[:3] == ["d", "a", "b"]


def test_clusters_end_with_a_page() -> None:
    large = replace(FLOW, bytes={"a": 4000, "b": 100, "c": 100, "d": 10})
    found = order.call_chain_clustering(large)
    assert found.index("b") < found.index("a")  # its bytes ran oftener


def test_all_orders_have_all_sections() -> None:
    for way in order.ORDERS.values():
        assert sorted(way(FLOW)) == ["a", "b", "c", "d"]


def test_sections_are_where_the_symbols_are(tmp_path: Path) -> None:
    """A long name has a line of its own in the map."""
    names = [f"function_{'of_a_long_name_' * (n % 3)}{n}" for n in range(20)]
    source = "".join(f"int {name}(int x) {{ return x * {n}; }}\n" for n, name in enumerate(names))
    (tmp_path / "many.c").write_text(f"{source}int main(void) {{ return 0; }}\n")
    flags = ["-O1", "-ffunction-sections", "-nostartfiles", "-static", "-Wl,-e,main,-Map=map"]
    subprocess.run(["gcc-12", *flags, "-o", "many", "many.c"], cwd=tmp_path, check=True)
    told = subprocess.run(["nm", "many"], cwd=tmp_path, capture_output=True, text=True).stdout
    addresses = dict(re.findall(r"^([0-9a-f]+) T (function\S+)$", told, re.MULTILINE))
    assert len(addresses) == len(names)
    text = (tmp_path / "map").read_text()
    found = sections.of_map(text.splitlines(keepends=True))
    assert found == sections.parse(sections.text(found).splitlines())
    where = sections.Sections(found)
    for address, name in addresses.items():
        section = where.at(int(address, 16))
        assert section is not None and section.name == f".text.{name}" and section.can_move
    assert where.at(0) is None


def flags_of(folder: Path, name: str) -> list[str]:
    """The flags with which make compiles an object."""
    directory, _, stem = name.rpartition("/")
    (folder / "rule.mk").write_text(f"include {units.PLANTED}\nflags:; @echo $(CFLAGS_{stem}.o)\n")
    command = ["make", "-s", "-f", "rule.mk", f"obj={directory}", "flags"]
    return subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True
    ).stdout.split()


def test_objects_that_went_back_are_split_and_get_no_counts(tmp_path: Path) -> None:
    objects = {"mm/slab": [Function(1, 2, 3, (4,))]}
    counts = Counts(["p"], "0", None, objects=objects, returned=["mm/gup"])
    planting.plant_counts(tmp_path, counts)
    assert {"-ffunction-sections", "-fprofile-use"} <= set(flags_of(tmp_path, "mm/slab"))
    assert flags_of(tmp_path, "mm/gup") == ["-ffunction-sections"]
    assert flags_of(tmp_path, "fs/gup") == []
    assert [each.name for each in tmp_path.rglob("*.gcda")] == ["slab.gcda"]


def scripted(folder: Path, text: str) -> None:
    (folder / planting.KBUILDS_SCRIPT).parent.mkdir(parents=True)
    (folder / planting.KBUILDS_SCRIPT).write_text(text)


SCRIPT = f" KEEP(*(.head.text))\n  . = ALIGN(16); {planting.ORDINARY} *(.ref.text)\n{planting.END}"


def test_what_ran_comes_before_all_other_code(tmp_path: Path) -> None:
    scripted(tmp_path, SCRIPT)
    planting.plant_order(tmp_path, ["net/a.o .text.hot.f", "b.o .text"])
    made = (tmp_path / planting.SCRIPT).read_text()
    places = [
        made.index(part) for part in ("[n]et/a.o(.text.hot.f)", "[b].o(.text)", "*(.ref.text)")
    ]
    assert places == sorted(places) and made.count(planting.ORDINARY) == 1
    assert made.index(planting.ORDINARY) > places[-1]


def test_a_script_of_another_form_is_refused(tmp_path: Path) -> None:
    scripted(tmp_path, "SECTIONS { }")
    with pytest.raises(BuildError, match="another form"):
        planting.plant_order(tmp_path, [])


def test_an_order_of_sections_that_are_not_there_is_refused() -> None:
    there = [Section(0, 16, ".text.f", "a.o")]
    planting.check(["a.o .text.f"], there)
    with pytest.raises(BuildError, match=r"names a\.o \.text\.g, and 1 of 2 sections"):
        planting.check(["a.o .text.f", "a.o .text.g"], there)


COUNTS = Counts(
    program=["./p"],
    kernel="0" * 16,
    not_worth_it=None,
    gcc=1,
    objects={"a/b": [Function(1, 2, 3, (4, 0))]},
    order=["a/b.o .text.f"],
)


def test_counts_are_read_as_they_were_written(tmp_path: Path) -> None:
    place = tmp_path / "p.kcounts.json"
    artefact.write(place, COUNTS, ["x"])
    assert artefact.read(place) == COUNTS
    assert artefact.read_for(place, "0" * 16).digest == COUNTS.digest
    assert replace(COUNTS, order=[]).digest != COUNTS.digest


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"kernel": "1" * 16}, f"counts of kernel {'1' * 16}, and the options ask for {'0' * 16}"),
        ({"not_worth_it": "it all fits"}, "has no layout: it all fits"),
    ],
)
def test_counts_of_something_else_are_refused(
    tmp_path: Path, changed: dict[str, str], complaint: str
) -> None:
    place = tmp_path / "p.kcounts.json"
    artefact.write(place, replace(COUNTS, **changed), ["x"])  # type: ignore[arg-type]
    with pytest.raises(BuildError, match=complaint):
        artefact.read_for(place, "0" * 16)


def test_damaged_counts_are_refused(tmp_path: Path) -> None:
    place = tmp_path / "p.kcounts.json"
    artefact.write(place, COUNTS, ["x"])
    place.write_text(place.read_text().replace('"1 2 3 4 0"', '"1 2 three"'))
    with pytest.raises(KadenceError, match=r"p\.kcounts\.json is damaged.*count again"):
        artefact.read(place)


def test_counts_are_part_of_the_identity(tmp_path: Path, write_plan: Callable[..., Path]) -> None:
    plain = BuildRequest(kind="tailored", plan=write_plan(), target="x86_64")
    kernel = identity.gather(plain).id
    place = tmp_path / "p.kcounts.json"
    ids = {kernel}
    for found in (COUNTS, replace(COUNTS, order=[])):
        artefact.write(place, replace(found, kernel=kernel), ["x"])
        ids.add(identity.gather(replace(plain, layout=place)).id)
    assert len(ids) == 3
    with pytest.raises(BuildError, match="another configuration, source or compiler"):
        identity.gather(replace(plain, layout=place, overrides=(("FUTEX", "n"),)))


@pytest.mark.parametrize(
    "wrong",
    [{"target": "um"}, {"kind": "generic", "plan": None}, {"points": True, "series": "6.12"}],
)
def test_requests_that_cannot_be_laid_out_are_refused(
    write_plan: Callable[..., Path], wrong: dict[str, object]
) -> None:
    request = BuildRequest(
        kind="tailored", plan=write_plan(), target="x86_64", layout=Path("p.kcounts.json")
    )
    with pytest.raises(UsageError):
        replace(request, **wrong).checked()  # type: ignore[arg-type]
