# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds with other flags: only where the program's own way of building takes them."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kadence.base.stages import Stages
from kadence.measurement.measure import PLAIN
from kadence.program import program
from kadence.program.places import Places
from kadence.specialize.line import Line
from kadence.tune.candidates import Candidate, KernelWish
from kadence.tune.makes import Makes, own_options, producers
from kadence.tune.runs import RefusedError

SOURCE = '#include <stdio.h>\nint main(void) { puts("same"); return 0; }\n'
TAKES = "CFLAGS ?= -O1 -g -fno-strict-aliasing\np: p.c\n\t$(CC) $(CFLAGS) -o $@ $<\n"
SETS = "CFLAGS = -O1 -g\np: p.c\n\t$(CC) $(CFLAGS) -o $@ $<\n"
BREAKS = TAKES + "ifneq ($(findstring O3,$(CFLAGS)),)\n$(error no)\nendif\n"
TOML = """\
[program]
name = "p"
[build]
command = "make"
[run]
command = ["./p"]
[check]
command = ["./p"]
"""

Make = Callable[[str], Makes]


@pytest.fixture
def makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """The stages of a program with this makefile, up to its plain build."""
    for name in ("CFLAGS", "LDFLAGS"):
        monkeypatch.delenv(name, raising=False)

    def make(makefile: str) -> Makes:
        folder = tmp_path / "p"
        folder.mkdir()
        for name, text in (("p.c", SOURCE), ("Makefile", makefile), ("kadence.toml", TOML)):
            (folder / name).write_text(text)
        places = Places(tmp_path / "out", "p")
        line = Line(program.read(folder), places, Stages(places.output))
        source_key = line.copied()
        line.built(PLAIN, source_key, None)
        return Makes(line, source_key, None, "")

    return make


def flagged(flags: str, name: str = "c") -> Candidate:
    return Candidate(name, "compiler", "s", flags=flags)


def test_flags_follow_those_of_the_makefile(makes: Make) -> None:
    made = makes(TAKES)
    contestant = made.contestant(flagged("-O3 -funroll-loops"))
    (producer,) = producers(contestant.folder)
    words = producer.split()
    assert words.index("-O1") < words.index("-O3")
    assert {"-fno-strict-aliasing", "-funroll-loops"} <= set(words)
    ran = subprocess.run([contestant.folder / "p"], capture_output=True, check=True)
    assert ran.stdout == b"same\n"
    assert made.variables("-O3") == {"CFLAGS": "-g -O1 -fno-strict-aliasing -O3"}


def test_a_makefile_that_sets_its_own_flags_is_respected(makes: Make) -> None:
    made = makes(SETS)
    with pytest.raises(RefusedError, match="CFLAGS of the environment do not reach"):
        made.contestant(flagged("-O3"))


def test_a_build_that_fails_is_refused_with_its_log(makes: Make) -> None:
    made = makes(BREAKS)
    with pytest.raises(RefusedError, match=r"`make` ended with status 2 .*/build-\w+\.log"):
        made.contestant(flagged("-O3"))


def test_equal_flags_are_built_once(makes: Make) -> None:
    made = makes(TAKES)
    first = made.contestant(flagged("-O3", "one")).folder
    (first / "mark").write_text("")
    assert made.contestant(flagged("-O3", "two")).folder == first
    assert (first / "mark").exists()


def test_link_time_optimisation_reaches_the_linker(makes: Make) -> None:
    made = makes(TAKES)
    assert made.variables("-flto")["LDFLAGS"] == "-flto"
    folder = made.contestant(flagged("-flto")).folder
    assert any("-flto" in producer or "GIMPLE" in producer for producer in producers(folder))


def test_a_setting_of_the_environment_needs_no_build(makes: Make) -> None:
    made = makes(TAKES)
    candidate = Candidate("e", "allocator", "s", environment={"X": "1"})
    assert made.contestant(candidate).folder == made.plain().folder


def test_an_adapted_candidate_without_a_plan_runs_the_plain_program(makes: Make) -> None:
    made = makes(TAKES)
    kernel = Candidate("k", "kernel", "s", program="adapted", kernel=KernelWish("um", hz=24))
    request = made.request(kernel)
    assert (request.kind, request.target, request.hz) == ("generic", "um", 24)
    assert made.request(
        Candidate("x", "kernel", "s", kernel=KernelWish("x86_64", mitigations=True))
    ).checked()


def test_a_file_that_is_no_program_tells_no_options(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("text")
    (tmp_path / "damaged").write_bytes(b"\x7fELF\x02\x01" + bytes(90))
    assert list(producers(tmp_path)) == []
    assert list(producers(Path(shutil.which("sh") or "").parent / "no-such-folder")) == []


@pytest.mark.parametrize(
    ("found", "language", "options"),
    [
        (set(), "GNU C", "-O2 -g"),
        ({"GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O2"}, "GNU C", "-g -O2"),
        ({"GNU C17 12.2.0 -O2 -fno-a", "GNU C17 12.2.0 -O3 -fno-a"}, "GNU C", "-g -fno-a"),
        ({"GNU C++17 12.2.0 -O3", "GNU C17 12.2.0 -O1"}, "GNU C++", "-g -O3"),
        (
            {"GNU Fortran2008 12.2.0 -O3 -fPIC -fpre-include=f.h"},
            "GNU Fortran",
            "-g -O3 -fPIC",
        ),
        ({"GNU C17 12.2.0 -O2"}, "GNU Fortran", "-O2 -g"),
        ({"rustc 1.70"}, "GNU C", "-O2 -g"),
    ],
)
def test_options_that_all_units_have(found: set[str], language: str, options: str) -> None:
    assert own_options(found, language) == options
