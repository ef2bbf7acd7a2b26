# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts that the compiler lays code out by: gcov counts the same, and no result changes."""

import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gcc_counts
import pytest
import torture
import torture_layout
from compilers import GCC, RELEASE
from layout_programs import FUSED, INLINED_IF_SMALL, INLINED_TWICE, JOINED, KNOWN, SHORT_LOOP
from workshop import Workshop, marker

from kadence.base import resources
from kadence.base.errors import UsageError
from kadence.base.resources import built
from kadence.phases.plan import layout
from kadence.phases.plan.layout import Layout
from kadence.profiler import kprof

KADENCE = Path(sys.executable).parent / "kadence"
SAMPLE = 60
ENDING_IN_CALLS = {"pr41239.c", "pr54937.c"}
OTHER_GRAPHS = 0.01  # of the functions at most
LEVELS = ("-O2", "-O3")
# GCC estimates a function anew if its counts are small, so each run counts as so many.
RUNS = 1024


Profiled = Callable[..., Path]


@pytest.fixture
def profiled(workshop: Workshop) -> Profiled:
    """Profiles a C program, and makes a plan that has only its counts."""

    def profile(text: str, *options: str) -> Path:
        source = workshop.source("program.c", text)
        output = workshop.directory / "program.kprof"
        environment = {"KADENCE_MODE": "profile", "KADENCE_PROFILE_OUTPUT": str(output)}
        wrapper = built("bin/kadence-cc")
        workshop.run(wrapper, "-O2", *options, "-o", "counted", source, **environment)
        workshop.run("./counted", check=False, **environment)
        return torture_layout.plan_of(output, workshop.directory / "plan.json")

    return profile


def dumped(workshop: Workshop, plan: Path, *options: str) -> str:
    """The unit as the compiler has it right after it got the counts."""
    # GCC 16 has this pass twice, first for counts of samples.
    split = "feedback_fnsplit" + "2" * (int(RELEASE) >= 16)
    workshop.compile("program.c", "-O2", "-c", f"-fdump-tree-{split}", *options, plan=plan)
    (dump,) = workshop.directory.glob(f"*{split}")
    return dump.read_text()


def counts_in(dump: str, function: str) -> list[int]:
    """How often the function's blocks ran, as the compiler believes, in runs of the program."""
    text = dump.partition(f";; Function {function} ")[2].partition(";; Function")[0]
    return [int(count) // RUNS for count in re.findall(r"<bb \d+> \[count: (\d+)\]", text)]


def test_the_compiler_gets_the_counts(workshop: Workshop, profiled: Profiled) -> None:
    dump = dumped(workshop, profiled(KNOWN))
    # The test of the sign, abort(), the test of the division, both ways, and the return.
    assert counts_in(dump, "choose") == [1000, 0, 1000, 100, 900, 1000]
    assert "[count: " not in dump.partition(";; Function never ")[2].partition(";; Function")[0]
    assert "; [10.00%]" in dump
    assert "; [90.00%]" in dump


def test_gcov_counts_the_same(workshop: Workshop, profiled: Profiled) -> None:
    """Of a program of GCC's tests: how often each function was called, as gcov says."""
    (program,) = (one for one in torture.programs() if one.name == "20000412-6.c")
    text = program.sources[0].read_text()
    options = ["-w", "-fno-inline"]
    dump = dumped(workshop, profiled(text, *options), *options, "-fdump-tree-all-lineno")
    workshop.run(GCC, "--coverage", "-O0", "-w", "-o", "covered", "program.c")
    workshop.run("./covered")
    told = json.loads(
        workshop.run(f"gcov-{RELEASE}", "--json-format", "--stdout", "covered-program").stdout
    )
    by_gcov = {
        function["name"]: function["execution_count"] for function in told["files"][0]["functions"]
    }
    for function, count in by_gcov.items():
        if count:
            assert counts_in(dump, function)[0] == count


def require_gccs_own_counts(chosen: list[torture.Program]) -> None:
    """All counts are GCC's own, and few functions cannot be compared."""
    comparable = [
        one
        for one in chosen
        # A block that calls setjmp is entered again. In fast mode, calls are assumed to return.
        if b"setjmp" not in one.sources[0].read_bytes() and one.name not in ENDING_IN_CALLS
    ]
    compared = gcc_counts.run(comparable)
    assert [f"{one.name}: {line}" for one in compared for line in one.differing] == []
    others = [f"{one.name}: {name}" for one in compared for name in one.elsewhere]
    assert len(others) <= OTHER_GRAPHS * sum(one.functions for one in compared), others


def test_copies_of_a_function_have_their_own_counts(workshop: Workshop, profiled: Profiled) -> None:
    dump = dumped(workshop, profiled(INLINED_TWICE))
    assert counts_in(dump, "seldom") == [10]
    assert 1000 in counts_in(dump, "often")


def test_sample_counts_as_gcc_itself() -> None:
    require_gccs_own_counts(torture.programs()[::SAMPLE])


@pytest.mark.torture
def test_every_program_counts_as_gcc_itself() -> None:
    require_gccs_own_counts(torture.programs())


def test_edges_follow_from_blocks(workshop: Workshop, profiled: Profiled) -> None:
    plan = profiled(KNOWN)
    told = workshop.compile("program.c", "-O2", "-c", plan=plan, arguments=["verbose"]).stderr
    assert sorted(re.findall(r"kadence: counts of (\w+): (.*)", told)) == [
        ("choose", "8 edges, 0 of them estimated"),
        ("main", "6 edges, 0 of them estimated"),
    ]


def test_code_that_never_ran_lies_apart(workshop: Workshop, profiled: Profiled) -> None:
    workshop.compile("program.c", "-O2", "-c", "-o", "laid-out.o", plan=profiled(KNOWN))
    sections = workshop.run("objdump", "-h", "laid-out.o").stdout
    assert " .text.hot" in sections
    assert " .text.unlikely" in sections
    symbols = workshop.run("nm", "laid-out.o").stdout
    assert " t choose.cold" in symbols


@pytest.mark.parametrize("how", [["-c"], ["-flto", "-o", "program"]], ids=["unit", "link time"])
def test_blocks_that_the_compiler_joins_keep_their_counts(
    workshop: Workshop, profiled: Profiled, how: list[str]
) -> None:
    """Pass cddce gives a joined block the count of its first way, and the dump says so.

    A loop that is peeled has invalid sums in every compiler.
    """
    dumps = [f"-fdump-tree-{name}-blocks-details" for name in ("cddce2", "ivcanon", "optimized")]
    options = ["-O2", "-fno-peel-loops", *how, *dumps]
    workshop.compile("program.c", *options, plan=profiled(JOINED))
    lost = "Invalid sum of incoming counts 20480000 (precise), should be 0 (precise)"
    told = {path.suffix: path.read_text() for path in workshop.directory.glob("program.*t.*")}
    loses = int(RELEASE) < 14  # later releases have no such fault
    assert (lost in told[".cddce2"]) == loses
    assert "Invalid sum" not in told[".ivcanon"] + told[".optimized"]


def test_the_code_is_that_of_gccs_own_counts(workshop: Workshop, profiled: Profiled) -> None:
    """All that -fprofile-use switches on is on: the loop is peeled, too."""
    plan = profiled(SHORT_LOOP)
    workshop.compile("program.c", "-O2", "-c", "-o", "laid-out.o", plan=plan)
    workshop.run(GCC, "-O2", "-c", "-o", "program.o", "program.c")
    plain = code_of(workshop, "program.o", "hash")
    workshop.run(GCC, "-O2", "-fprofile-generate", "-c", "-o", "program.o", "program.c")
    workshop.run(GCC, "-fprofile-generate", "-o", "program", "program.o")
    workshop.run("./program")
    workshop.run(GCC, "-O2", *gcc_counts.OWN, "-c", "-o", "program.o", "program.c")
    own = code_of(workshop, "program.o", "hash")
    assert len(own) > 1.5 * len(plain)
    assert code_of(workshop, "laid-out.o", "hash") == own


def code_of(workshop: Workshop, unit: str, function: str) -> list[str]:
    """A function's instructions, with addresses from its start."""
    told = workshop.run("objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", unit)
    return re.findall(r"^ +[0-9a-f]+:\t(.*)$", told.stdout, re.MULTILINE)


def test_a_changed_function_keeps_none(workshop: Workshop, profiled: Profiled) -> None:
    plan = profiled(KNOWN)
    workshop.source("program.c", KNOWN.replace("number / 10;", "number > 5 ? number / 10 : 7;"))
    told = workshop.compile("program.c", "-O2", "-c", "-Werror", plan=plan).stderr
    assert "the counts of function 'choose' are skipped: the function changed" in told
    assert "main" not in told


def test_calls_of_the_plan_change_what_is_inlined(workshop: Workshop, profiled: Profiled) -> None:
    """The function's source is what it was, so it is not told to be the only cause."""
    plan = profiled(INLINED_IF_SMALL)
    body = json.loads(plan.read_text()) | {
        "policies": [{"phase": 0, "name": "compute", "quantum_ns": 0}],
        "markers": [marker("mixed")],
    }
    plan.write_text(json.dumps(body))
    told = workshop.compile("program.c", "-O2", "-c", plan=plan).stderr
    cause = "are skipped: a function that it inlined has the plan's calls now, or the function"
    assert f"the counts of function 'total' {cause} changed" in told


# Inlined into main, both divisions are one to the compiler.
ROUNDED = r"""
#include <fenv.h>
#include <stdio.h>
static double divide(double a, double b, int mode)
{
	int before = fegetround();
	double result;

	fesetround(mode);
	result = a / b;
	fesetround(before);
	return result;
}
int main(int count, char **words)
{
	for (int i = 0; i < 1000; i++)
		if (divide(count, 3, FE_UPWARD) == divide(count, 3, FE_DOWNWARD))
			return puts("one division") < 0;
	return puts("two divisions") < 0;
}
"""


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        (FUSED, ["-mfma"], "with -ffp-contract=off no result depends on that"),
        (FUSED, ["-ffast-math"], "-ffast-math lets the compiler reorder sums"),
        (FUSED, ["-mfma", "-ffp-contract=off"], ""),
        (FUSED, [], ""),
        (ROUNDED, ["-Wl,--no-as-needed", "-lm"], "the compiler may move arithmetic across that"),
    ],
    ids=["fused", "fast", "not fused", "plain", "rounded"],
)
def test_no_result_depends_on_the_layout(
    workshop: Workshop, profiled: Profiled, text: str, options: list[str], why: str
) -> None:
    if "-mfma" in options and " fma " not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no FMA")
    plan = profiled(text, *options)
    told = workshop.compile("program.c", "-O2", *options, "-c", "-o", "laid-out.o", plan=plan)
    workshop.run(GCC, "-o", "laid-out", "laid-out.o", "-lm")
    workshop.run(GCC, "-O2", "-o", "plain", "program.c", *options)
    assert workshop.run("./laid-out").stdout == workshop.run("./plain").stdout
    assert ("the plan's counts are left out of this unit: in function" in told.stderr) == bool(why)
    assert why in told.stderr


def test_the_compiler_alone_would_change_a_result(workshop: Workshop) -> None:
    """Otherwise the test above tests nothing."""
    if " fma " not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no FMA")
    workshop.source("program.c", FUSED)
    told = []
    for more in ((), ("-ftracer",)):
        workshop.run(GCC, "-O2", "-mfma", *more, "-o", "program", "program.c")
        told.append(workshop.run("./program").stdout)
    assert told[0] != told[1]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"functions": 3}, "has no list of counted functions in its layout"),
        ({"functions": [{"function": "f"}]}, "is damaged at counted function 0"),
        ({"functions": [{"counts": "2:x"}]}, "is damaged at counted function 0"),
        ({"functions": [{"counts": "-2:1"}]}, "is damaged at counted function 0"),
        ({"functions": [{"counts": "2:99999999999999999999"}]}, "is damaged at counted function 0"),
        ({"functions": [{"cfg_checksum": "1234567"}]}, "is damaged at counted function 0"),
    ],
)
def test_a_damaged_layout_is_refused(
    workshop: Workshop, change: dict[str, Any], complaint: str
) -> None:
    whole = {"function": "f", "file": "a.c", "cfg_checksum": "12345678", "counts": "2:1"}
    if isinstance(change["functions"], list) and "function" not in change["functions"][0]:
        change = {"functions": [whole | change["functions"][0]]}
    source = workshop.source("program.c", KNOWN)
    told = workshop.compile(source, "-O2", "-c", plan=workshop.plan(layout=change), check=False)
    assert told.returncode != 0
    assert complaint in told.stderr
    workshop.compile(source, "-O2", "-c", plan=workshop.plan(layout={"functions": [whole]}))


def test_the_commands_of_the_document_lay_code_out(workshop: Workshop) -> None:
    text = (resources.home() / "docs/layout.md").read_text()
    commands = text.partition("```sh\n")[2].partition("```")[0]
    workshop.source("prog.c", KNOWN)
    folders = [built("bin/kadence-cc").parent, KADENCE.parent, os.environ["PATH"]]
    workshop.run("sh", "-ec", commands, PATH=os.pathsep.join(map(str, folders)))
    sections = workshop.run("nm", "prog").stdout
    assert "choose.cold" in sections


def test_the_prediction_is_what_measured_programs_saved() -> None:
    """The document's table has them."""
    text = (resources.home() / "docs/layout.md").read_text().replace("−", "-")
    cells = re.findall(r"^\| (\w+) \|[^|]+\| \**([+-][\d.]+) \(", text, re.MULTILINE)
    saved = sorted(-float(change) for name, change in cells)
    predicted = Layout({}, 0.5).predicted()
    assert predicted["programs"] == len(saved)
    for name, gain in (
        ("least", saved[0]),
        ("median", statistics.median(saved)),
        ("most", saved[-1]),
    ):
        assert predicted[name] == pytest.approx(gain / 2, abs=0.051)


def test_a_profile_of_valgrind_is_refused(workshop: Workshop, tmp_path: Path) -> None:
    """It counts superblocks, of which the compiler knows nothing."""
    workshop.source("program.c", KNOWN)
    workshop.run(built("bin/kadence-cc"), "-O2", "-o", "plain", "program.c")
    profile = tmp_path / "plain.kprof"
    subprocess.run(
        [KADENCE, "profile", "-o", profile, "--", workshop.directory / "plain"],
        check=True,
        capture_output=True,
    )
    with pytest.raises(UsageError, match="build the program with KADENCE_MODE=profile"):
        layout.read(profile)


def test_a_profile_that_hardly_knows_the_code_is_refused(
    workshop: Workshop, profiled: Profiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiled(KNOWN)
    path = workshop.directory / "program.kprof"
    assert layout.of_profile(kprof.read(path)).share == 1
    monkeypatch.setattr(layout, "LEAST_SHARE", 1.1)
    with pytest.raises(UsageError, match="the rest cannot be laid out; build more of the program"):
        layout.read(path)


def test_options_of_functions_and_differences_of_labels() -> None:
    """Functions with options of their own count nothing, and one with such labels stays whole."""
    names = {"alias-1.c", "pr60062.c", "pr70460.c", "builtins/pr93262-chk.c"}
    chosen = [program for program in torture.programs() if program.name in names]
    outcomes = torture_layout.run(chosen, "-O2")
    assert [outcome.complaint for outcome in outcomes] == [""] * len(names)


def test_sample_behaves_the_same_laid_out() -> None:
    outcomes = torture_layout.run(torture.sample(SAMPLE), "-O2")
    assert [str(outcome) for outcome in outcomes if outcome.complaint] == []


@pytest.mark.torture
@pytest.mark.parametrize("level", LEVELS)
def test_every_program_behaves_the_same_laid_out(level: str) -> None:
    outcomes = torture_layout.run(torture.programs(), level)
    assert [str(outcome) for outcome in outcomes if outcome.complaint] == []
