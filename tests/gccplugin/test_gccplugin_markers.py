# SPDX-License-Identifier: GPL-2.0-or-later
"""Markers: the phase call fires as often as the test programs enter the marked code."""

import os
from typing import Any

import pytest
from compilers import GCC
from workshop import LONG_NS, Workshop, marker

# The counts must be the same with each of these options.
WAYS = ["-O0", "-O1", "-O2", "-O3", "-Os", "-Og", "-O2 -g", "-O2 -flto", "-O2 -fPIC"]

# For loops.c: (function, loop or None) -> how often the program enters it.
LOOPS = {
    ("main", None): 1,
    ("main", 0): 1,
    ("main", 1): 1,
    ("straight", None): 7 + 5,
    ("inlined", None): 5,
    ("nested", None): 1,
    ("in_a_row", 0): 1,
    ("in_a_row", 1): 1,
    ("recursive", None): 25,  # calls of a Fibonacci recursion of depth 6
    ("tail_recursive", None): 10,
    ("entered_twice", None): 2,
    ("entered_twice", 0): 2,
    ("interpret", None): 1,
    ("jump_back", None): 4,
    ("jumped", None): 1,
    ("jumped", 0): 1,
    ("first_block_is_loop", None): 1,
    ("first_block_is_loop", 0): 1,
}
CLASSES = {
    ("_ZN5shapeC1Ev", None): 1,
    ("_ZNK6square4areaEi", None): 4,
    ("_ZZ4mainENKUliE_clEi", None): 4,
    ("_Z6sum_ofIiET_RKSt6vectorIS0_SaIS0_EE", 0): 1,
    ("_ZL7carefuli", None): 10,
    ("_ZN5guardD1Ev", None): 10,
    ("_ZL8attemptsi", None): 1,
}
MODULES = {
    ("__work_MOD_fill", None): 3,
    ("__work_MOD_depth", None): 5,
    ("inner.0", None): 3,
    ("MAIN__", 0): 1,
}


def fire(
    workshop: Workshop, program: str, expected: dict[tuple[str, int | None], int], way: str
) -> dict[int, int]:
    """Compile `program` with one marker per phase; returns phase -> how often its marker fired."""
    markers = [
        marker(name, phase, loop, file=program) for phase, (name, loop) in enumerate(expected)
    ]
    plan = workshop.plan(*markers, phases=len(markers))
    options = [workshop.counting_stub(), "-o", "program", *way.split()]
    completed = workshop.compile(workshop.source(program), *map(str, options), plan=plan)
    assert completed.stderr == ""
    return workshop.firings()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("program", "expected"),
    [("loops.c", LOOPS), ("classes.cc", CLASSES), ("modules.f90", MODULES)],
    ids=["c", "c++", "fortran"],
)
def test_markers_fire_as_often_as_their_code_is_entered(
    workshop: Workshop, program: str, expected: dict[tuple[str, int | None], int], way: str
) -> None:
    assert fire(workshop, program, expected, way) == dict(enumerate(expected.values()))


@pytest.mark.parametrize("way", WAYS)
def test_nested_loops_fire_once_per_entry(workshop: Workshop, way: str) -> None:
    """The program enters the outer loop once, and the inner loop in each of ten iterations."""
    source = workshop.source("loops.c")
    workshop.compile(source, "-c", "-o", "object.o", *way.split(), "-ffat-lto-objects")
    loops = workshop.records("object.o")["nested"].loops
    outer, inner = (next(i for i, (_, d) in enumerate(loops) if d == depth) for depth in (1, 2))
    expected = {("nested", outer): 1, ("nested", inner): 10}
    assert fire(workshop, "loops.c", expected, way) == {0: 1, 1: 10}


@pytest.mark.parametrize("way", ["-O0", "-O2", "-O2 -flto"])
def test_loop_in_a_handler_fires_once_per_exception(workshop: Workshop, way: str) -> None:
    """The inner loop is in the handler. Of the numbers 0..9, the four multiples of three throw."""
    source = workshop.source("classes.cc")
    workshop.compile(source, "-c", "-o", "object.o", *way.split(), "-ffat-lto-objects")
    loops = workshop.records("object.o")["_ZL8attemptsi"].loops
    expected = {
        ("_ZL8attemptsi", index): {1: 1, 2: 4}[depth] for index, (_, depth) in enumerate(loops)
    }
    assert fire(workshop, "classes.cc", expected, way) == dict(enumerate(expected.values()))


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_outlined_openmp_function_fires_once_per_thread(workshop: Workshop, level: str) -> None:
    text = """
        volatile int sink;
        int main(void)
        {
        #pragma omp parallel num_threads(3)
                for (int i = 0; i < 10; i++)
                        sink += i;
                return 0;
        }
    """
    plan = workshop.plan(marker("main._omp_fn.0", 0), marker("main._omp_fn.0", 1, loop=0))
    stub = str(workshop.counting_stub())
    source = workshop.source("team.c", text)
    workshop.compile(source, stub, level, "-fopenmp", "-o", "program", plan=plan)
    assert workshop.firings() == {0: 3, 1: 3}


def test_adapted_program_prints_what_the_plain_one_does(workshop: Workshop) -> None:
    for program in "loops.c", "classes.cc", "modules.f90":
        source = workshop.source(program)
        workshop.compile(source, "-O2", "-o", "plain")
        stub = str(workshop.counting_stub())
        workshop.compile(source, stub, "-O2", "-o", "marked", arguments=["mark-all"])
        assert workshop.run("./marked").stdout == workshop.run("./plain").stdout
        assert sum(workshop.firings("./marked").values()) > 10


FUNCTION = "int f(int x)\n{\n\twhile (x)\n\t\tx--;\n\treturn x;\n}\n"


def compiled_with(workshop: Workshop, item: dict[str, Any], text: str = FUNCTION, *options: str):
    """Compile one function with one marker; returns messages and whether there is a phase call."""
    plan = workshop.plan(item)
    source = workshop.source("src/f.c", text)
    completed = workshop.compile(source, "-c", "-O2", "-o", "f.o", *options, plan=plan)
    symbols = workshop.run("nm", "f.o").stdout
    return completed.stderr, "kadapt_phase_enter" in symbols


def test_verified_marker_is_inserted_silently(workshop: Workshop) -> None:
    compiled_with(workshop, marker("other"))
    checksum = workshop.records("f.o")["f"].checksum
    assert compiled_with(workshop, marker("f", checksum=checksum)) == ("", True)
    assert compiled_with(workshop, marker("f", loop=0, checksum=checksum)) == ("", True)


@pytest.mark.parametrize("options", [[], ["-Werror"]])
def test_stale_marker_is_skipped_with_a_warning_that_names_the_function(
    workshop: Workshop, options: list[str]
) -> None:
    compiled_with(workshop, marker("other"))
    checksum = workshop.records("f.o")["f"].checksum
    changed = FUNCTION.replace("x--;", "if (x & 1) x--; else x -= 2;")
    stderr, inserted = compiled_with(workshop, marker("f", checksum=checksum), changed, *options)
    assert not inserted
    assert stderr.count("warning:") == 1
    assert "'f'" in stderr
    assert "changed since the profile" in stderr
    assert checksum in stderr
    assert workshop.records("f.o")["f"].checksum in stderr
    assert "kadapt_plan" not in workshop.run("nm", "f.o").stdout


@pytest.mark.parametrize(
    ("file", "inserted"),
    [
        (None, True),
        ("f.c", True),
        ("src/f.c", True),
        ("./src/../src/f.c", True),
        ("../src/f.c", True),
        ("/build/elsewhere/src/f.c", True),
        ("lib/f.c", False),
        ("g.c", False),
        ("/src/of.c", False),
    ],
)
def test_a_marker_belongs_to_its_file(workshop: Workshop, file: str | None, inserted: bool) -> None:
    assert compiled_with(workshop, marker("f", file=file)) == ("", inserted)


def test_marker_of_a_copy_gcc_made_belongs_to_the_function(workshop: Workshop) -> None:
    assert compiled_with(workshop, marker("f.constprop.0")) == ("", True)
    assert compiled_with(workshop, marker("f.isra.0.part.1")) == ("", True)
    assert compiled_with(workshop, marker("f.other")) == ("", False)


def test_verbose_tells_of_every_marker(workshop: Workshop) -> None:
    plan = workshop.plan(marker("f", 1))
    source = workshop.source("f.c", FUNCTION)
    completed = workshop.compile(source, "-c", plan=plan, arguments=["verbose"])
    assert completed.stderr.count("note:") == 1
    assert "phase 1 is announced in function 'f' (not verified" in completed.stderr


@pytest.mark.parametrize(
    ("text", "item", "reason"),
    [
        ('__attribute__((naked)) void f(void) { __asm__("ret"); }', marker("f"), "naked"),
        (
            "__attribute__((no_instrument_function)) void f(void) {}",
            marker("f"),
            "no_instrument_function",
        ),
        (
            "static void g(void) {}\nstatic void (*f(void))(void) { return g; }\n"
            'void h(void) __attribute__((ifunc("f")));',
            marker("f"),
            "before the program is relocated",
        ),
        (
            'int f(int n) { register int x __asm__("r10") = n; while (n--)'
            ' __asm__ volatile("" : "+r"(x)); return x; }',
            marker("f", loop=0),
            "named registers",
        ),
        ("int f(int x) { return x; }", marker("f", loop=3), "no loop 3"),
    ],
    ids=["naked", "no-instrument", "resolver", "register", "no-such-loop"],
)
def test_where_no_call_may_be_the_marker_is_skipped_and_said(
    workshop: Workshop, text: str, item: dict[str, Any], reason: str
) -> None:
    stderr, inserted = compiled_with(workshop, item, text + "\n", "-Werror")
    assert not inserted
    assert stderr.count("warning:") == 1, stderr
    assert reason in stderr


def test_loop_entered_by_a_computed_goto_is_not_counted(workshop: Workshop) -> None:
    text = """
        int f(unsigned n)
        {
                static void *const labels[] = {&&a, &&b};
                int s = 0;
                goto *labels[n & 1];
        a:      s++;
        b:      s += 3;
                if (s < 100)
                        goto b;
                return s;
        }
    """
    stderr, inserted = compiled_with(workshop, marker("f", loop=0), text)
    assert workshop.records("f.o")["f"].loops == ()
    assert not inserted
    assert "no loop 0" in stderr


def test_a_32_bit_compilation_is_left_alone(workshop: Workshop) -> None:
    plan = workshop.plan(marker("f"))
    source = workshop.source("f.c", FUNCTION)
    stderr = workshop.compile(source, "-m32", "-S", "-o", "f.s", plan=plan).stderr
    assert "64-bit" in stderr
    assert "kadapt" not in (workshop.directory / "f.s").read_text()


BAD_PLANS = {
    "not-json": ("{", "is not JSON"),
    "not-an-artefact": ("[]", "is not a kadence.plan artefact"),
    "other-schema": ({"schema": "kadence.phases"}, "is of schema kadence.phases"),
    "other-version": ({"version": 1}, "version"),
    "no-policies": ({"policies": None}, "policies"),
    "policies-out-of-order": ({"policies": [{"phase": 1, "quantum_ns": 0}]}, "policy 0"),
    "negative-quantum": ({"policies": [{"phase": 0, "quantum_ns": -1}]}, "policy 0"),
    "no-markers": ({"markers": {}}, "markers"),
    "phase-without-policy": ({"markers": [marker("f", 2)]}, "marker 0"),
    "unknown-kind": ({"markers": [marker("f"), marker("f") | {"kind": "exit"}]}, "marker 1"),
    "no-function": ({"markers": [marker("")]}, "marker 0"),
    "loop-is-text": ({"markers": [marker("f") | {"kind": "loop_preheader"}]}, "marker 0"),
    "bad-checksum": ({"markers": [marker("f", checksum="123")]}, "marker 0"),
    "huge-phase": ({"markers": [marker("f", 2**40)]}, "marker 0"),
}


@pytest.mark.parametrize("change", BAD_PLANS.values(), ids=BAD_PLANS.keys())
def test_bad_plan_stops_the_compilation_with_one_sentence(
    workshop: Workshop, change: tuple[Any, str]
) -> None:
    content, complaint = change
    plan = workshop.plan(**(content if isinstance(content, dict) else {}))
    if isinstance(content, str):
        plan.write_text(content)
    assert_refused(workshop, str(plan), complaint)


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_unreadable_plan_stops_the_compilation_with_one_sentence(
    workshop: Workshop, name: str
) -> None:
    assert_refused(workshop, name, "cannot read plan")


def assert_refused(workshop: Workshop, plan: str, complaint: str) -> None:
    source = workshop.source("f.c", FUNCTION)
    arguments = [f"plan={plan}"]
    completed = workshop.compile(source, "-c", "-o", "f.o", arguments=arguments, check=False)
    assert completed.returncode == 1
    first, *rest = completed.stderr.splitlines()
    assert first.startswith("cc1: fatal error: kadence: ")
    assert complaint in first
    assert rest == ["compilation terminated."]
    assert not (workshop.directory / "f.o").exists()


def test_unknown_plugin_argument_is_refused(workshop: Workshop) -> None:
    source = workshop.source("f.c", FUNCTION)
    completed = workshop.compile(source, "-c", arguments=["plans=x"], check=False)
    assert completed.returncode == 1
    assert "'plans'" in completed.stderr


READER = """
#include <stdint.h>
#include <stdio.h>
struct kadapt_plan {
        uint32_t abi, policies, flags, ahead;
        uint64_t keep_bytes, fresh_least_bytes;
        uint64_t id;
        uint32_t learned, reserved;
        struct { uint32_t phase, flags; uint64_t quantum_ns, file_delay_ns;
                 uint32_t tried, visits; } policy[];
};
extern const struct kadapt_plan kadapt_plan __attribute__((weak));
const int kadapt_filter_anchor = 1;
void kadapt_phase_enter(uint32_t phase) { (void)phase; }
__attribute__((destructor)) static void tell(void)
{
        if (!&kadapt_plan) {
                puts("no plan");
                return;
        }
        printf("%u %u %u %d\\n", kadapt_plan.abi, kadapt_plan.flags, kadapt_plan.ahead,
               (int)((uintptr_t)&kadapt_plan % 8));
        for (uint32_t i = 0; i < kadapt_plan.policies; i++)
                printf("%u %u %llu %llu\\n", kadapt_plan.policy[i].phase,
                       kadapt_plan.policy[i].flags,
                       (unsigned long long)kadapt_plan.policy[i].quantum_ns,
                       (unsigned long long)kadapt_plan.policy[i].file_delay_ns);
}
"""
TOLD = f"5 0 0 0\n0 0 {LONG_NS} 0\n1 0 0 0\n2 0 {LONG_NS} 0\n"


@pytest.mark.parametrize(
    "way", ["-O0", "-O2", "-O2 -flto", "-O2 -static", "-Os -Wl,--gc-sections -fdata-sections"]
)
def test_policies_reach_the_library_as_one_object(workshop: Workshop, way: str) -> None:
    """Two units have markers; the program has one `kadapt_plan` with every policy of the plan."""
    workshop.source("reader.c", READER)
    workshop.run(GCC, "-c", "reader.c", "-o", "reader.o")
    workshop.run("ar", "rc", "libreader.a", "reader.o")
    workshop.source("one.c", "int one(void) { return 1; }\n")
    workshop.source("main.c", "int one(void);\nint main(void) { return one() - 1; }\n")
    plan = workshop.plan(marker("one", 1), marker("main", 2), phases=3)
    options = [*way.split(), "libreader.a", "-o", "program"]
    workshop.compile("one.c", "main.c", *options, plan=plan)
    assert workshop.run("./program").stdout == TOLD
    symbols = workshop.run("nm", "program").stdout
    assert symbols.count("kadapt_plan") == 1


def test_units_without_a_marker_carry_no_plan(workshop: Workshop) -> None:
    plan = workshop.plan(marker("absent"))
    workshop.compile(workshop.source("f.c", FUNCTION), "-c", "-o", "f.o", plan=plan)
    assert "kadapt" not in workshop.run("nm", "f.o").stdout


def test_where_plans_differ_the_first_in_the_link_wins(workshop: Workshop) -> None:
    workshop.source("reader.c", READER)
    workshop.source("one.c", "int one(void) { return 1; }\n")
    workshop.source("main.c", "int one(void);\nint main(void) { return one() - 1; }\n")
    workshop.run(GCC, "-c", "reader.c", "-o", "reader.o")
    workshop.compile("main.c", "-c", "-o", "main.o", plan=workshop.plan(marker("main"), phases=3))
    workshop.compile("one.c", "-c", "-o", "one.o", plan=workshop.plan(marker("one"), phases=1))
    workshop.run(GCC, "main.o", "one.o", "reader.o", "-o", "program")
    assert workshop.run("./program").stdout == TOLD
    workshop.run(GCC, "one.o", "main.o", "reader.o", "-o", "program")
    assert workshop.run("./program").stdout == f"5 0 0 0\n0 0 {LONG_NS} 0\n"


def test_shared_library_and_program_share_one_object(workshop: Workshop) -> None:
    workshop.source("reader.c", READER)
    workshop.run(GCC, "-fPIC", "-c", "reader.c", "-o", "reader.o")
    workshop.source("one.c", "int one(void) { return 1; }\n")
    workshop.source("main.c", "int one(void);\nint main(void) { return one() - 1; }\n")
    plan = workshop.plan(marker("one", 1), marker("main", 2), phases=3)
    hidden = ["-fPIC", "-fvisibility=hidden"]
    workshop.source("one.c", '__attribute__((visibility("default"))) int one(void) { return 1; }\n')
    workshop.compile("one.c", "reader.o", "-shared", *hidden, "-o", "libone.so", plan=plan)
    workshop.compile("main.c", "libone.so", "-Wl,-rpath,$ORIGIN", "-o", "program", plan=plan)
    assert workshop.run("./program", LD_BIND_NOW="1", HOME=os.devnull).stdout == TOLD
