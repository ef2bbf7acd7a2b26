# SPDX-License-Identifier: GPL-2.0-or-later
"""At the plan's memory sites, the plugin redirects calls that allocate memory to libkadapt."""

import re
from pathlib import Path
from typing import Any

import pytest
from compilers import GCC, GXX
from workshop import Workshop, marker

from kadence.phases.describe import memory_calls
from kadence.phases.plan.memory_judgement import HUGE, KEEP, MAP_AHEAD, POPULATE
from kadence.phases.plan.memory_planning import HEAP, MAPPINGS, STACK

# The words that a plan uses.
TREATMENTS = (POPULATE, KEEP, HUGE, MAP_AHEAD)
AHEAD = (HEAP, STACK, MAPPINGS)

# Statement -> the function that it calls.
STATEMENTS = {
    "keep(malloc(size))": "malloc",
    "keep(calloc(size, 8))": "calloc",
    "keep(realloc(place, size))": "realloc",
    "keep(reallocarray(place, size, 8))": "reallocarray",
    "keep(aligned_alloc(64, size))": "aligned_alloc",
    "keep(memalign(64, size))": "memalign",
    "posix_memalign(&place, 64, size)": "posix_memalign",
    "keep(mmap(0, size, 3, 2, 5, 0))": "mmap",
    "keep(mmap64(0, size, 3, 2, 5, 0))": "mmap64",
}
OPERATORS = {
    "operator new(size)": "_Znwm",
    "operator new[](size)": "_Znam",
    "operator new(size, std::nothrow)": "_ZnwmRKSt9nothrow_t",
    "operator new[](size, std::nothrow)": "_ZnamRKSt9nothrow_t",
    "operator new(size, std::align_val_t{64})": "_ZnwmSt11align_val_t",
    "operator new[](size, std::align_val_t{64})": "_ZnamSt11align_val_t",
    "operator new(size, std::align_val_t{64}, std::nothrow)": "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "operator new[](size, std::align_val_t{64}, std::nothrow)": (
        "_ZnamSt11align_val_tRKSt9nothrow_t"
    ),
}
EXPRESSIONS = {
    "new double[1000]": "_Znam",
    "new (std::nothrow) double[1000]": "_ZnamRKSt9nothrow_t",
    "new wide": "_ZnwmSt11align_val_t",
    "new wide[9]": "_ZnamSt11align_val_t",
}
C_HEADERS = """
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
void keep(void *);
"""
CXX_HEADERS = """
#include <cstddef>
#include <new>
struct alignas(128) wide { double values[16]; };
void keep(void *);
"""


def memory(*sites: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The plan's member `memory`."""
    amounts = {"keep_bytes": 7 << 32, "fresh_least_bytes": 131072}
    fixed = {"mode": "default", "reason": None, "ahead": [], "sites": list(sites)}
    return fixed | amounts | changes


def site(name: str | None, **changes: Any) -> dict[str, Any]:
    """A memory site in the form in which a plan contains it."""
    fixed = {"phase": 0, "function": name, "file": None, "line": None, "calls": []}
    return fixed | {"treatments": ["populate", "keep"], "evidence": {}} | changes


def undefined(workshop: Workshop, name: str = "f.o") -> set[str]:
    """The undefined symbols of an object that libkadapt defines."""
    symbols = workshop.run("nm", "-u", "-j", name).stdout.split()
    return {symbol for symbol in symbols if symbol.startswith("kadapt_")}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(("statement", "name"), STATEMENTS.items())
def test_a_call_becomes_its_counterpart(
    workshop: Workshop, statement: str, name: str, level: str
) -> None:
    text = f"{C_HEADERS}void f(size_t size, void *place)\n{{\n\t(void)!{statement};\n}}\n"
    text = text.replace("(void)!keep", "keep")
    source = workshop.source("f.c", text)
    workshop.compile(
        *(source, "-c", "-Wall", "-Werror", "-fchecking", "-o", "f.o", level),
        arguments=["redirect-all"],
    )
    assert undefined(workshop) == {f"kadapt_{name}"}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(("expression", "name"), (OPERATORS | EXPRESSIONS).items())
def test_an_operator_becomes_its_counterpart(
    workshop: Workshop, expression: str, name: str, level: str
) -> None:
    source = workshop.source(
        "f.cc",
        f"{CXX_HEADERS}void f(std::size_t size)\n{{\n\t(void)size; keep({expression});\n}}\n",
    )
    workshop.compile(
        *(source, "-c", "-Wall", "-Werror", "-fchecking", "-o", "f.o", level),
        arguments=["redirect-all"],
    )
    assert undefined(workshop) == {f"kadapt_{name}"}
    # libkadapt calls the original for what the arena does not serve. The object's reference makes
    # the linker find the original even in a static library that precedes libkadapt.
    assert name in workshop.run("nm", "-u", "-j", "f.o").stdout.split()


def test_every_call_of_the_table_is_tested() -> None:
    names = sorted(name for family in memory_calls.FAMILIES for name in family)
    assert names == sorted([*STATEMENTS.values(), *OPERATORS.values()])


def test_words_of_a_plan_are_the_bits_of_the_library(root: Path) -> None:
    """The plugin translates the plan's words into the bits that libkadapt's header defines."""
    header = (root / "kadapt/lib/libkadapt.h").read_text()
    plugin = (root / "gccplugin/plan/plan_read.cc").read_text()
    words = {"TREAT": ("treatments", TREATMENTS), "AHEAD": ("places", AHEAD)}
    for prefix, (table, planned) in words.items():
        named = re.findall(rf"#define KADAPT_{prefix}_(\w+) (0x\w+)", header)
        bits = {word.lower().replace("_", "-"): int(bit, 16) for word, bit in named}
        rows = plugin.split(f"named_bit {table}[] = {{")[1].split("};")[0]
        read = {word: int(bit, 16) for word, bit in re.findall(r'\{"([\w-]+)", (0x\w+)\}', rows)}
        assert read == bits
        assert sorted(planned) == sorted(bits)
    chosen = (root / "gccplugin/redirect/site_pass.cc").read_text()
    every = re.search(r"all_treatments = (0x\w+);", chosen)
    assert every is not None
    assert int(every[1], 16) == (1 << len(TREATMENTS)) - 1


def test_every_call_of_the_table_is_declared(root: Path) -> None:
    header = (root / "kadapt/lib/libkadapt.h").read_text()
    for name in (*STATEMENTS.values(), *OPERATORS.values()):
        assert re.search(rf"\bkadapt_{name}\([^;]*unsigned int treatments\);", header), name


def test_fortran_arrays_are_redirected(workshop: Workshop) -> None:
    text = """
        subroutine f(n)
          integer, intent(in) :: n
          real(8), allocatable :: a(:)
          real(8) :: b(n)
          allocate(a(n))
          a = 1
          b = a
          call g(a, b)
        end subroutine
    """
    source = workshop.source("f.f90", text)
    for level in "-O0", "-O2":
        told = workshop.compile(
            *(source, "-c", "-o", "f.o", level),
            plan=workshop.plan(memory=memory(site("f_"))),
            arguments=["verbose"],
        ).stderr
        assert told.count("'malloc' is redirected") == 2, told
        assert "kadapt_malloc" in undefined(workshop)


ARGUMENTS = """
#include <stdio.h>
#include <stdlib.h>
const int kadapt_filter_anchor = 1;
void kadapt_phase_enter(unsigned phase) { (void)phase; }
void *kadapt_malloc(size_t size, unsigned treatments)
{
        printf("%zu %u\\n", size, treatments);
        return malloc(size);
}
void *kadapt_calloc(size_t count, size_t size, unsigned treatments)
{
        printf("%zu %zu %u\\n", count, size, treatments);
        return calloc(count, size);
}
"""


def test_treatments_reach_the_call(workshop: Workshop) -> None:
    workshop.source("kadapt.c", ARGUMENTS)
    workshop.run(GCC, "-c", "kadapt.c", "-o", "kadapt.o")
    text = """
        #include <stdlib.h>
        static inline char *inlined(int size) { return malloc(size); }
        char *one(int size) { return malloc(size); }
        char *two(int size) { return calloc(3, size); }
        int main(void) { return !(one(5) && two(6) && inlined(7) && malloc(8)); }
    """
    source = workshop.source("f.c", text)
    plan = workshop.plan(
        memory=memory(
            site("one", treatments=["huge"]),
            site("one", treatments=["keep"], calls=["malloc"]),
            site("one", treatments=["map-ahead"], calls=["mmap"]),
            site("two", treatments=["map-ahead", "populate"]),
            site("inlined", treatments=[]),
        )
    )
    for level in "-O0", "-O2", "-O2 -flto":
        workshop.compile(source, "kadapt.o", *level.split(), "-o", "program", plan=plan)
        assert workshop.run("./program").stdout == "5 6\n3 6 9\n7 0\n"


@pytest.mark.parametrize("level", [0, 2, 3])
def test_what_a_memset_clears_is_left_to_the_compiler(workshop: Workshop, level: int) -> None:
    """The compiler merges the two calls into one calloc, which touches no page before its use.

    Debian's packages check what is written (_FORTIFY_SOURCE=2). With 3, the default of Ubuntu's
    compiler, the compiler itself may merge nothing.
    """
    text = """
        #include <stdlib.h>
        #include <string.h>
        char *f(size_t size)
        {
                char *block = malloc(size);
                if (block)
                        memset(block, 0, size);
                return block;
        }
    """
    source = workshop.source("f.c", text)
    fortified = ("-U_FORTIFY_SOURCE", f"-D_FORTIFY_SOURCE={level}")
    workshop.run(GCC, "-c", "-O2", *fortified, "-o", "plain.o", source)
    plain = workshop.run("nm", "-u", "-j", "plain.o").stdout.split()
    workshop.compile(source, "-c", "-O2", *fortified, "-o", "f.o", arguments=["redirect-all"])
    found = workshop.run("nm", "-u", "-j", "f.o").stdout.split()
    assert plain == ["calloc"] or level == 3
    assert found == plain or plain == ["__memset_chk", "malloc"]


THROWING = """
#include <cstdio>
#include <new>
static int alive;
struct guard { guard() { alive++; } ~guard() { alive--; } };
struct thrower { thrower() { throw 1; } double values[100]; };
static void *leak;
int main()
{
        volatile unsigned long count = 1ul << 58;
        try {
                guard one;
                leak = new double[count];
        } catch (const std::bad_alloc &) {
                std::printf("bad_alloc %d\\n", alive);
        }
        try {
                guard one;
                leak = new thrower[100];
        } catch (int number) {
                std::printf("%d %d\\n", number, alive);
        }
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3 -flto"])
def test_exceptions_pass_through(workshop: Workshop, level: str) -> None:
    head = '#include <new>\nextern "C" const int kadapt_filter_anchor = 1;\n'
    stub = head + "".join(
        f'extern "C" void *kadapt_{name}(unsigned long size, unsigned)'
        f"\n{{ return ::operator {operator}(size); }}\n"
        for name, operator in (("_Znwm", "new"), ("_Znam", "new[]"))
    )
    workshop.source("kadapt.cc", stub)
    workshop.run(GXX, "-c", "kadapt.cc", "-o", "kadapt.o")
    source = workshop.source("f.cc", THROWING)
    plan = workshop.plan(memory=memory(site("main")))
    told = workshop.compile(
        *(source, "kadapt.o", *level.split(), "-o", "program"), plan=plan, arguments=["verbose"]
    ).stderr
    assert told.count("is redirected") == 2
    assert workshop.run("./program").stdout == "bad_alloc 0\n1 0\n"


READER = """
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    extern const struct { uint32_t abi, policies, flags, ahead; uint64_t keep, least, id;
            uint32_t learned, reserved; struct { uint32_t phase, flags; uint64_t times[2];
            uint32_t tried, visits; } policy[]; } kadapt_plan;
    const int kadapt_io_anchor = 1, kadapt_memory_anchor = 1, kadapt_filter_anchor = 1;
    void kadapt_phase_enter(unsigned phase) { (void)phase; }
    void *kadapt_malloc(size_t size, unsigned treatments) { return treatments ? malloc(size) : 0; }
    int main(void) { printf("%u %u %llx %llu %u\\n", kadapt_plan.flags, kadapt_plan.ahead,
            (unsigned long long)kadapt_plan.keep, (unsigned long long)kadapt_plan.least,
            kadapt_plan.policy[1].flags); return !malloc(9); }
"""


def test_plan_object_says_what_is_planned(workshop: Workshop) -> None:
    source = workshop.source("f.c", READER)
    wanted = {
        "8 0 700000000 131072 0\n": memory(site("main")),
        "8 7 700000000 131072 0\n": memory(ahead=["mappings", "heap", "stack"]),
        "8 2 5 4096 0\n": memory(ahead=["stack"], keep_bytes=5, fresh_least_bytes=4096),
        "0 0 700000000 131072 0\n": memory(site("main"), mode="off", ahead=["heap"]),
        "0 0 0 0 0\n": None,
    }
    for told, member in wanted.items():
        plan = workshop.plan(marker("main"), memory=member)
        workshop.compile(source, "-o", "program", plan=plan)
        assert workshop.run("./program").stdout == told


def test_plan_object_says_which_phases_are_plain(workshop: Workshop) -> None:
    source = workshop.source("f.c", READER)
    policies = [
        {"phase": phase, "name": "compute", "quantum_ns": 0, "memory_plain": phase == 1}
        for phase in range(2)
    ]
    plan = workshop.plan(marker("main"), policies=policies)
    workshop.compile(source, "-o", "program", plan=plan)
    assert workshop.run("./program").stdout == "0 0 0 0 1\n"


def test_ranges_are_asked_for_where_main_is(workshop: Workshop) -> None:
    """Even without a marker or a site. A unit without main has no reference to libkadapt."""
    plan = workshop.plan(memory=memory(ahead=["heap"]))
    anchors = {"kadapt_memory_anchor", "kadapt_filter_anchor"}
    for name, wanted in ("main", anchors), ("other", set()):
        source = workshop.source("f.c", f"int {name}(void) {{ return 0; }}\n")
        workshop.compile(source, "-c", "-O2", "-o", "f.o", plan=plan)
        assert undefined(workshop) == wanted


def test_a_stale_site_is_skipped(workshop: Workshop) -> None:
    source = workshop.source("f.c", "#include <stdlib.h>\nvoid *f(void) { return malloc(9); }\n")
    plan = workshop.plan(memory=memory(site("f", cfg_checksum="01234567")))
    told = workshop.compile(source, "-c", "-o", "f.o", "-Werror", plan=plan).stderr
    assert "the memory site in function 'f' is skipped: the function changed" in told
    assert undefined(workshop) == set()


@pytest.mark.parametrize(
    ("member", "complaint"),
    [
        ([], "damaged at its memory"),
        (memory(mode="strict"), "damaged at its memory"),
        (memory(ahead=["bss"]), "damaged at its memory"),
        (memory(ahead=None), "damaged at its memory"),
        (memory(keep_bytes=-1), "damaged at its memory"),
        (memory(fresh_least_bytes=None), "damaged at its memory"),
        (memory(sites={}), "no list of memory sites"),
        (memory(site("f"), site(None)), "damaged at memory site 1"),
        (memory(site("f", treatments=["fast"])), "damaged at memory site 0"),
        (memory(site("f", treatments=None)), "damaged at memory site 0"),
        (memory(site("f", calls="malloc")), "damaged at memory site 0"),
    ],
)
def test_bad_memory_stops_the_compilation(workshop: Workshop, member: Any, complaint: str) -> None:
    source = workshop.source("f.c", "int main(void) { return 0; }\n")
    completed = workshop.compile(source, "-c", plan=workshop.plan(memory=member), check=False)
    assert completed.returncode == 1
    assert complaint in completed.stderr
