# SPDX-License-Identifier: GPL-2.0-or-later
"""Stages that fail cost their part of the result, and leave no half-made files behind."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kadence.base import artefact
from kadence.base.stages import Stages
from kadence.kernel.proof import FAILED
from kadence.measurement.measure import ADAPTED, GENERIC, PLAIN
from kadence.program import leaving_out, program
from kadence.program.leaving_out import ADAPTED_PROGRAM, LAYOUT, PLAN, SECOND_INPUT, Parts
from kadence.program.places import Places
from kadence.specialize.line import Line
from kadence.specialize.pipeline import Made, Wish, _kernels

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double grid[4096];
static __attribute__((noinline)) void work(int times)
{
	for (int t = 0; t < times; t++)
		for (int i = 1; i < 4096; i++)
			grid[i] = grid[i - 1] * 0.5 + i;
}
int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "fail"))
		return 4;
	work(300);
#ifdef OTHER
	printf("adapted ");
#endif
#ifdef ABORT
	abort();
#endif
	printf("result %g %s\n", grid[9], getenv("TITLE"));
	return 0;
}
"""
MAKEFILE = """\
p: p.c
	$(CC) -O2 -g $(if $(filter adapt,$(KADENCE_MODE)),$(BREAK)) -o $@ $<
"""
DESCRIPTION = """\
[program]
name = "p"
[build]
command = "make"
[environment]
TITLE = "x"
[run]
command = ["./p"]
validate = ["./p", "fail"]
interval = 100000
[check]
command = ["sh", "-c", "[ $TITLE = x ] && ./p"]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Line, str, str]:
    """The line of a program whose second input fails, run up to its plan, and two keys."""
    place = tmp_path_factory.mktemp("line")
    folder = place / "p"
    folder.mkdir()
    for name, text in (("p.c", SOURCE), ("Makefile", MAKEFILE), ("kadence.toml", DESCRIPTION)):
        (folder / name).write_text(text)
    places = Places(place / "out", "p")
    line = Line(program.read(folder), places, Stages(places.output))
    # Files that an earlier run may have left.
    for suffix in ("validate.kprof", "plan.json"):
        places.artefact(suffix).write_text("of another time")
    source_key = line.copied()
    plain_key = line.built(PLAIN, source_key, None)
    line.tried(plain_key)
    plan_key, _ = line.planned(plain_key, force=False)
    return line, source_key, plan_key


def test_a_second_input_that_fails_costs_what_it_would_have_told(
    made: tuple[Line, str, str],
) -> None:
    line, _, plan_key = made
    assert plan_key
    (lost,) = line.parts.left_out
    assert lost.part == SECOND_INPUT
    assert "./p ended with status 4 under the profiler" in lost.reason
    assert "run.validate" in lost.remedy
    assert not line.places.artefact("validate.kprof").exists()
    assert not line.places.artefact("compare.json").exists()
    assert '"stability": null' in line.places.artefact("plan.json").read_text()


@pytest.fixture
def laid_out(made: tuple[Line, str, str], tmp_path: Path) -> Line:
    """The same line up to its source, of which the plan is to lay out the code."""
    before = made[0]
    places = Places(tmp_path / "out", "p")
    described = replace(before.program, layout="counts", validate=())
    return Line(described, places, Stages(places.output), Parts())


def test_a_plan_lays_out_code_by_what_ran(laid_out: Line) -> None:
    of = laid_out.places
    source_key = laid_out.copied()
    plain_key = laid_out.built(PLAIN, source_key, None)
    laid_out.tried(plain_key)
    counted_key = laid_out.counted(source_key)
    plan_key, _ = laid_out.planned(plain_key, False, None, counted_key)
    assert laid_out.adapted(source_key, plan_key)
    assert laid_out.parts.left_out == []
    counted = artefact.read(of.artefact("plan.json"), artefact.PLAN)["layout"]["functions"]
    assert {function["function"] for function in counted} == {"main", "work"}
    told = subprocess.run(["nm", of.build(ADAPTED) / "p"], capture_output=True, text=True)
    assert " t main.cold\n" in told.stdout


def test_a_run_that_fails_while_it_counts_costs_the_layout(laid_out: Line) -> None:
    failing = replace(laid_out, program=replace(laid_out.program, profile=("./p", "fail")))
    assert failing.counted(failing.copied()) == ""
    (lost,) = failing.parts.left_out
    assert lost.part == LAYOUT
    assert "./p ended with status 4 under the profiler" in lost.reason


def test_a_program_that_does_not_count_is_not_laid_out(laid_out: Line) -> None:
    plainly = replace(laid_out, program=replace(laid_out.program, build="cc -o p p.c"))
    assert plainly.counted(plainly.copied()) == ""
    (lost,) = plainly.parts.left_out
    assert "./p does not count its blocks: its build does not use $CC" in lost.reason


BROKEN = {
    "-fno-such-option": "`make BREAK=-fno-such-option` ended with status 2",
    "-DABORT": "./p ended with status 134 as the adapted program on this machine's own kernel",
    "-DOTHER": "standard output of the adapted program is not the plain one's",
}


@pytest.mark.parametrize("breaks", BROKEN)
def test_a_program_that_can_not_be_adapted_is_left_plain(
    breaks: str, made: tuple[Line, str, str]
) -> None:
    line, source_key, plan_key = made
    broken = replace(line.program, build=f"make BREAK={breaks}")
    line = replace(line, program=broken, parts=Parts())
    assert line.adapted(source_key, plan_key) == ""
    (lost,) = line.parts.left_out
    assert lost.part == ADAPTED_PROGRAM
    assert BROKEN[breaks] in lost.reason
    if breaks == "-DOTHER":
        assert "line 1 is 'result" in lost.reason and "'adapted result" in lost.reason
    assert (line.places.build(ADAPTED).exists()) == (breaks != "-fno-such-option")
    assert line.places.build(PLAIN).is_dir()


def test_a_program_that_can_be_adapted_is(made: tuple[Line, str, str]) -> None:
    line, source_key, plan_key = made
    line = replace(line, parts=Parts())
    assert line.adapted(source_key, plan_key)
    assert line.parts.left_out == []


def test_without_a_plan_there_is_the_generic_kernel(
    made: tuple[Line, str, str], generic_kernel: object
) -> None:
    line, source_key, _ = made
    phases = line.places.artefact("phases.json")
    whole = phases.read_text()
    phases.write_text("{}")
    line = replace(line, parts=Parts(), program=replace(line.program, validate=(), io="off"))
    try:
        plan_key, _ = line.planned(line.built(PLAIN, source_key, None), force=False)
    finally:
        phases.write_text(whole)
    assert plan_key == "" == line.adapted(source_key, plan_key)
    assert [lost.part for lost in line.parts.left_out] == [PLAN]
    assert not line.places.artefact("plan.json").exists()
    plain = Made(line.program, line.places, None, (PLAIN,), "key")
    kernels, proof = _kernels(plain, Wish(), generic_kernel)  # type: ignore[arg-type]
    assert kernels == {GENERIC: generic_kernel}
    assert (proof.outcome, proof.kernel) == (FAILED, None)
    assert "without a plan" in proof.reason


@pytest.fixture
def generic_kernel() -> object:
    return object()


def test_every_part_has_a_remedy() -> None:
    parts = {
        value
        for name, value in vars(leaving_out).items()
        if name.isupper() and isinstance(value, str) and name != "OF_A_RUN"
    }
    assert parts == set(leaving_out.REMEDIES)


def test_a_stage_that_fails_leaves_nothing(tmp_path: Path) -> None:
    stages = Stages(tmp_path / "out")
    file, folder = tmp_path / "out/a", tmp_path / "out/b"
    for product in (file, folder / "c"):
        product.parent.mkdir(exist_ok=True)
        product.write_text("of another time")

    def fail() -> None:
        file.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stages.run("x", [1], [file, folder], fail)
    assert not file.exists() and not folder.exists()
