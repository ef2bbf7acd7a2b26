# SPDX-License-Identifier: GPL-2.0-or-later
"""kadence.toml: how it is read, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.base import stages
from kadence.base.errors import ProgramError
from kadence.base.stages import Stages
from kadence.program import program
from kadence.program.filters import Filter

MINIMAL = """\
[program]
name = "p"
[build]
command = "make"
[run]
command = ["./p", "1"]
[check]
command = ["./p", "check"]
"""


def written(folder: Path, text: str) -> Path:
    (folder / "kadence.toml").write_text(text)
    return folder


def test_the_least_that_is_needed(tmp_path: Path) -> None:
    described = program.read(written(tmp_path, MINIMAL))
    assert described.name == "p"
    assert described.build == "make"
    assert described.run == described.profile == ("./p", "1")
    assert described.check == ("./p", "check")
    assert described.outputs == described.inputs == described.validate == ()
    assert described.prepare == described.standard_input == ""
    assert described.profile_input == described.validate_input == ""
    assert described.environment == described.filters == ()
    assert described.interval is None
    assert described.folder == tmp_path


def test_all_that_can_be_said(tmp_path: Path) -> None:
    text = MINIMAL.replace('"make"', '"make all"\nprepare = "./fetch"').replace(
        "[check]",
        'profile = ["./p"]\nvalidate = ["./p", "2"]\ninterval = 5\n'
        'stdin = "in"\ninputs = ["in"]\noutputs = ["a/b"]\n'
        'timeout = 2.5\n[plan]\nio = "strict"\nmemory = "off"\nlayout = "counts"\n[check]',
    )
    described = program.read(written(tmp_path, text))
    assert described.prepare == "./fetch"
    assert described.profile == ("./p",)
    assert described.validate == ("./p", "2")
    assert described.interval == 5
    assert described.standard_input == "in"
    assert described.inputs == ("in",)
    assert described.outputs == ("a/b",)
    assert described.timeout_seconds == 2.5
    assert described.io == "strict"
    assert described.memory == "off"
    assert described.layout == "counts"
    assert described.units == ()


def test_units_become_a_variable(tmp_path: Path) -> None:
    for name in ("writes.c", "reads.c"):
        (tmp_path / name).write_text("")
    text = MINIMAL + '[plan]\nunits = ["writes.c:0,2", "reads.c"]\n'
    described = program.read(written(tmp_path, text))
    assert described.unit_sources == (tmp_path / "writes.c", tmp_path / "reads.c")
    assert [unit.numbers for unit in described.units] == [(0, 2), ()]
    assert described.environment == (("KADAPT_UNITS", "writes:0,2 reads"),)


@pytest.mark.parametrize(
    ("units", "why"),
    [
        ('["missing.c"]', "there is no file"),
        ('["kadence.toml"]', "is not the source of a unit"),
        ('["writes.c:x"]', "is not of the form"),
        ('["writes.c:256"]', "phases are below 256"),
        ("[]", "must be a list of words"),
    ],
)
def test_units_that_cannot_be_are_refused(tmp_path: Path, units: str, why: str) -> None:
    (tmp_path / "writes.c").write_text("")
    with pytest.raises(ProgramError, match=f"plan.units.*{why}"):
        program.read(written(tmp_path, f"{MINIMAL}[plan]\nunits = {units}\n"))


def test_each_run_may_have_an_input_of_its_own(tmp_path: Path) -> None:
    common = MINIMAL.replace("[check]", 'stdin = "in"\nvalidate = ["./p", "2"]\n[check]')
    described = program.read(written(tmp_path, common))
    assert described.standard_input == described.profile_input == described.validate_input == "in"
    own = MINIMAL.replace("[check]", 'profile_stdin = "a"\nvalidate_stdin = "b"\n[check]')
    described = program.read(written(tmp_path, own))
    assert described.standard_input == ""
    assert (described.profile_input, described.validate_input) == ("a", "b")
    # Another input alone makes another run, with the same command.
    assert described.validate == described.profile == ("./p", "1")


def test_environment_and_filters(tmp_path: Path) -> None:
    text = MINIMAL.replace("[check]", 'outputs = ["a/b"]\n[check]')
    described = program.read(
        written(
            tmp_path,
            text + "[environment]\nTWO = '2'\nONE = ''\n"
            "[[filter]]\npattern = '^# '\n[[filter]]\nfile = 'stdout'\nsort = true\n"
            "[[filter]]\npattern = 'x'\nfile = 'a/b'\n",
        )
    )
    assert described.environment == (("ONE", ""), ("TWO", "2"))
    assert described.filters == (
        Filter("^# "),
        Filter(file="standard output", sort=True),
        Filter("x", "a/b"),
    )


def test_flags_are_measured_unless_there_are_none(tmp_path: Path) -> None:
    assert program.read(written(tmp_path, MINIMAL)).flags == ("-O3", "-march=native")
    for text, flags in (("[]", ()), ('["-O3 -flto", "-Ofast"]', ("-O3 -flto", "-Ofast"))):
        described = MINIMAL.replace("[run]", f"flags = {text}\n[run]")
        assert program.read(written(tmp_path, described)).flags == flags


REFUSED = {
    "number in the environment": (MINIMAL + "[environment]\nX = 1\n", "must be a string in quotes"),
    "environment that is a value": ("environment = 1\n" + MINIMAL, "must be a table of names"),
    "name with an equals sign": (MINIMAL + '[environment]\n"a=b" = ""\n', "is not a valid name"),
    "name of ours": (MINIMAL + '[environment]\nKADAPT_X = ""\n', "are Kadence's own"),
    "filter as a table": (MINIMAL + '[filter]\npattern = "x"\n', r"of its own, \[\[filter"),
    "filter of nothing": (MINIMAL + "[[filter]]\n", "needs a pattern, or sort = true"),
    "filter of another file": (
        MINIMAL + '[[filter]]\npattern = "x"\nfile = "y"\n',
        "neither 'stdout' nor among",
    ),
    "unknown key of a filter": (MINIMAL + '[[filter]]\nline = "x"\n', "has no key 'line'"),
    "sort that is no flag": (MINIMAL + "[[filter]]\nsort = 1\n", "must be true or false"),
    "bad expression": (
        MINIMAL + '[[filter]]\npattern = "(x"\n',
        r"'\(x' of a \[\[filter\]\] is not a regular expression: missing \), unterminated",
    ),
    "unknown table": ("[extra]\n" + MINIMAL, "'extra' is not a table"),
    "table that is a value": ("check = 1\n", "'check' is not a table"),
    "unknown mode": (MINIMAL + '[plan]\nio = "fast"\n', "one of strict, off"),
    "mode of before": (MINIMAL + '[plan]\nio = "default"\n', "one of strict, off"),
    "unknown memory mode": (MINIMAL + '[plan]\nmemory = "strict"\n', "one of default, off"),
    "unknown layout": (MINIMAL + "[plan]\nlayout = true\n", "one of counts, off"),
    "mode that is a list": (MINIMAL + "[plan]\nio = []\n", "one of strict, off"),
    "unknown key": (MINIMAL + "comand = 1\n", r"\[check\] has no key 'comand'; it knows command"),
    "missing key": (MINIMAL.replace('name = "p"', ""), r"'name' is missing in \[program\]"),
    "missing table": (MINIMAL.split("[check]")[0], r"'command' is missing in \[check\]"),
    "not TOML": ("[program\n", "is not TOML"),
    "empty words": (MINIMAL.replace('["./p", "1"]', "[]"), "run.command must be a list of words"),
    "words as text": (MINIMAL.replace('["./p", "1"]', '"./p 1"'), "must be a list of words"),
    "text as words": (MINIMAL.replace('"make"', '["make"]'), "build.command must be a string"),
    "empty text": (MINIMAL.replace('"make"', '""'), "not empty"),
    "flags as text": (MINIMAL.replace("[run]", 'flags = "-O3"\n[run]'), "list of options of the"),
    "flag that is none": (MINIMAL.replace("[run]", 'flags = ["O3"]\n[run]'), "list of options of"),
    "flag for a shell": (MINIMAL.replace("[run]", 'flags = ["-O3; ls"]\n[run]'), "list of options"),
    "name with a slash": (MINIMAL.replace('"p"', '"p/q"'), "must not contain '/'"),
    "interval of 0": (MINIMAL.replace("[check]", "interval = 0\n[check]"), "positive whole number"),
    "true for a number": (MINIMAL.replace("[check]", "interval = true\n[check]"), "positive whole"),
    "timeout of 0": (MINIMAL.replace("[check]", "timeout = 0\n[check]"), "number of seconds"),
    "output elsewhere": (MINIMAL.replace("[check]", 'outputs = ["/etc/x"]\n[check]'), "below the"),
    "output above": (MINIMAL.replace("[check]", 'outputs = ["../x"]\n[check]'), "below the folder"),
    "outputs as text": (MINIMAL.replace("[check]", 'outputs = "x"\n[check]'), "list of names"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_in_one_sentence(case: str, tmp_path: Path) -> None:
    text, complaint = REFUSED[case]
    with pytest.raises(ProgramError, match=complaint) as caught:
        program.read(written(tmp_path, text))
    assert "\n" not in str(caught.value)
    assert "kadence.toml" in str(caught.value)


def test_bytes_that_are_not_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "kadence.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProgramError, match="is not TOML"):
        program.read(tmp_path)


def test_the_command_refuses_a_folder_without_one(
    kadence: Callable[..., Any], refused: Callable[[Any], str], tmp_path: Path
) -> None:
    assert "has no kadence.toml" in refused(kadence("specialize", tmp_path))
    assert "has no kadence.toml" in refused(kadence("specialize", tmp_path / "nowhere"))


def test_the_command_refuses_too_few_rounds(
    kadence: Callable[..., Any], refused: Callable[[Any], str], tmp_path: Path
) -> None:
    written(tmp_path, MINIMAL)
    output = tmp_path / "output"
    complaint = refused(kadence("specialize", tmp_path, "-o", output, "--rounds", 6))
    assert "6 rounds are too few" in complaint
    assert not output.exists()


def test_the_command_refuses_to_work_where_something_else_is(
    kadence: Callable[..., Any], refused: Callable[[Any], str], tmp_path: Path
) -> None:
    (tmp_path / "p").mkdir()
    folder = written(tmp_path / "p", MINIMAL)
    (tmp_path / "mine/source").mkdir(parents=True)
    (tmp_path / "file").touch()
    for output, complaint in (("p", "own folder"), ("mine", "Kadence's"), ("file", "not a folder")):
        said = refused(kadence("specialize", folder, "-o", tmp_path / output))
        assert complaint in said
        assert "-o" in said
    assert (tmp_path / "mine/source").is_dir()


def test_the_command_refuses_to_work_beside_another(
    kadence: Callable[..., Any], refused: Callable[[Any], str], tmp_path: Path
) -> None:
    (tmp_path / "p").mkdir()
    output = tmp_path / "output"
    with stages.alone_in(output):
        Stages(output)
        said = refused(kadence("specialize", written(tmp_path / "p", MINIMAL), "-o", output))
    assert "another kadence is running in" in said
