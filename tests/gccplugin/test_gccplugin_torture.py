# SPDX-License-Identifier: GPL-2.0-or-later
"""GCC's own test programs: a fixed sample in `make test`, all programs in `make test-torture`."""

import subprocess
import sys
from pathlib import Path

import pytest
import torture
import torture_counting
import torture_dg

SAMPLE = 200
COUNTING_SAMPLE = 150
LEVELS = ("-O0", "-O2", "-O3")
OF_EACH_SUITE = 2
SCRIPTS = ("torture", "torture_counting", "torture_dg", "torture_layout", "gcc_counts")


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_finds_its_modules_without_pytest(script: str) -> None:
    """`make test-torture` runs these files as scripts."""
    loading = "import runpy, sys; runpy.run_path(sys.argv[1])"
    path = Path(__file__).with_name(f"{script}.py")
    subprocess.run([sys.executable, "-c", loading, path], cwd=path.parent, check=True)


def failures(programs: list[torture.Program], *levels: str) -> list[str]:
    """The outcomes of these programs that have a complaint."""
    return [str(outcome) for outcome in torture.run(programs, levels) if outcome.complaint]


def test_sample_behaves_the_same_with_markers_everywhere() -> None:
    sample = torture.sample(SAMPLE)
    assert len(set(sample)) == SAMPLE
    assert failures(sample, "-O2") == []


def complaints(outcomes: list[torture.Outcome]) -> list[str]:
    return [str(outcome) for outcome in outcomes if outcome.complaint]


def test_no_marker_wakes_the_compilers_fault_in_deleting_stores() -> None:
    """pr49115.C aborted at -Os: a phase call delayed the inlining of its constructor."""
    (suite,) = (of for of in torture_dg.SUITES if of.folder == "g++.dg/torture")
    (program,) = (one for one in suite.programs() if one.name.endswith("/pr49115.C"))
    assert complaints(torture_dg.run(suite, [program], "-Os")) == []


def test_nothing_precedes_a_call_that_returns_again() -> None:
    """GCC 13.3 and later check that setjmp begins its block; both programs failed to compile."""
    names = ("20210505-1.c", "pr56982.c")
    chosen = [program for program in torture.programs() if program.name in names]
    assert len(chosen) == len(names)
    outcomes = torture_counting.run(chosen, "-O2")
    assert [str(outcome) for outcome in outcomes if outcome.complaint] == []


@pytest.mark.parametrize("suite", torture_dg.SUITES, ids=lambda suite: suite.folder)
def test_sample_behaves_the_same_in_every_mode(suite: torture_dg.Suite) -> None:
    left_out = torture_dg.excluded()
    programs = [program for program in suite.programs() if program.name not in left_out]
    chosen = programs[:: len(programs) // OF_EACH_SUITE][:OF_EACH_SUITE]
    outcomes = torture_dg.run(suite, chosen, suite.levels[-1])
    assert len(outcomes) == OF_EACH_SUITE
    assert complaints(outcomes) == []


def test_directives_are_honoured() -> None:
    """Without these options, the programs would not compile or not run."""
    options = {program.name: program.options for program in torture.programs()}
    assert options["20001121-1.c"] == ("-lm", "-fgnu89-inline")
    assert "-mtune=i686" not in options["20010129-1.c"]
    assert "-fno-builtin-abs" in options["builtins/abs-1.c"]


@pytest.mark.torture
def test_every_program_behaves_the_same_with_markers_everywhere() -> None:
    assert failures(torture.programs(), *LEVELS) == []


@pytest.mark.torture
@pytest.mark.parametrize("level", LEVELS)
def test_sample_behaves_the_same_while_it_counts_itself(level: str) -> None:
    outcomes = torture_counting.run(torture.sample(COUNTING_SAMPLE), level)
    assert [str(outcome) for outcome in outcomes if outcome.complaint] == []


@pytest.mark.torture
@pytest.mark.parametrize("suite", torture_dg.SUITES, ids=lambda suite: suite.folder)
def test_every_program_behaves_the_same_in_every_mode(suite: torture_dg.Suite) -> None:
    for level in suite.levels:
        assert complaints(torture_dg.run(suite, suite.programs(), level)) == []
