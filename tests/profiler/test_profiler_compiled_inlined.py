# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls are counted of functions, too, of which optimisation leaves little."""

from pathlib import Path

import pytest
from compiled_programs import build, counts, entries, profile_of, run

CALLS = {"main": 1, "triple": 12, "quadruple": 5, "fibonacci": 1973}
PAIRS = 4000


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
@pytest.mark.parametrize("mode", ["fast", "exact"])
def test_calls_are_counted_wherever_they_were_inlined(
    tmp_path: Path, mode: str, level: str
) -> None:
    # The compiler looks after every pass whether its own structures still agree.
    program = build(tmp_path, "vanishing.c", level, "-fchecking", mode=mode)
    run(program)

    profile = profile_of(program)
    assert {function: entries(profile, function) for function in CALLS} == CALLS


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_steps_between_inlined_loops_are_counted(tmp_path: Path, level: str) -> None:
    """Every block that is there in exact mode, which counts before inlining, as often."""
    found = []
    for mode in ("fast", "exact"):
        program = build(tmp_path, "axes.c", level, "-fchecking", mode=mode)
        run(program)
        profile = profile_of(program)
        assert entries(profile, "attract") == PAIRS
        # At -O3 it is inlined before any mode counts, and its first block is gone for gcov, too.
        assert entries(profile, "subtract") == 2 * PAIRS or level == "-O3"
        found.append(counts(profile))
    assert found[0] == found[1]
