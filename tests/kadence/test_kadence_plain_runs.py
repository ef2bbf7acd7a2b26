# SPDX-License-Identifier: GPL-2.0-or-later
"""What two runs and a check find out before anything is built, on small C programs."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kadence.measurement import plain_runs
from kadence.measurement.execution import ExecutionError
from kadence.program.filters import Difference, Filter, Line
from kadence.program.program import Program

# Prints a result, does what its argument asks for, and counts its runs in `runs`.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	FILE *runs = fopen("runs", "a+"), *out = fopen("out", "w");
	int before = 0;
	while (fgetc(runs) != EOF)
		before++;
	fputc('.', runs);
	fputs("result 42\n", out);
	printf("header\nresult 42\n");
	if (!strcmp(what, "time"))
		printf("# CPU time: 0.%du\n", before + 10);
	if (!strcmp(what, "file"))
		fprintf(out, "step %d\n", before);
	if (!strcmp(what, "order"))
		printf(before % 2 ? "a\nb\n" : "b\na\n");
	if (!strcmp(what, "variable"))
		printf("%s\n", getenv("VARIABLE"));
	if (!strcmp(what, "hang"))
		pause();
	fclose(out);
	if (!strcmp(what, "silent"))
		remove("out");
	return !strcmp(what, "fail") ? 7 : 0;
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("built")
    (place / "p.c").write_text(SOURCE)
    subprocess.run(["cc", "-o", place / "p", place / "p.c"], check=True)
    return place / "p"


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    place = tmp_path / "folder"
    place.mkdir()
    (place / "p").symlink_to(built)
    return place


def program(folder: Path, what: str = "", *filters: Filter, check: str = "true") -> Program:
    run = ("./p", what)
    return Program(
        folder, "p", "make", run, run, ("sh", "-c", check), outputs=("out",), filters=filters
    )


def complaint(described: Program, place: Path) -> str:
    with pytest.raises(ExecutionError) as caught:
        plain_runs.require_alike(described, described.folder, place / "scratch")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_program_that_repeats_itself_passes(folder: Path, tmp_path: Path) -> None:
    plain_runs.require_alike(program(folder), folder, tmp_path / "scratch")
    assert (folder / "runs").read_text() == ".."
    assert (tmp_path / "scratch/first/out").read_text() == "result 42\n"


def test_what_differs_is_told_with_line_and_remedy(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = complaint(program(folder, "time"), tmp_path)
    assert "standard output of the plain program is not the same in two runs" in said
    assert "line 3 is '# CPU time: 0.10u' in one and '# CPU time: 0.11u' in the other" in said
    told = capsys.readouterr().err
    assert "[[filter]]\n" in told and "pattern = '^# CPU time: '\n" in told
    assert 'file = "stdout"\n' in told
    suggested = Filter("^# CPU time: ", "standard output")
    plain_runs.require_alike(program(folder, "time", suggested), folder, tmp_path / "again")


def test_what_differs_in_the_adapted_program_has_the_same_remedy(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    described, scratch = program(folder, "time"), tmp_path / "scratch"
    plain_runs.run(described, folder, scratch, "plain", scratch / plain_runs.FIRST)
    with pytest.raises(ExecutionError, match="standard output of the adapted program is not"):
        plain_runs.require_same(described, folder, scratch)
    told = capsys.readouterr().err
    assert "[[filter]]\n" in told and "pattern = '^# CPU time: '\n" in told
    suggested = Filter("^# CPU time: ", "standard output")
    plain_runs.require_same(program(folder, "time", suggested), folder, scratch)


def test_a_file_that_differs_is_named(folder: Path, tmp_path: Path) -> None:
    said = complaint(program(folder, "file"), tmp_path)
    assert said.startswith("out of the plain program is not the same in two runs")
    assert "line 2 is 'step 0' in one and 'step 1' in the other" in said
    of_another = Filter("^step", "standard output")
    assert "step" in complaint(program(folder, "file", of_another), tmp_path)


def test_lines_in_another_order_are_the_users_to_sort(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "line 3 is 'b' in one and 'a'" in complaint(program(folder, "order"), tmp_path)
    assert "sort = true\n" in capsys.readouterr().err
    plain_runs.require_alike(
        program(folder, "order", Filter(sort=True)), folder, tmp_path / "again"
    )


@pytest.mark.parametrize(
    ("what", "check", "expected"),
    [
        ("fail", "true", "./p ended with status 7 as the plain program on this machine's own"),
        ("silent", "true", "wrote no out, which kadence.toml names among its outputs"),
        ("", "exit 5", "the check of p does not pass on this machine's own kernel (it ended with "
         "status 5)"),
    ],
)  # fmt: skip
def test_what_fails_is_told_at_once(
    what: str, check: str, expected: str, folder: Path, tmp_path: Path
) -> None:
    assert expected in complaint(program(folder, what, check=check), tmp_path)


def test_an_input_that_is_not_there_is_named_before_any_run(folder: Path, tmp_path: Path) -> None:
    described = replace(program(folder), validate_input="other")
    assert "no other after the build of p, but kadence.toml names it as run.validate" in complaint(
        described, tmp_path
    )
    assert not (folder / "runs").exists()


def test_lines_that_filters_moved_have_their_own_numbers() -> None:
    found = Difference("out", Line(4, b"y\n"), Line(2, b"z\xff\n"))
    assert plain_runs.in_words(found) == "line 4 of one is 'y', where line 2 of the other is " + (
        r"'z\udcff'"
    )
    assert plain_runs.in_words(Difference("out", None, Line(3, b"z"))) == (
        "one of them has no line 3, which is 'z' in the other"
    )
    long = Line(1, b"x" * 1000)
    assert len(plain_runs.in_words(Difference("out", long, Line(1, b"y")))) < 250


def test_a_run_that_hangs_is_ended(folder: Path, tmp_path: Path) -> None:
    run = ("./p", "hang")
    hangs = Program(folder, "p", "make", run, run, ("true",), timeout_seconds=0.5)
    assert "./p was stopped after 0.5 seconds (run.timeout)" in complaint(hangs, tmp_path)


def test_filters_that_leave_nothing_are_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    described = program(folder, "", Filter("."), Filter("never"))
    plain_runs.require_alike(described, folder, tmp_path / "scratch")
    told = capsys.readouterr().err
    assert "The filters remove all 2 lines of standard output, which proves nothing." in told
    assert "The filter 'never' matches no line" in told


def test_the_environment_is_the_programs(folder: Path, tmp_path: Path) -> None:
    run = ("./p", "variable")
    environment = (("VARIABLE", "a = b"),)
    described = Program(folder, "p", "make", run, run, ("true",), environment=environment)
    plain_runs.require_alike(described, folder, tmp_path / "scratch")
    assert "\na = b\n" in (tmp_path / "scratch/first/standard output").read_text()
    checked = program(folder, "", check='[ "$VARIABLE" = x ]')
    assert "check of p does not pass" in complaint(checked, tmp_path)
