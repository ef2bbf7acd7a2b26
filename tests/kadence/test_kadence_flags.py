# SPDX-License-Identifier: GPL-2.0-or-later
"""Flags of the compiler whose effect is known, because the program asks for them by name."""

from pathlib import Path

import pytest

from kadence.base.stages import Stages
from kadence.base.statistics import Estimate
from kadence.measurement.measure import PLAIN
from kadence.program import program
from kadence.program.places import Places
from kadence.report import report
from kadence.specialize import flags
from kadence.specialize.flags import Flags, Trial, Tried
from kadence.specialize.line import Line

# FAST does a tenth of the work, OTHER prints another result, BROKEN fails its check.
SOURCE = """
#include <stdio.h>
#ifdef FAST
enum { ROUNDS = 4000000 };
#else
enum { ROUNDS = 40000000 };
#endif
int main(int count, char **words)
{
    volatile unsigned sum = 0;
    (void)words;
    for (int i = 0; i < ROUNDS; i++)
        sum = sum + 1;
#ifdef OTHER
    puts("other");
#else
    puts("result");
#endif
#ifdef BROKEN
    return count > 1;
#else
    return count < 1;
#endif
}
"""
TRIED = ("-DFAST", "-DSAME", "-DOTHER", "-DBROKEN", "-fno-such-option")


def test_flags_give_what_they_give(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "p.c").write_text(SOURCE)
    (folder / "Makefile").write_text("p: p.c\n\t$(CC) -O2 -o $@ $<\n")
    (folder / "kadence.toml").write_text(
        f'[program]\nname = "p"\n[build]\ncommand = "make"\nflags = {list(TRIED)!r}\n'
        '[run]\ncommand = ["./p"]\n[check]\ncommand = ["./p", "check"]\n'
    )
    output = tmp_path / "out"
    output.mkdir()
    places = Places(output, "p")
    line = Line(program.read(folder), places, Stages(output))
    source_key = line.copied()
    plain_key = line.built(PLAIN, source_key, None)
    trial = Trial(line, 7, 1)
    trial(source_key, plain_key)
    found = trial.read()
    fast, same, other, broken, unknown = found.tried
    assert fast.outcome == report.FASTER
    assert fast.ratio is not None and fast.ratio.value < 0.6
    assert same.outcome == flags.UNCHANGED
    assert other.outcome == flags.DIFFERENT
    assert "standard output is not the same: it is not recommended" in other.sentence
    assert broken.outcome == unknown.outcome == flags.FAILED
    assert "the check of p does not pass" in broken.sentence
    assert "build-fno-such-option.log" in unknown.sentence
    assert found.first.startswith("compile with -DFAST first: with -DFAST the plain program takes")
    assert len(found.rest) == 4
    # Nothing changed, so nothing is built or run again.
    before = (output / "flags/DFAST/p").stat().st_mtime_ns
    trial(source_key, plain_key)
    assert (output / "flags/DFAST/p").stat().st_mtime_ns == before


def ratio(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, low, high, 0.98, 7)


def tried(value: float, low: float, high: float, outcome: str = report.FASTER) -> Tried:
    return Tried("-O3", outcome, ratio(value, low, high), "it takes less")


def flags_of(*each: Tried, high: float = 0.2) -> Flags:
    return Flags(("./p",), 7, 0.0, ratio(0.1, 0.05, high), each)


def test_only_a_gain_that_is_certain_and_above_the_ceiling_comes_first() -> None:
    """The ceiling is at most 20 %, so a flag has to gain more even at its interval's end."""
    assert flags_of(tried(0.7, 0.65, 0.75)).first
    assert not flags_of(tried(0.7, 0.55, 0.85)).first
    assert not flags_of(tried(0.7, 0.65, 0.75), high=0.3).first
    assert not flags_of(tried(0.7, 0.65, 0.75, flags.DIFFERENT)).first
    assert not flags_of(tried(1.3, 1.2, 1.4, report.SLOWER)).first
    assert flags_of(tried(0.9, 0.85, 0.95)).rest == ("it takes less",)


def test_the_flag_for_this_processor_says_so() -> None:
    native = Tried("-march=native", report.FASTER, ratio(0.5, 0.45, 0.55), "it takes less")
    assert "only on processors that have all that this one has" in flags_of(native).first


@pytest.mark.parametrize(
    ("flag", "name"), [("-O3", "O3"), ("-march=native", "march-native"), ("-O3 -g", "O3-g")]
)
def test_a_flag_names_a_folder(flag: str, name: str) -> None:
    assert flags.slug(flag) == name
