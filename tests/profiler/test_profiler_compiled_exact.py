# SPDX-License-Identifier: GPL-2.0-or-later
"""What exact mode counts equals what gcov counts, block for block.

Left out is what gcov writes no notes of: parts of functions that the compiler split off, and bodies
that are only offered for inlining.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from compiled_programs import build, build_plain, counts, profile_of, run
from gcov_oracle import block_counts

# Where setjmp returns to: gcov counts who comes from above, we also who comes back.
AGAIN = ("leaps", 3)
TOLD = re.compile(r"^(\S+): block (\d+) has block (\d+) of (\S+)$", re.MULTILINE)


def told_blocks(directory: Path) -> list[tuple[str, int, str, int]]:
    """Which named blocks each counted one consists of, from the compiler's dump."""
    (dump,) = directory.glob("*kadence_exact")
    return [
        (body, int(counted), function, int(index))
        for body, counted, index, function in TOLD.findall(dump.read_text())
    ]


@pytest.mark.parametrize("options", [["-O0"], ["-O2"], ["-O3", "-march=native"]], ids=" ".join)
@pytest.mark.parametrize("source", ["flow.c", "thrown.cc", "columns.f90"])
def test_counts_equal_gcovs(tmp_path: Path, source: str, options: list[str]) -> None:
    exact = build(tmp_path, source, *options, "-fdump-ipa-all", mode="exact")
    covered = build_plain(tmp_path, source, *options, "--coverage")

    assert run(exact).stdout == run(covered).stdout

    (notes,) = tmp_path.glob("*.gcno")
    by_gcov = block_counts(notes, notes.with_suffix(".gcda"))
    expected: Counter[tuple[str, int]] = Counter()
    left_out = {AGAIN}
    for body, counted, function, index in told_blocks(tmp_path):
        if body in by_gcov:
            expected[function, index] += by_gcov[body].get(counted, 0)
        else:
            left_out.add((function, index))
    measured: Counter[tuple[str, int]] = Counter()
    for (function, _checksum, index), count in counts(profile_of(exact)).items():
        assert index is not None
        measured[function, index] += count
    for block in left_out:
        expected[block] = measured[block] = 0
    assert +measured == +expected
    assert len(expected) - len(left_out) > 20
