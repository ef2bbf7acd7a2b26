# SPDX-License-Identifier: GPL-2.0-or-later
"""Makefiles above a file, compared with the objects that GNU make lists."""

import itertools
import subprocess
from pathlib import Path

import pytest

from kadence.kconfig.trace.kbuild import Kbuild

SYMBOLS = ("A", "B", "C")
TOP = """\
obj-y += plain/
obj-$(CONFIG_A) += under_a/
obj-y += arch/$(SRCARCH)/
"""
UNDER_A = """\
# SPDX-License-Identifier: GPL-2.0
obj-y := always.o
obj-$(CONFIG_B)	+= only_b.o \\
	also_b.o # and a comment
obj-$(CONFIG_C) += whole.o deep/part.o
whole-y := first.o
whole-$(CONFIG_B) += second.o
whole-objs += third.o
ifdef CONFIG_C
obj-y += with_c.o
else
obj-y += without_c.o
endif
ifeq ($(CONFIG_B),y)
obj-y += equal.o
endif
ifneq ($(CONFIG_B),)
lib-y += not_empty.o
endif
ifeq ($(CONFIG_C),)
obj-y += empty.o
endif
obj-$(subst m,y,$(CONFIG_B)) += replaced.o
"""
FILES = [
    "always", "only_b", "also_b", "first", "second", "third", "deep/part", "with_c", "without_c",
    "equal", "not_empty", "empty", "replaced",
]  # fmt: skip
# What Kbuild itself does with these variables, in a line each.
ASK = """\
include {makefile}
parts = $(foreach o,$(1),$(if $($(o:.o=-y))$($(o:.o=-objs)),$($(o:.o=-y)) $($(o:.o=-objs)),$(o)))
ask:
\t@echo $(call parts,$(obj-y)) $(lib-y)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "Kbuild").write_text(TOP)
    (tmp_path / "under_a").mkdir()
    (tmp_path / "under_a/Makefile").write_text(UNDER_A)
    return tmp_path


def objects(tree: Path, on: frozenset[str]) -> set[str]:
    """The objects that make would build in under_a."""
    asking = tree / "ask.mk"
    asking.write_text(ASK.format(makefile=tree / "under_a/Makefile"))
    command = ["make", "-s", "-f", str(asking), "ask", *(f"CONFIG_{symbol}=y" for symbol in on)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {word.removesuffix(".o") for word in said.split()}


@pytest.mark.parametrize(
    "on", [frozenset(some) for size in range(4) for some in itertools.combinations(SYMBOLS, size)]
)
def test_a_file_is_compiled_when_make_says_so(tree: Path, on: frozenset[str]) -> None:
    kbuild = Kbuild(tree, {"SRCARCH": "toy"})
    found = {name for name in FILES if kbuild.above(f"under_a/{name}.c").holds(on)}
    assert found == (objects(tree, on) if "A" in on else set())


def test_a_folder_under_the_architecture(tree: Path) -> None:
    (tree / "arch/toy").mkdir(parents=True)
    (tree / "arch/toy/Makefile").write_text("obj-$(CONFIG_B) += boards/\n")
    (tree / "arch/toy/boards").mkdir()
    (tree / "arch/toy/boards/Makefile").write_text("obj-$(CONFIG_C) += one.o\n")
    kbuild = Kbuild(tree, {"SRCARCH": "toy"})
    assert kbuild.above("arch/toy/boards/one.c").needs({"A", "B", "C"}) == {"B", "C"}
