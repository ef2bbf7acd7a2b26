# SPDX-License-Identifier: GPL-2.0-or-later
"""Dependency expressions, checked by the kernel's own `conf`; reasons for lost symbols."""

import random
import subprocess
from pathlib import Path

import pytest

from kadence.kconfig.configuration import configure, explain
from kadence.kconfig.configuration.rules import Requested
from kadence.kconfig.language.expression import conjuncts, evaluate, unmet_parts
from kadence.kconfig.language.kconfig_files import definitions

KCONFIG = """\
mainmenu "Test"
config YES
\tdef_bool y
config NO
\tbool "no"
config NUMBER
\tint "number"
\tdefault 7
config WORD
\tstring "word"
\tdefault "abc"
"""
ATOMS = ["YES", "NO", "!NO", "y", "n", "NUMBER=7", "NUMBER != 7", "NUMBER>=8", 'WORD="abc"', "GONE"]


def run_conf(conf: Path, tree: Path) -> dict[str, str]:
    """The configuration that `conf` makes of the tree's defaults."""
    subprocess.run([conf, "--alldefconfig", "Kconfig"], cwd=tree, check=True, capture_output=True)
    return configure.values(tree / ".config")


def random_expression(chance: random.Random, depth: int) -> str:
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(ATOMS)
    left, right = (random_expression(chance, depth - 1) for _ in range(2))
    joined = f"{left} {chance.choice(['&&', '||'])} {right}"
    return chance.choice([joined, f"({joined})", f"!({joined})"])


def test_expressions_have_the_values_that_conf_gives_them(conf: Path, tmp_path: Path) -> None:
    chance = random.Random(7)
    expressions = [random_expression(chance, 4) for _ in range(400)]
    text = "".join(
        f"config R{number}\n\tdef_bool y\n\tdepends on {expression}\n"
        for number, expression in enumerate(expressions)
    )
    (tmp_path / "Kconfig").write_text(KCONFIG + text)
    values = run_conf(conf, tmp_path)
    for number, expression in enumerate(expressions):
        expected = values.get(f"R{number}", "n") == "y"
        assert (evaluate(expression, values) > 0) == expected, expression
        assert (not unmet_parts(expression, values)) == expected, expression


def test_an_expression_is_split_at_its_outer_ands() -> None:
    assert conjuncts("A && (B || C) && !D") == ["A", "(B || C)", "!D"]
    assert conjuncts("A && B || C") == ["A && B || C"]
    assert conjuncts('A!=B && X="a && b"') == ["A != B", 'X = "a && b"']


EXPLAINED = """\
mainmenu "Test"
config LOW
\tbool "low"
config HIGH
\tbool "high"
config DIRECT
\tbool "direct"
\tdepends on HIGH && !LOW
\thelp
\t  depends on nothing, this text says,
\t    config FAKE
\t  and means it not.
menu "A menu"
\tdepends on LOW
config IN_MENU
\tbool "in a menu"
endmenu
if HIGH
config IN_IF
\tbool "in an if"
endif
config SHY
\tbool "shy" if HIGH
config SILENT
\tint
\tdefault 100
config RANGED
\tint "ranged"
\trange 5 9
\tdefault 6
config TWICE
\tbool "twice"
\tdepends on LOW && HIGH
config TWICE
\tdepends on HIGH
config ANCHOR
\tdef_bool y
\tselect HELD if !LOW
config HELD
\tbool "held"
config CONTINUED
\tbool "continued"
\tdepends on !LOW && \\
\t\tHIGH
"""


@pytest.mark.parametrize(
    ("symbol", "value", "said"),
    [
        ("DIRECT", "y", "unmet dependency: HIGH (HIGH is n)"),
        ("IN_MENU", "y", "unmet dependency: LOW (LOW is n)"),
        ("IN_IF", "y", "unmet dependency: HIGH (HIGH is n)"),
        ("SHY", "y", "unmet dependency: HIGH (HIGH is n)"),
        ("TWICE", "y", "unmet dependency: HIGH (HIGH is n)"),
        ("CONTINUED", "y", "unmet dependency: HIGH (HIGH is n)"),
        ("SILENT", "250", "it has no prompt"),
        ("RANGED", "50", "its range is 5 9"),
        ("FAKE", "y", "no such symbol"),
        ("HELD", "n", "selected by ANCHOR"),
    ],
)
def test_a_lost_symbol_is_explained(
    conf: Path, tmp_path: Path, symbol: str, value: str, said: str
) -> None:
    (tmp_path / "Kconfig").write_text(EXPLAINED)
    values = run_conf(conf, tmp_path)
    assert values.get(symbol, "n") != value  # the symbol really is lost
    wanted = Requested(symbol, value, "because", "a.toml")
    assert said in explain.reason(wanted, values, tmp_path, {})


def test_the_real_tree_is_read_as_kbuild_reads_it(pristine: Path) -> None:
    variables = {"SRCARCH": "um", "HEADER_ARCH": "x86", "ARCH": "um"}
    known = definitions(pristine, variables)
    names = {definition.symbol for definition in known}
    # Every symbol of User-Mode Linux's defconfig that still exists, and no word of a help text.
    defconfig = (pristine / "arch/um/configs/x86_64_defconfig").read_text()
    stale = {"SYSFS_DEPRECATED", "IOSCHED_BFQ", "UML_NET_SLIRP", "DEBUG_INFO_DWARF_TOOLCHAIN"}
    missing = {
        line.split("=")[0].removeprefix("CONFIG_")
        for line in defconfig.splitlines()
        if line.startswith("CONFIG_")
    } - names
    assert missing <= stale
    odd = {name for name in names if not name.isidentifier() and not name[0].isdigit()}
    assert not odd
