# SPDX-License-Identifier: GPL-2.0-or-later
"""Exact mode counts the same as gcov, block for block.

The tests leave out code for which gcov writes no notes: parts that the compiler split off from
functions, and bodies that exist only for inlining.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from compiled_programs import build, build_plain, counts, profile_of, run
from gcov_oracle import block_counts

from kadence.profiler import kprof
from kadence.profiler.format.profile import Profile

# Where setjmp returns: gcov counts only its first return, exact mode also each longjmp back.
AGAIN = {("leaps", 3), ("_ZL5leapsl", 2)}
Block = tuple[str, int]
TOLD = re.compile(r"^(\S+): block (\d+) has block (\d+) of (\S+)$", re.MULTILINE)


def told_blocks(directory: Path) -> list[tuple[str, int, str, int]]:
    """The named blocks of which each counted block consists, from the compiler's dump."""
    (dump,) = directory.glob("*kadence_exact")
    return [
        (body, int(counted), function, int(index))
        for body, counted, index, function in TOLD.findall(dump.read_text())
    ]


def gcovs_counts(directory: Path) -> tuple[Counter[Block], set[Block]]:
    """How often gcov says each block was entered, and the blocks to leave out."""
    (notes,) = directory.glob("*.gcno")
    by_gcov = block_counts(notes, notes.with_suffix(".gcda"))
    expected: Counter[Block] = Counter()
    left_out = set(AGAIN)
    for body, counted, function, index in told_blocks(directory):
        if body in by_gcov:
            expected[function, index] += by_gcov[body].get(counted, 0)
        else:
            left_out.add((function, index))
    return expected, left_out


def our_counts(*profiles: Profile) -> Counter[Block]:
    """How often the profiles say each block was entered; each of their blocks ran."""
    measured: Counter[Block] = Counter()
    for profile in profiles:
        assert (profile.counts.data > 0).all()
        for (function, _checksum, index), count in counts(profile).items():
            assert index is not None
            assert count > 0
            measured[function, index] += count
    return measured


def assert_same(measured: Counter[Block], expected: Counter[Block], left_out: set[Block]) -> None:
    kept = expected.keys() | measured.keys()
    kept -= left_out
    assert {block: measured[block] for block in kept} == {block: expected[block] for block in kept}
    assert len(expected) - len(left_out) > 20


@pytest.mark.parametrize("options", [["-O0"], ["-O2"], ["-O3", "-march=native"]], ids=" ".join)
@pytest.mark.parametrize("source", ["flow.c", "thrown.cc", "columns.f90"])
def test_counts_equal_gcovs(tmp_path: Path, source: str, options: list[str]) -> None:
    exact = build(tmp_path, source, *options, "-fdump-ipa-all", mode="exact")
    covered = build_plain(tmp_path, source, *options, "--coverage")

    assert run(exact).stdout == run(covered).stdout

    assert_same(our_counts(profile_of(exact)), *gcovs_counts(tmp_path))


@pytest.mark.parametrize("options", [["-O0"], ["-O2"]], ids=" ".join)
def test_counts_equal_gcovs_however_threads_end(tmp_path: Path, options: list[str]) -> None:
    """Rows end as often as possible, by time and by instructions.

    A count that is derived from others is ahead between two counters; a row's end there shows it.
    """
    exact = build(tmp_path, "endings.cc", *options, "-fdump-ipa-all", mode="exact")
    # Atomic updates, so that threads lose none of each other's counts in gcov's counters.
    atomic = ("--coverage", "-fprofile-update=atomic")
    covered = build_plain(tmp_path, "endings.cc", *options, *atomic)
    printed = run(covered).stdout
    expected, left_out = gcovs_counts(tmp_path)
    rows = 0
    for interval in ["100000"] * 4 + ["100000i"] * 2:
        assert run(exact, KADENCE_PROFILE_INTERVAL=interval).stdout == printed
        (child,) = tmp_path.glob("*.kprof.[0-9]*")
        profiles = [profile_of(exact), kprof.read(child)]
        child.unlink()
        assert_same(our_counts(*profiles), expected, left_out)
        rows += sum(len(profile.instructions) for profile in profiles)
    assert rows > 100
