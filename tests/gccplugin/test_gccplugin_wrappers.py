# SPDX-License-Identifier: GPL-2.0-or-later
"""kadence-cc, kadence-c++ and kadence-fc can replace the compilers that they call."""

import os
import re
import shutil
from pathlib import Path

import pytest
from compilers import GCC, RELEASE
from workshop import COMPILERS, Completed, Workshop, marker

from kadence.base.resources import built

WRAPPERS = {".c": "kadence-cc", ".cc": "kadence-c++", ".f90": "kadence-fc"}
PROGRAMS = {".c": "loops.c", ".cc": "classes.cc", ".f90": "modules.f90"}
FIRING = {".c": "straight", ".cc": "_ZL7carefuli", ".f90": "__work_MOD_fill"}
COUNTS = {".c": {0: 12}, ".cc": {0: 10}, ".f90": {0: 3}}
HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'


class Shop(Workshop):
    """A workshop with the wrappers and, in libkadapt's place, a library that counts phase calls."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.parts = directory / "the parts"
        for part in "bin", "gccplugin":
            shutil.copytree(built(part), self.parts / part)
        (self.parts / "kadapt").mkdir()
        self.run("ar", "rc", self.parts / "kadapt/libkadapt.a", self.counting_stub())
        for name in "io", "io-static", "memory", "memory-static":
            self.run("ar", "rc", self.parts / f"kadapt/libkadapt-{name}.a")

    def wrapped(
        self, wrapper: str, *arguments: object, check: bool = True, **env: str
    ) -> Completed:
        """Run a wrapper; removes mode and plan of the caller's environment."""
        settings = {"KADENCE_MODE": "", "KADENCE_PLAN": ""} | env
        return self.run(self.parts / "bin" / wrapper, *arguments, check=check, **settings)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.mark.parametrize("suffix", WRAPPERS)
def test_plain_mode_records_functions_and_lines_and_links_nothing_else(
    shop: Shop, suffix: str
) -> None:
    source = shop.source(PROGRAMS[suffix])
    shop.wrapped(WRAPPERS[suffix], "-O2", source, "-o", "program")
    assert FIRING[suffix] in shop.records("program")
    assert ".debug_line" in shop.run("readelf", "--sections", "--wide", "program").stdout
    assert "kadapt" not in shop.run("nm", "program").stdout
    shop.run(COMPILERS[suffix], "-O2", source, "-o", "original")
    assert shop.run("./program").stdout == shop.run("./original").stdout


@pytest.mark.parametrize(
    ("flags", "said"),
    [("", "1 0"), ("-UVALUE -DVALUE=2*3", "6 0"), ("-UHOW -DHOW=__OPTIMIZE__ -O3", "1 1")],
)
def test_flags_come_after_all_other_options(shop: Shop, flags: str, said: str) -> None:
    """The last -D and the last -O win, and a star does not stand for names of files."""
    source = '#include <stdio.h>\nint main(void) { return printf("%d %d\\n", VALUE, HOW) < 0; }\n'
    (shop.directory / "said.c").write_text(source)
    own = ["-O0", "-UVALUE", "-DVALUE=1", "-DHOW=0"]
    shop.wrapped("kadence-cc", "said.c", *own, "-o", "program", KADENCE_FLAGS=flags)
    assert shop.run("./program").stdout.strip() == said


@pytest.mark.parametrize("suffix", WRAPPERS)
def test_adapt_mode_announces_the_plans_phases(shop: Shop, suffix: str) -> None:
    plan = str(shop.plan(marker(FIRING[suffix])))
    source = shop.source(PROGRAMS[suffix])
    shop.wrapped(WRAPPERS[suffix], "-O2", source, "-o", "program", KADENCE_PLAN=plan)
    assert shop.firings() == COUNTS[suffix]
    assert ".debug_line" not in shop.run("readelf", "--sections", "--wide", "program").stdout
    assert FIRING[suffix] in shop.records("program")


def test_adapt_mode_aligns_the_loops_of_marked_functions_alone(shop: Shop) -> None:
    """Other functions stay as in a plain program. The user's alignment options take precedence.

    GCC 14 aligns some loops to a cache line itself.
    """
    plan = str(shop.plan(marker("nested")))
    source = shop.source("loops.c")
    for options, expected in (
        (["-O2", "-fno-inline"], {"nested"}),
        (["-O2", "-fno-inline", "-falign-loops=16"], set()),
        (["-O2", "-fno-inline", "-fno-align-loops"], set()),
        (["-O0"], set()),
    ):
        shop.wrapped("kadence-cc", *options, "-S", source, "-o", "f.s", KADENCE_PLAN=plan)
        shop.run(GCC, *options, "-S", source, "-o", "plain.s")
        found, own = (
            aligned_functions((shop.directory / name).read_text()) for name in ("f.s", "plain.s")
        )
        assert found - own == expected


def aligned_functions(assembly: str) -> set[str]:
    """The functions in which something is aligned to a cache line."""
    function, found = "", set()
    for line in assembly.splitlines():
        if line.startswith("\t.type\t") and line.endswith("@function"):
            function = re.split("[.,]", line.split("\t")[2])[0]
        if line.startswith("\t.p2align 6"):
            found.add(function)
    return found


def test_mode_is_adapt_where_there_is_a_plan_unless_named(shop: Shop) -> None:
    plan = str(shop.plan(marker("main")))
    shop.source("hello.c", HELLO)
    for mode, fires in {"": {0: 1}, "adapt": {0: 1}, "plain": {}}.items():
        shop.wrapped("kadence-cc", "hello.c", "-o", "program", KADENCE_PLAN=plan, KADENCE_MODE=mode)
        assert shop.firings() == fires


LINKS = {
    "one step": "hello.c -o program",
    "default output": "hello.c",
    "joined output": "-oprogram hello.c",
    "language by option": "-x c hello.c -o program",
    "static": "-static hello.c -o program",
    "link time": "-O2 -flto hello.c -o program",
    "no standard libraries": "hello.c -nodefaultlibs -lc -o program",
    "nothing by default": "-nostdlib {crt} hello.c -lc {crtn} -o program",
    "response file": "@options",
    "verbose": "-v hello.c -o program",
    "pipe": "-pipe hello.c -o program",
    "group at the end": "-Wl,--start-group hello.c -Wl,--end-group -o program",
    "sanitised": "-fsanitize=undefined hello.c -o program",
    "other linker": "-fuse-ld=gold hello.c -o program",
}


@pytest.mark.parametrize("line", LINKS.values(), ids=LINKS.keys())
def test_every_form_of_linking_finds_the_library(shop: Shop, line: str) -> None:
    plan = str(shop.plan(marker("main")))
    shop.source("hello.c", HELLO)
    (shop.directory / "options").write_text("hello.c\n-o program\n")
    names = {"crt": "crt1.o", "crtn": "crtn.o"}
    found = {
        name: shop.run(GCC, f"-print-file-name={file}").stdout.strip()
        for name, file in names.items()
    }
    line = line.format(
        crt=found["crt"] + " " + found["crt"].replace("crt1", "crti"), **{"crtn": found["crtn"]}
    )
    options = line.split()
    if "-nostdlib" in options:
        options.append("-no-pie")
    shop.wrapped("kadence-cc", *options, KADENCE_PLAN=plan)
    program = "./program" if (shop.directory / "program").exists() else "./a.out"
    assert shop.run(program).stdout == "hello\n"
    assert shop.firings(program) == {0: 1}


def test_separate_compilation_partial_links_archives_and_shared_libraries(shop: Shop) -> None:
    plan = str(shop.plan(marker("one"), marker("two"), marker("three"), marker("main")))
    for name in "one", "two", "three":
        shop.source(f"{name}.c", f"int {name}(void) {{ return 0; }}\n")
    calls = "one() + two() + three()"
    shop.source(
        "main.c",
        f"int one(void), two(void), three(void);\nint main(void) {{ return {calls}; }}\n",
    )

    def adapted(*arguments: object) -> None:
        shop.wrapped("kadence-cc", "-fPIC", *arguments, KADENCE_PLAN=plan)

    adapted("-c", "one.c", "two.c", "three.c", "main.c")
    adapted("-r", "-nostdlib", "one.o", "-o", "part1.o")
    adapted("-r", "two.o", "-o", "part2.o")
    assert "T kadapt_phase_enter" not in shop.run("nm", "part1.o", "part2.o").stdout
    shop.run("ar", "rc", "libparts.a", "part1.o", "part2.o")
    adapted("-shared", "three.o", "-o", "libthree.so", "-Wl,-z,defs")
    adapted("main.o", "libparts.a", "libthree.so", "-Wl,-rpath,$ORIGIN", "-o", "program")
    assert shop.firings() == {0: 4}


def test_options_that_compile_nothing_are_the_compilers_own(shop: Shop) -> None:
    plan = str(shop.plan(marker("main")))
    for option in "--version", "-dumpversion", "-dumpmachine", "-print-prog-name=ld", "-v":
        expected = shop.run(GCC, option)
        for environment in {}, {"KADENCE_PLAN": plan}:
            told = shop.wrapped("kadence-cc", option, **environment)
            assert told.stdout == expected.stdout
            assert expected.stderr.splitlines()[-1:] == told.stderr.splitlines()[-1:]
    for option in "-E", "-M", "-fsyntax-only":
        shop.source("hello.c", HELLO)
        shop.wrapped("kadence-cc", option, "hello.c", KADENCE_PLAN=plan)
    assert not (shop.directory / "a.out").exists()


def test_exit_status_and_diagnostics_are_the_compilers_own(shop: Shop) -> None:
    shop.source("bad.c", "int f(void) { return x; }\n")
    expected = shop.run(GCC, "-c", "bad.c", check=False)
    told = shop.wrapped("kadence-cc", "-c", "bad.c", check=False)
    assert (told.returncode, told.stderr) == (expected.returncode, expected.stderr)
    assert shop.wrapped("kadence-cc", check=False).stderr == shop.run(GCC, check=False).stderr


def test_own_debug_options_come_after_those_of_plain_mode(shop: Shop) -> None:
    shop.source("hello.c", HELLO)
    shop.wrapped("kadence-cc", "-g0", "-c", "hello.c")
    assert ".debug" not in shop.run("readelf", "--sections", "--wide", "hello.o").stdout


def test_input_from_standard_input(shop: Shop) -> None:
    shop.source("hello.c", HELLO)
    wrapper = shop.parts / "bin/kadence-cc"
    shop.run("sh", "-c", f"'{wrapper}' -x c - -o program <hello.c", KADENCE_PLAN="")
    assert shop.run("./program").stdout == "hello\n"


def test_wrappers_are_found_through_links_and_path(shop: Shop) -> None:
    plan = str(shop.plan(marker("main")))
    shop.source("hello.c", HELLO)
    (shop.directory / "links").mkdir()
    (shop.directory / "links/kadence-cc").symlink_to("../the parts/bin/kadence-cc")
    (shop.directory / "links/cc").symlink_to("kadence-cc")
    for command in "./links/kadence-cc", "./links/cc":
        shop.run(command, "hello.c", "-o", "program", KADENCE_PLAN=plan, KADENCE_MODE="")
        assert shop.firings() == {0: 1}
    line = 'PATH="$PWD/links:$PATH" kadence-cc hello.c -o program'
    shop.run("sh", "-c", line, KADENCE_PLAN=plan, KADENCE_MODE="")
    assert shop.firings() == {0: 1}


def test_unchanged_makefile(shop: Shop) -> None:
    plan = str(shop.plan(marker("main")))
    shop.source("hello.c", HELLO)
    shop.source("Makefile", "CFLAGS = -O2\nhello: hello.o\n")
    wrapper = str(shop.parts / "bin/kadence-cc").replace(" ", "\\ ")
    shop.run("make", f"CC={wrapper}", "hello", KADENCE_PLAN=plan, KADENCE_MODE="")
    assert shop.firings("./hello") == {0: 1}


def test_compiler_cache_behind_the_wrapper_keeps_plans_apart(shop: Shop) -> None:
    if not Path(f"/usr/lib/ccache/{GCC}").exists():
        pytest.skip(f"ccache's links for {GCC} are not installed")
    shop.source("hello.c", HELLO)
    line = 'PATH="/usr/lib/ccache:$PATH" "the parts/bin/kadence-cc" -c hello.c -o hello.o'
    cache = str(shop.directory / "cache")
    for name, marked in ("main", True), ("other", False), ("main", True):
        plan = str(shop.plan(marker(name)))
        shop.run("sh", "-c", line, KADENCE_PLAN=plan, KADENCE_MODE="", CCACHE_DIR=cache)
        assert ("kadapt_phase_enter" in shop.run("nm", "hello.o").stdout) == marked
    statistics = shop.run("ccache", "--print-stats", CCACHE_DIR=cache).stdout
    hits = [line.split() for line in statistics.splitlines() if "_cache_hit" in line]
    assert sum(int(count) for _, count in hits) >= 1


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"KADENCE_MODE": "fast"}, "KADENCE_MODE is 'fast'"),
        ({"KADENCE_MODE": "adapt"}, "KADENCE_PLAN is not set"),
        ({"PATH": "/nonexistent"}, f"{GCC} is not on PATH"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(
    shop: Shop, settings: dict[str, str], complaint: str
) -> None:
    shop.source("hello.c", HELLO)
    completed = shop.wrapped("kadence-cc", "-c", "hello.c", check=False, **settings)
    assert completed.returncode == 1
    assert completed.stderr.startswith("kadence-cc: ")
    assert complaint in completed.stderr
    assert len(completed.stderr.splitlines()) == 1
    assert not (shop.directory / "hello.o").exists()


@pytest.mark.parametrize("named", [f"/usr/bin/{GCC}", f"env LC_ALL=C {GCC}", f"ccache {GCC}"])
def test_another_compiler_of_the_release_is_taken(shop: Shop, named: str) -> None:
    plan = str(shop.plan(marker("main")))
    shop.source("hello.c", HELLO)
    shop.wrapped("kadence-cc", "hello.c", "-o", "program", KADENCE_CC=named, KADENCE_PLAN=plan)
    assert shop.firings() == {0: 1}


@pytest.mark.parametrize(
    ("named", "banner", "version", "complaint"),
    [
        ("clang", "Debian clang version 14.0.6", "14.0.6", "which is not GCC"),
        ("gcc-99", "gcc 99.1.0; Free Software Foundation", "99.1.0", "make plugin GCC=99"),
        ("kadence-cc", "", "", "which is Kadence's"),
        ("no-such-compiler", "", "", "is not on PATH"),
    ],
)
def test_a_compiler_without_a_plugin_is_refused_by_name(
    shop: Shop, named: str, banner: str, version: str, complaint: str
) -> None:
    shop.source("hello.c", HELLO)
    if not named.startswith("no-"):
        answers = f"case $1 in -dumpversion) echo {version} ;; *) echo '{banner}' ;; esac"
        (shop.directory / named).write_text(f"#!/bin/sh\n{answers}\n")
        (shop.directory / named).chmod(0o755)
    completed = shop.wrapped(
        "kadence-cc",
        *("hello.c", "-o", "program"),
        check=False,
        KADENCE_CC=named,
        PATH=f"{shop.directory}:{os.environ['PATH']}",
    )
    assert completed.returncode == 1
    assert completed.stderr.startswith("kadence-cc: ")
    assert complaint in completed.stderr
    assert len(completed.stderr.splitlines()) == 1
    assert not (shop.directory / "program").exists()


@pytest.mark.parametrize(
    ("part", "named"),
    [
        (
            f"gccplugin/{RELEASE}/kadence.so",
            f"no plugin was built for {GCC}, which is GCC {RELEASE}",
        ),
        ("kadapt/libkadapt.a", "libkadapt.a is missing"),
    ],
)
def test_missing_parts_are_named(shop: Shop, part: str, named: str) -> None:
    (shop.parts / part).unlink()
    plan = str(shop.plan(marker("main")))
    shop.source("hello.c", HELLO)
    completed = shop.wrapped("kadence-cc", "hello.c", check=False, KADENCE_PLAN=plan)
    assert completed.returncode == 1
    assert named in completed.stderr
    assert len(completed.stderr.splitlines()) == 1


def test_plan_for_another_schema_stops_the_build(shop: Shop) -> None:
    plan = str(shop.plan(schema="kadence.phases"))
    shop.source("hello.c", HELLO)
    completed = shop.wrapped("kadence-cc", "hello.c", check=False, KADENCE_PLAN=plan)
    assert completed.returncode == 1
    assert "is of schema kadence.phases" in completed.stderr


def test_a_plan_for_another_program_is_said_when_it_is_linked(shop: Shop) -> None:
    plan = str(shop.plan(marker("nowhere_in_here")))
    source = shop.directory / "hello.c"
    source.write_text(HELLO)
    completed = shop.wrapped("kadence-cc", source, "-o", "hello", KADENCE_PLAN=plan)
    assert "none of the markers" in completed.stderr
    assert len(completed.stderr.splitlines()) == 1
    assert shop.run("./hello").stdout == "hello\n"
    for unlinked in (["-c"], ["-shared", "-fPIC"], ["-E"]):
        arguments = [*unlinked, source, "-o", "part"]
        assert shop.wrapped("kadence-cc", *arguments, KADENCE_PLAN=plan).stderr == ""


def test_a_plan_for_this_program_links_without_a_word(shop: Shop) -> None:
    plan = str(shop.plan(marker(FIRING[".c"])))
    source = shop.source(PROGRAMS[".c"])
    completed = shop.wrapped("kadence-cc", source, "-o", "program", KADENCE_PLAN=plan)
    assert completed.stderr == ""
