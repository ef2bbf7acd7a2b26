# SPDX-License-Identifier: GPL-2.0-or-later
"""#if blocks around a line, compared with the lines that GCC's preprocessor keeps."""

import itertools
import subprocess
from pathlib import Path

import pytest

from kadence.kconfig.trace.condition import TRUE, of_kconfig, of_preprocessor
from kadence.kconfig.trace.guards import Guards

SYMBOLS = ("A", "B", "C")
SOURCE = """\
#ifndef HEADER_H
#define HEADER_H
/* include/linux/kconfig.h, as far as it goes here */
#define IS_ENABLED(option) (option + 0)
int line_5;
#ifdef CONFIG_A
int line_7;
#if defined(CONFIG_B) && !defined(CONFIG_C)
int line_9;
#elif defined CONFIG_C /* a comment || defined(CONFIG_A) */
int line_11;
#else
int line_13;
#endif
int line_15;
#else /* !CONFIG_A */
int line_17;
# ifndef CONFIG_B
int line_19;
# endif
#endif
#if IS_ENABLED(CONFIG_A) || \\
    (IS_ENABLED(CONFIG_B) && IS_ENABLED(CONFIG_C))
int line_24;
#endif
#if !(defined(CONFIG_A) || defined(CONFIG_B))
int line_27;
#elif 1
int line_29;
#endif
#if 1 && defined(CONFIG_B) // defined(CONFIG_C)
int line_32;
#endif
#endif
int line_35;
"""
LINES = [number for number, line in enumerate(SOURCE.splitlines(), 1) if line.startswith("int ")]


def lines_that_gcc_keeps(source: Path, on: frozenset[str]) -> set[int]:
    command = ["gcc-12", "-E", "-P", *(f"-DCONFIG_{symbol}=1" for symbol in on), str(source)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {number for number in LINES if f"line_{number};" in text}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "header.c"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize(
    "on", [frozenset(some) for size in range(4) for some in itertools.combinations(SYMBOLS, size)]
)
def test_a_line_is_there_when_gcc_says_so(source: Path, on: frozenset[str]) -> None:
    guards = Guards(source.parent)
    found = {number for number in LINES if guards.around("header.c", number).holds(on)}
    assert found == lines_that_gcc_keeps(source, on)


@pytest.mark.parametrize(
    "on", [frozenset(some) for size in range(4) for some in itertools.combinations(SYMBOLS, size)]
)
def test_what_a_line_needs_keeps_it(source: Path, on: frozenset[str]) -> None:
    """Symbols that were off stay off; of the symbols that were on, only the needed ones stay."""
    guards = Guards(source.parent)
    for number in lines_that_gcc_keeps(source, on):
        needed = guards.around("header.c", number).needs(on)
        assert needed <= on
        assert number in lines_that_gcc_keeps(source, needed)


def test_of_two_ways_the_one_that_is_there_is_enough() -> None:
    condition = of_preprocessor("defined(CONFIG_A) || (defined(CONFIG_B) && defined(CONFIG_C))")
    assert condition.needs({"A", "B", "C"}) == {"A"}
    assert condition.needs({"B", "C"}) == {"B", "C"}


@pytest.mark.parametrize(
    ("text", "on", "needed"),
    [
        ("NET && (INET || IPV6)", {"NET", "IPV6"}, {"NET", "IPV6"}),
        ("SMP=y && !UML", {"SMP"}, {"SMP"}),
        ("BLOCK != n", {"BLOCK"}, {"BLOCK"}),
        ("MODULES = n", set(), set()),
        ("$(cc-option,-mfoo) && X86", {"X86"}, {"X86"}),
        ("NR_CPUS > 1 && PCI", {"PCI"}, {"PCI"}),
    ],
)
def test_conditions_of_kconfig(text: str, on: set[str], needed: set[str]) -> None:
    assert of_kconfig(text).holds(on)
    assert of_kconfig(text).needs(on) == needed


def test_a_file_that_is_not_there_guards_nothing(tmp_path: Path) -> None:
    assert Guards(tmp_path).around("gone.c", 3) == TRUE
