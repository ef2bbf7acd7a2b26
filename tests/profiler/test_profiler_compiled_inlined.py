# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls are counted of functions, too, of which optimisation leaves little."""

from pathlib import Path

import pytest
from compiled_programs import build, entries, profile_of, run

CALLS = {"main": 1, "triple": 12, "quadruple": 5, "fibonacci": 1973}


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
