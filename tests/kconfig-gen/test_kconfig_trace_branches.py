# SPDX-License-Identifier: GPL-2.0-or-later
"""Branches on IS_ENABLED, compared with the calls that GCC leaves in the object."""

import itertools
import re
import subprocess
from pathlib import Path

import pytest

from kadence.kconfig.trace.condition import TRUE
from kadence.kconfig.trace.guards import Guards

SYMBOLS = ("A", "B", "C")
# Every call is on its own line and named after the line.
SOURCE = """\
extern int given(int value);
#define UNUSED if (IS_ENABLED(CONFIG_A))
int first(int value)
{
	if (IS_ENABLED(CONFIG_A)) {
		line_6();
		if (value && !IS_ENABLED(CONFIG_B))
			line_8();
		else
			line_10();
	} else if (IS_ENABLED(CONFIG_C) &&
			given(value)) { /* } */
		line_13("}", '{');
	} else {
		line_15();
	}
	line_17();
	if (!IS_ENABLED(CONFIG_C))
		return 0;
	line_20();
	for (int i = 0; i < value; i++) {
		if (!IS_ENABLED(CONFIG_B)) {
			return 1;
		}
		line_25();
	}
	line_27();
	return 2;
}
int second(int value)
{
	if (value > 3)
		if (IS_ENABLED(CONFIG_A) || IS_ENABLED(CONFIG_B))
			do {
				line_35();
			} while (given(value));
	if (value)
		goto late;
	if (!IS_ENABLED(CONFIG_B))
		return 0;
	line_41();
late:
	line_43();
	return 0;
}
"""
LINES = [int(number) for number in re.findall(r"line_(\d+)\(", SOURCE)]


def lines_that_gcc_keeps(source: Path, on: frozenset[str]) -> set[int]:
    values = [f"-DCONFIG_{symbol}={int(symbol in on)}" for symbol in SYMBOLS]
    whole = ["-DIS_ENABLED(option)=option", "-Wno-implicit-function-declaration"]
    built = source.with_suffix(".o")
    command = ["gcc-12", "-O2", *whole, *values, "-c", "-o", str(built), str(source)]
    subprocess.run(command, check=True)
    listed = subprocess.run(["nm", str(built)], capture_output=True, text=True, check=True).stdout
    return {int(number) for number in re.findall(r" U line_(\d+)", listed)}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "code.c"
    path.write_text(SOURCE)
    return path


def test_every_call_is_named_after_its_line() -> None:
    lines = SOURCE.splitlines()
    assert all(f"line_{number}(" in lines[number - 1] for number in LINES)


@pytest.mark.parametrize(
    "on", [frozenset(some) for size in range(4) for some in itertools.combinations(SYMBOLS, size)]
)
def test_a_branch_is_there_when_gcc_says_so(source: Path, on: frozenset[str]) -> None:
    guards = Guards(source.parent)
    found = {number for number in LINES if guards.around("code.c", number).holds(on)}
    assert found == lines_that_gcc_keeps(source, on)


def test_code_without_symbols_is_unguarded(tmp_path: Path) -> None:
    (tmp_path / "plain.c").write_text("int f(int a)\n{\n\tif (a) {\n\t\treturn 1;\n\t}\n}\n")
    assert Guards(tmp_path).around("plain.c", 4) == TRUE
