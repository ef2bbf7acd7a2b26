# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of candidates are read strictly, filled in and combined."""

from pathlib import Path

import pytest

from kadence.base.errors import UsageError
from kadence.measurement.measure import ADAPTED
from kadence.tune import candidates, conditions, shares
from kadence.tune.candidates import Candidate, KernelWish

KNOWN = {"needs": conditions.KNOWN, "work": shares.WORKS}
ROW = '[[candidate]]\nname = "a"\ndimension = "allocator"\nsummary = "s"\n'


def listed() -> dict[str, Candidate]:
    return {each.name: each for each in candidates.read(candidates.FILE, KNOWN)}


def test_the_list_has_every_dimension() -> None:
    found = listed()
    assert {each.dimension for each in found.values()} == set(candidates.DIMENSIONS)
    assert found["huge"].environment == {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    assert found["x86_64-undefended"].needs == ("a site without mitigations",)
    assert all(each.base in ("", *found) for each in found.values())


def test_a_kernel_of_the_list_keeps_its_defences_unless_the_site_allows_less() -> None:
    for each in listed().values():
        if each.target == "x86_64" and each.kernel is not None:
            allowed = "a site without mitigations" in each.needs
            assert each.kernel.mitigations != allowed


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "table of its own"),
        ("x = 1\n", "table of its own"),
        ("candidate = 1\n", "table of its own"),
        ("[[candidate]\n", "not TOML"),
        ('[[candidate]]\nname = "a"\n', "dimension is missing"),
        (ROW, "sets nothing"),
        (ROW + 'flags = "-O3"\nspeed = 1\n', "no key 'speed'"),
        (ROW + "flags = 3\n", "flags is not a text"),
        (ROW + 'flags = "-O3"\nneeds = ["luck"]\n', "needs names 'luck'"),
        (ROW + 'flags = "-O3"\ntargets = ["moon"]\n', "targets names others"),
        (ROW + 'program = "other"\n', "neither plain nor adapted"),
        (ROW + 'kernel = { target = "moon" }\n', "target 'moon'"),
        (ROW + 'kernel = { target = "um", series = "1.0" }\n', "series '1.0'"),
        (ROW + 'kernel = { target = "um", mitigations = true }\n', "no mitigations"),
        (ROW + 'kernel = { target = "um", wish = 1 }\n', "no key 'wish'"),
        (ROW + 'flags = "x"\neffects = [{ work = "fun", left = [1, 1, 1] }]\n', "work names 'fun'"),
        (ROW + 'flags = "x"\neffects = [{ work = "run", left = [1, 0, 1] }]\n', "ascend"),
        (ROW + 'flags = "x"\neffects = [{ work = "run", left = [1, 1] }]\n', "list of 3"),
        (ROW.replace('"a"', '"plain"') + 'flags = "x"\n', "'plain' is taken"),
        (ROW.replace('"a"', '"a+b"') + 'flags = "x"\n', "has a '+'"),
        (ROW.replace('"a"', '"../a"') + 'flags = "x"\n', "other characters"),
        (2 * (ROW + 'flags = "x"\n'), "'a' is taken"),
    ],
)
def test_a_bad_list_is_refused_in_one_sentence(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "list.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        candidates.read(path, KNOWN)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        candidates.read(tmp_path / "none.toml", KNOWN)


def test_names_choose_in_the_order_of_the_list() -> None:
    found = list(listed().values())
    assert [each.name for each in candidates.chosen(found, ["O3", "huge"])] == ["huge", "O3"]
    kernels = {each.name for each in candidates.chosen(found, ["kernel", "O3"])}
    assert {"O3", "um", "x86_64"} <= kernels and "huge" not in kernels
    with pytest.raises(UsageError, match="no candidate 'fast'; choose from huge,"):
        candidates.chosen(found, ["fast"])


def test_numbers_of_the_machine_are_filled_in() -> None:
    found = listed()
    assert candidates.placed(found["threads-all"], [2, 5, 6]).environment == {
        "OMP_NUM_THREADS": "3"
    }
    assert candidates.placed(found["threads-half"], [0]).environment == {"OMP_NUM_THREADS": "1"}
    assert candidates.placed(found["one-processor"], [2, 5]).prefix == ("taskset", "-c", "2")
    assert candidates.placed(found["O3"], [0]) == found["O3"]


def test_settings_of_different_dimensions_combine() -> None:
    found = listed()
    both = candidates.combined(found["huge"], found["O3-native"])
    assert both.name == "huge+O3-native"
    assert both.flags == "-O3 -march=native"
    assert both.environment == found["huge"].environment
    assert both.dimensions == ("allocator", "compiler")
    three = candidates.combined(both, found["adapted"])
    assert three.program == ADAPTED
    assert three.flags == both.flags


def test_what_cannot_combine() -> None:
    found = listed()
    assert not candidates.can_combine(found["huge"], found["kept"])
    assert candidates.can_combine(found["huge"], found["O3"])
    # Flags serve programs on a guest's kernel, too; the C library's huge pages do not.
    assert candidates.can_combine(found["um"], found["O3"])
    assert not candidates.can_combine(found["um"], found["huge"])


def test_tunables_of_both_stay() -> None:
    one, other = {"GLIBC_TUNABLES": "a=1", "X": "1"}, {"GLIBC_TUNABLES": "b=2", "X": "2"}
    assert candidates.merged(one, other) == {"GLIBC_TUNABLES": "a=1:b=2", "X": "2"}


def test_a_wish_for_a_kernel_is_checked() -> None:
    with pytest.raises(ValueError, match="unknown"):
        KernelWish("um", series="0.1")


SITUATION = conditions.Situation(
    threads=False,
    openmp=False,
    plan_changes=True,
    processors=2,
    mitigations_off=False,
    huge_pages="always [madvise] never",
    glibc=(2, 36),
    taskset=True,
)


@pytest.mark.parametrize(
    ("needs", "why"),
    [
        ((), ""),
        (("glibc 2.35", "huge pages on request"), ""),
        (("glibc 2.36",), ""),
        (("glibc 2.37",), "no glibc of 2.37"),
        (("glibc 3",), "no glibc of 3"),
        (("several processors", "threads"), "has one thread"),
        (("a site without mitigations",), "site does not allow"),
        (("source 6.1",), None),
    ],
)
def test_conditions(needs: tuple[str, ...], why: str | None) -> None:
    found = conditions.unmet(needs, SITUATION)
    assert why is None or (found == "" if why == "" else why in found)


@pytest.mark.parametrize(
    ("setting", "why"),
    [("[always] madvise never", "unasked"), ("always madvise [never]", "no huge"), ("", "no huge")],
)
def test_huge_pages_that_nobody_can_ask_for(setting: str, why: str) -> None:
    found = conditions.unmet(
        ["huge pages on request"],
        conditions.Situation(**{**vars(SITUATION), "huge_pages": setting}),
    )
    assert why in found
