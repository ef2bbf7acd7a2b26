# SPDX-License-Identifier: GPL-2.0-or-later
"""The section .kadence.cfg: the tests compare it with comments in the test programs, the marks."""

import re
from pathlib import Path

import pytest
from compilers import GCC
from torture import without_records
from workshop import COMPILERS, PROGRAMS, Recorded, Workshop, marker

LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]
MARK = re.compile(r"(?:/\*|//|! )\s*(\w+)(?: (\d+))?(?: \*/)?$")

# Assembler name -> name in the mark.
CLASSES = {
    "_ZN5shapeC1Ev": "shape",
    "_ZN5shapeC2Ev": "shape",
    "_ZNK6square4areaEi": "area",
    "_ZL7carefuli": "careful",
    "_ZN5guardD1Ev": "guard",
    "_ZL8attemptsi": "attempts",
    "_Z6sum_ofIiET_RKSt6vectorIS0_SaIS0_EE": "sum_of",
    "_Z6sum_ofIdET_RKSt6vectorIS0_SaIS0_EE": "sum_of",
    "_ZZ4mainENKUliE_clEi": "twice",
    "main": "main",
}
MODULES = {
    "__work_MOD_fill": "fill",
    "__work_MOD_depth": "depth",
    "inner.0": "inner",
    "MAIN__": "main",
}


def marks(program: str) -> tuple[dict[str, int], dict[str, list[tuple[int, int]]]]:
    """Function -> its line, and function -> line and depth of each of its loops, by line."""
    functions: dict[str, int] = {}
    loops: dict[str, list[tuple[int, int]]] = {}
    for number, line in enumerate((PROGRAMS / program).read_text().splitlines(), 1):
        found = MARK.search(line)
        if found and found[2]:
            loops.setdefault(found[1], []).append((number, int(found[2])))
        elif found:
            functions[found[1]] = number
    return functions, loops


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("program", "names"),
    [("loops.c", None), ("classes.cc", CLASSES), ("modules.f90", MODULES)],
    ids=["c", "c++", "fortran"],
)
def test_functions_and_loops_are_those_of_the_source(
    workshop: Workshop, program: str, names: dict[str, str] | None, level: str
) -> None:
    workshop.compile(workshop.source(program), "-c", level, "-o", "object.o")
    records = workshop.records("object.o")
    functions, loops = marks(program)
    for symbol, name in (names or {name: name for name in functions}).items():
        assert Path(records[symbol].file).name == program
        assert records[symbol].line == functions[name], symbol
        if symbol != "interpret":  # the compiler makes its loop, which has no line
            assert sorted(records[symbol].loops) == loops.get(name, []), symbol


def test_nothing_but_the_programs_functions_is_recorded(workshop: Workshop) -> None:
    workshop.compile(workshop.source("loops.c"), "-c", "-O2", "-o", "object.o")
    assert set(workshop.records("object.o")) == set(marks("loops.c")[0])


@pytest.mark.parametrize("program", ["loops.c", "classes.cc", "modules.f90"])
def test_records_are_equal_between_runs_with_debug_information_and_in_adapt_mode(
    workshop: Workshop, program: str
) -> None:
    source = workshop.source(program)

    def recorded(*options: str, **more: object) -> dict[str, Recorded]:
        workshop.compile(source, "-c", "-O2", "-o", "object.o", *options, **more)
        return workshop.records("object.o")

    first = recorded()
    assert recorded() == first
    assert recorded("-g3") == first
    markers = [marker(name, 0) for name in first]
    markers += [marker(name, 1, loop=0) for name, found in first.items() if found.loops]
    assert recorded(plan=workshop.plan(*markers)) == first
    assert recorded(arguments=["mark-all"]) == first


def test_checksum_differs_when_control_flow_changes_only(workshop: Workshop) -> None:
    def checksum(body: str) -> str:
        text = f"int f(int x)\n{{\n{body}\nreturn x;\n}}\n"
        workshop.compile(workshop.source("f.c", text), "-c", "-O2", "-o", "f.o")
        return workshop.records("f.o")["f"].checksum

    loop = "for (int i = 0; i < 9; i++) x += i * x;"
    assert checksum(loop) == checksum("\n\n" + loop)
    assert checksum(loop) == checksum(loop.replace("9", "10"))
    variants = ["", "if (x) x++;", loop, f"if (x) {loop}", loop + loop, loop + "if (x) x++;"]
    assert len({checksum(variant) for variant in variants}) == len(variants)


def test_linker_concatenates_the_section_and_does_not_load_it(workshop: Workshop) -> None:
    for name in "one", "two":
        workshop.source(f"{name}.c", f"int {name}(void) {{ return 0; }}\n")
        workshop.compile(f"{name}.c", "-c", "-o", f"{name}.o")
    workshop.source("main.c", "int main(void) { return 0; }\n")
    workshop.compile("main.c", "one.o", "two.o", "-o", "program")
    assert set(workshop.records("program")) == {"main", "one", "two"}
    sections = workshop.run("readelf", "--sections", "--wide", "program").stdout
    (line,) = [line for line in sections.splitlines() if ".kadence.cfg" in line]
    # Name, type, address 0, offset, size, entry size 0, no flags.
    assert re.search(r"\.kadence\.cfg\s+PROGBITS\s+0+ \w+ \w+ 00\s+0\s+0\s+1$", line), line


@pytest.mark.parametrize("options", [[], ["-ffat-lto-objects"]], ids=["slim", "fat"])
def test_section_survives_link_time_optimisation(workshop: Workshop, options: list[str]) -> None:
    source = workshop.source("loops.c")
    workshop.compile(source, "-c", "-O2", "-g", "-o", "object.o")
    expected = workshop.records("object.o")
    workshop.compile(source, "-c", "-O2", "-g", "-flto", *options, "-o", "object.o")
    workshop.run(GCC, "-O2", "-g", "-flto", "object.o", "-o", "program")
    assert workshop.records("program") == expected
    assert workshop.run("./program").stdout == "170\n"


def test_fat_object_linked_without_the_link_time_optimiser_keeps_its_section(
    workshop: Workshop,
) -> None:
    source = workshop.source("loops.c")
    workshop.compile(source, "-c", "-O2", "-flto", "-ffat-lto-objects", "-o", "object.o")
    workshop.run(GCC, "-fno-lto", "object.o", "-o", "program")
    assert "main" in workshop.records("program")


def test_names_with_separators_do_not_break_the_records(workshop: Workshop) -> None:
    source = workshop.source('a "b"\\\t\rü.c', "int f(int x) { while (x) x--; return x; }\n")
    workshop.compile(source.name, "-c", "-o", "object.o")
    assert workshop.records("object.o")["f"].file == 'a "b"\\??ü.c'


def test_paths_follow_file_prefix_map(workshop: Workshop) -> None:
    source = workshop.source("f.c", "int f(void) { return 0; }\n")
    mapping = f"-ffile-prefix-map={workshop.directory}=/usr/src"
    workshop.compile(source, "-c", mapping, "-o", "object.o")
    assert workshop.records("object.o")["f"].file == "/usr/src/f.c"


def test_symbol_renamed_by_the_programmer_is_recorded_as_in_the_symbol_table(
    workshop: Workshop,
) -> None:
    text = 'int f(void) __asm__("renamed");\nint f(void) { return 0; }\n'
    workshop.compile(workshop.source("f.c", text), "-c", "-o", "object.o")
    assert set(workshop.records("object.o")) == {"renamed"}


def test_body_offered_for_inlining_only_is_not_recorded(workshop: Workshop) -> None:
    text = "extern inline __attribute__((gnu_inline)) int f(int x) { return x; }\n"
    text += "int g(int x) { return f(x); }\n"
    workshop.compile(workshop.source("f.c", text), "-c", "-O2", "-o", "object.o")
    assert set(workshop.records("object.o")) == {"g"}


@pytest.mark.parametrize("level", [*LEVELS, "-Og", "-O2 -g", "-O2 -fPIC", "-O3 -fopenmp"])
@pytest.mark.parametrize("program", ["loops.c", "classes.cc", "modules.f90"])
def test_code_is_the_same_with_and_without_the_plugin(
    workshop: Workshop, program: str, level: str
) -> None:
    source = workshop.source(program)
    # Without -gno-record-gcc-switches, debug information would contain the plugin's options.
    options = [*level.split(), "-gno-record-gcc-switches", "-S", "-o", "text.s"]
    workshop.run(COMPILERS[source.suffix], source, *options)
    plain = (workshop.directory / "text.s").read_text()
    workshop.compile(source, *options)
    recorded = (workshop.directory / "text.s").read_text()
    assert recorded != plain
    assert without_records([recorded]) == [plain]


@pytest.mark.parametrize("option", ["-E", "-fsyntax-only", "-M", "--help=optimizers"])
def test_modes_that_make_no_object_still_work(workshop: Workshop, option: str) -> None:
    assert workshop.compile(workshop.source("loops.c"), option).stderr == ""


def test_precompiled_headers_and_assembler_inputs_still_work(workshop: Workshop) -> None:
    workshop.source("all.h", "static inline int twice(int x) { return 2 * x; }\n")
    workshop.source("f.c", '#include "all.h"\nint f(int x) { return twice(x); }\n')
    plugin_options = ("-O2", "-Winvalid-pch", "-Werror")
    workshop.compile("all.h", "-x", "c-header", "-o", "all.h.gch", *plugin_options)
    workshop.compile("f.c", "-c", "-o", "f.o", *plugin_options)
    assert "f" in workshop.records("f.o")
    workshop.compile("f.c", "-S", "-pipe", "-o", "g.s")
    workshop.run(GCC, "-c", "g.s", "-o", "g.o")
    assert "f" in workshop.records("g.o")
