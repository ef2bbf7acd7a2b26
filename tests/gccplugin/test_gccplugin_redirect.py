# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin redirects calls of the C library at the plan's I/O sites, and no other calls."""

import re
from typing import Any

import pytest
from compilers import GCC
from workshop import PROGRAMS, Workshop, marker

from kadence.phases.describe import io_calls

# Statement -> the function that it calls.
STATEMENTS = {
    "write(1, text, size)": "write",
    "writev(1, pieces, 2)": "writev",
    "fflush(stream)": "fflush",
    "fflush_unlocked(stream)": "fflush_unlocked",
}
# Not redirected: streams without flushes write large pieces already, and rings for sockets and
# reads did not pay (docs/io.md).
OTHERS = {
    "pwrite(1, text, size, 7)": "pwrite",
    "send(1, text, size, 0)": "send",
    "read(0, text, size)": "read",
    "fwrite(text, 1, size, stream)": "fwrite",
    "fputs(text, stream)": "fputs",
    "putc(size, stream)": "putc",
    'printf("%d %s", 3, text)': "printf",
    'fprintf(stream, "%d %s", 3, text)': "fprintf",
    "fclose(stream)": "fclose",
}
HEADERS = """
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
"""


def function(statement: str) -> str:
    return (
        f"{HEADERS}void f(char *text, size_t size, FILE *stream, struct iovec *pieces)\n"
        f"{{\n\t(void)({statement});\n}}\n"
    )


def site(name: str | None, **changes: Any) -> dict[str, Any]:
    """An I/O site in the form in which a plan contains it."""
    return {"phase": 0, "function": name, "file": None, "line": None, "calls": []} | changes


def paths(*sites: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The plan's member `io`."""
    return {"mode": "strict", "reason": None, "streams": False, "sites": list(sites)} | changes


def undefined(workshop: Workshop, name: str = "f.o") -> set[str]:
    """The undefined symbols of an object."""
    return set(workshop.run("nm", "-u", "-j", name).stdout.split())


def redirected(workshop: Workshop, text: str, *options: str, name: str = "f.c") -> set[str]:
    """Compile a unit and redirect every call that can be; returns its undefined symbols."""
    source = workshop.source(name, text)
    workshop.compile(
        source, "-c", "-w", "-o", "f.o", "-fchecking", *options, arguments=["redirect-all"]
    )
    return undefined(workshop)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(("statement", "name"), STATEMENTS.items())
def test_a_call_becomes_its_counterpart(
    workshop: Workshop, statement: str, name: str, level: str
) -> None:
    for protection in "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2":
        assert redirected(workshop, function(statement), level, protection) == {f"kadapt_{name}"}


@pytest.mark.parametrize(("statement", "name"), OTHERS.items())
def test_other_calls_stay(workshop: Workshop, statement: str, name: str) -> None:
    found = redirected(workshop, function(statement), "-fno-builtin", "-D__NO_INLINE__")
    assert found - {"stdout"} == {name}


def test_every_call_of_the_table_is_tested() -> None:
    assert set(STATEMENTS.values()) == io_calls.REDIRECTED
    assert {"write", "send"} == io_calls.BATCHED


LEFT_ALONE = {
    "its own, static": "static long write(int a, const void *b, unsigned long c)"
    "{ return a + c + (long)b; }\nlong f(int x) { return write(x, 0, 1); }",
    "its own, global": "long write(int a, const void *b, unsigned long c) { return a + c; }\n"
    "long f(int x) { return write(x, 0, 1); }",
    "through a pointer": "#include <unistd.h>\nssize_t (*volatile by)(int, const void *, size_t)"
    " = write;\nlong f(void) { return by(1, 0, 1); }",
    "a member": "struct log { long (*write)(int, const void *, unsigned long); };\n"
    "long f(struct log *log) { return log->write(1, 0, 1); }",
}


@pytest.mark.parametrize("text", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_what_is_not_the_librarys_call_is_left_alone(workshop: Workshop, text: str) -> None:
    for level in "-O0", "-O2":
        assert not any("kadapt" in name for name in redirected(workshop, text, level))


@pytest.mark.parametrize(
    "declaration",
    [
        "int write(int, const char *, int);",
        "long write();",
        "void write(int, const void *, unsigned long);",
        "long write(int, const void *, unsigned long, int);",
        "long write(int, const void *, unsigned long, ...);",
        "long write(double, const void *, unsigned long);",
    ],
)
def test_a_call_declared_otherwise_is_skipped_with_a_warning(
    workshop: Workshop, declaration: str
) -> None:
    text = f"{declaration}\nvoid f(void) {{ write(1, 0, 1{', 2' * ('int)' in declaration)}); }}\n"
    text = text.replace("0, 1, 2)", "0, 1)") if "int, const char" in declaration else text
    source = workshop.source("f.c", text)
    options = ["-c", "-o", "f.o", "-Werror", "-Wno-builtin-declaration-mismatch"]
    options += ["-std=gnu17"]  # in C23, a function without parameters has none
    told = workshop.compile(source, *options, arguments=["redirect-all"]).stderr
    assert told.count("warning:") == 1, told
    assert re.search(r"f\.c:2:\d+: warning: .*'write' is not redirected", told)
    assert undefined(workshop) == {"write"}


TWO = """
    #include <stdio.h>
    #include <unistd.h>
    void one(void) { write(1, "a", 1); fflush(0); }
    void two(void) { write(1, "c", 1); fflush(0); }
    static inline void inlined(void) { write(1, "e", 1); }
    void three(void) { inlined(); fflush(0); }
"""


def told_lines(workshop: Workshop, *sites: dict[str, Any], level: str = "-O2") -> list[int]:
    """The lines of TWO in which the plugin redirects a call."""
    source = workshop.source("src/two.c", TWO)
    told = workshop.compile(
        *(source, "-c", "-w", "-o", "f.o", level),
        plan=workshop.plan(io=paths(*sites)),
        arguments=["verbose"],
    ).stderr
    return [int(line) for line in re.findall(r"two\.c:(\d+):\d+: note: .*is redirected", told)]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_only_what_the_plan_names_is_redirected(workshop: Workshop, level: str) -> None:
    def lines(*sites: dict[str, Any]) -> list[int]:
        return told_lines(workshop, *sites, level=level)

    assert lines() == []
    assert lines(site("one")) == [4, 4]
    assert lines(site("one", calls=["write"]), site("two", calls=["fflush"])) == [4, 5]
    assert lines(site("one", file="src/two.c")) == [4, 4]
    assert lines(site("one", file="other.c")) == []
    assert lines(site(None, file="two.c", calls=["fflush"])) == [4, 5, 7]
    assert lines(site("one", line=5), site("two", line=5)) == [5, 5]
    assert lines(site("inlined")) == [6]
    assert lines(site("two.constprop.0")) == [5, 5]


def test_a_site_belongs_to_the_function_that_was_profiled(workshop: Workshop) -> None:
    told_lines(workshop, site("one"))
    checksum = workshop.records("f.o")["one"].checksum
    assert told_lines(workshop, site("one", cfg_checksum=checksum)) == [4, 4]
    stale = workshop.plan(io=paths(site("one", cfg_checksum="01234567"), site("two")))
    options = ["-c", "-o", "f.o", "-Wno-unused-result", "-Werror"]
    told = workshop.compile("src/two.c", *options, plan=stale).stderr
    assert told.count("warning:") == 1
    assert "the I/O site in function 'one' is skipped: the function changed" in told
    assert f"had checksum 01234567, now {checksum}" in told


def test_an_inlined_function_is_planned_under_its_own_name(workshop: Workshop) -> None:
    """And under the name of the function into which the compiler inlined it."""
    assert told_lines(workshop, site("inlined"), level="-O3") == [6]
    assert 7 in told_lines(workshop, site("three"), level="-O3")


@pytest.mark.parametrize("way", ["-O0", "-O2", "-O2 -flto", "-O2 -fPIC -shared"])
def test_a_unit_with_a_site_carries_the_plan_and_asks_for_interposition(
    workshop: Workshop, way: str
) -> None:
    anchors = "const int kadapt_io_anchor = 1, kadapt_filter_anchor = 1;\n"
    workshop.source("library.c", f"{anchors}long kadapt_write(void) {{ return 0; }}\n")
    source = workshop.source("f.c", '#include <unistd.h>\nint main(void) { write(1, "x", 1); }\n')
    plan = workshop.plan(io=paths(site("main"), streams=True))
    workshop.compile(source, "-w", "library.c", *way.split(), "-o", "program", plan=plan)
    symbols = workshop.run("nm", "program").stdout
    assert re.search(r" [VR] kadapt_plan$", symbols, re.MULTILINE)
    assert "kadapt_io_anchor" in symbols


def test_flags_say_what_is_planned(workshop: Workshop) -> None:
    reader = """
        #include <stdio.h>
        extern const unsigned kadapt_plan[];
        const int kadapt_io_anchor = 1, kadapt_filter_anchor = 1;
        void kadapt_phase_enter(unsigned phase) { (void)phase; }
        int main(void) { printf("%u %u\\n", kadapt_plan[2], kadapt_plan[3]); return 0; }
    """
    source = workshop.source("f.c", reader)
    wanted = {
        "1 0\n": paths(site("main", calls=["write"])),
        "3 0\n": paths(site("main", calls=["write"]), streams=True),
        "0 0\n": paths(mode="off"),
    }
    for told, io in wanted.items():
        plan = workshop.plan(marker("main"), io=io)
        workshop.compile(source, "-o", "program", plan=plan)
        assert workshop.run("./program").stdout == told


def test_a_plan_without_io_redirects_nothing(workshop: Workshop) -> None:
    for io in None, paths(site("one"), mode="off"), paths():
        source = workshop.source("two.c", TWO)
        workshop.compile(source, "-c", "-w", "-o", "f.o", plan=workshop.plan(io=io))
        assert not any("kadapt" in name for name in undefined(workshop))


@pytest.mark.parametrize(
    ("io", "complaint"),
    [
        ([], "damaged at its I/O paths"),
        (paths(mode="fast"), "damaged at its I/O paths"),
        (paths(mode="default"), "damaged at its I/O paths"),
        (paths(streams=None), "damaged at its I/O paths"),
        (paths(sites={}), "no list of I/O sites"),
        (paths(site("f"), site(None)), "damaged at I/O site 1"),
        (paths(site("f", line=-1)), "damaged at I/O site 0"),
        (paths(site("f", calls="write")), "damaged at I/O site 0"),
        (paths(site("f", calls=[1])), "damaged at I/O site 0"),
        (paths(site("f", cfg_checksum="12")), "damaged at I/O site 0"),
        (paths(site(7)), "damaged at I/O site 0"),
        (paths(7), "damaged at I/O site 0"),
    ],
)
def test_bad_io_stops_the_compilation(workshop: Workshop, io: Any, complaint: str) -> None:
    source = workshop.source("two.c", TWO)
    completed = workshop.compile(source, "-c", plan=workshop.plan(io=io), check=False)
    assert completed.returncode == 1
    assert complaint in completed.stderr


def test_a_32_bit_compilation_redirects_nothing(workshop: Workshop) -> None:
    text = "long write(int, const void *, unsigned long);\nvoid f(void) { write(1, 0, 1); }\n"
    source = workshop.source("f.c", text)
    options = ["-m32", "-S", "-o", "f.s", "-w"]
    workshop.compile(source, *options, arguments=["redirect-all"])
    assert "kadapt" not in (workshop.directory / "f.s").read_text()


PRINTING = {
    "c": (
        "print.c",
        HEADERS + 'int main(void) { FILE *s = fopen("out", "w"); for (int i = 0; i < 9; i++)'
        ' { fprintf(s, "%d of %s\\n", i, "nine"); fflush(s); fputs("x", s); putc(i + 48, s);'
        ' printf("%d\\n", i); fflush_unlocked(stdout); } if (fclose(s)) return 1;'
        ' struct iovec v = {"end\\n", 4}; write(1, "the ", 4); return writev(1, &v, 1) - 4; }',
    ),
    "c++": (
        "print.cc",
        "#include <cstdio>\n#include <fstream>\n#include <iostream>\nint main() {"
        ' std::ofstream s("out"); for (int i = 0; i < 9; i++) { s << i << std::endl;'
        ' std::cout << i << "\\n"; std::printf("%d\\n", i); } }',
    ),
    "fortran": (
        "print.f90",
        "program p\n  integer :: i\n  open(7, file='out')\n  do i = 1, 9\n    write(7, *) i, 'x'\n"
        "    print *, i\n    flush(7)\n  end do\nend program\n",
    ),
}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(("name", "text"), PRINTING.values(), ids=PRINTING.keys())
def test_redirected_programs_print_the_same(
    workshop: Workshop, name: str, text: str, level: str
) -> None:
    stub = workshop.directory / "stub.o"
    workshop.run(GCC, "-O2", "-c", "-o", stub, PROGRAMS / "torture_stub.c")
    source = workshop.source(name, text)
    seen = []
    for arguments in [], ["redirect-all"]:
        (workshop.directory / "out").unlink(missing_ok=True)
        options = [level, "-w", "-o", "program"]
        workshop.compile(source, str(stub), *options, arguments=arguments)
        seen.append((workshop.run("./program").stdout, (workshop.directory / "out").read_bytes()))
    assert seen[0] == seen[1]
    assert seen[0][1]
