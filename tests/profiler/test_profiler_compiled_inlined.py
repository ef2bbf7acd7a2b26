# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls are counted even for functions of which optimisation leaves little."""

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
    # With -fchecking the compiler verifies its own data structures after every pass.
    program = build(tmp_path, "vanishing.c", level, "-fchecking", mode=mode)
    run(program)

    profile = profile_of(program)
    assert {function: entries(profile, function) for function in CALLS} == CALLS


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_steps_between_inlined_loops_are_counted(tmp_path: Path, level: str) -> None:
    """Fast mode finds the blocks and counts of exact mode, which counts before inlining."""
    found = []
    for mode in ("fast", "exact"):
        program = build(tmp_path, "axes.c", level, "-fchecking", mode=mode)
        run(program)
        profile = profile_of(program)
        assert entries(profile, "attract") == PAIRS
        # At -O3 subtract() is inlined before either mode counts; gcov misses its first block, too.
        assert entries(profile, "subtract") == 2 * PAIRS or level == "-O3"
        found.append(counts(profile))
    assert found[0] == found[1]
