# SPDX-License-Identifier: GPL-2.0-or-later
"""GCC's own torture programs: a fixed sample in `make test`, all of them in `make test-torture`."""

import pytest
import torture
import torture_counting

SAMPLE = 200
COUNTING_SAMPLE = 150
LEVELS = ("-O0", "-O2", "-O3")


def failures(programs: list[torture.Program], *levels: str) -> list[str]:
    """The complaints about these programs."""
    return [str(outcome) for outcome in torture.run(programs, levels) if outcome.complaint]


def test_sample_behaves_the_same_with_markers_everywhere() -> None:
    sample = torture.sample(SAMPLE)
    assert len(set(sample)) == SAMPLE
    assert failures(sample, "-O2") == []


def test_directives_are_honoured() -> None:
    """Without their options these programs would not compile, or not run."""
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
