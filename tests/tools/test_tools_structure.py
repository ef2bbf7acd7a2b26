# SPDX-License-Identifier: GPL-2.0-or-later
"""The checkers of structure find what was planted, and nothing in this tree."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Path:
    """A tree of its own, with the tool and two packages."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/directions").write_bytes((root / "tools/directions").read_bytes())
    (tmp_path / "pyproject.toml").write_text(
        '"kadence.base" = "base"\n"kadence.phases" = "phases"\n'
    )
    for file in ("base/errors.py", "phases/tree.py", "phases/matrix.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("")
    (tmp_path / "tools/directions.toml").write_text(
        '[uses]\n"base" = []\n"phases" = ["base"]\n"gccplugin/count" = []\n'
    )
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def complaints(tree: Path) -> list[str]:
    subprocess.run(["git", "add", "-A"], cwd=tree, check=True)
    command = [sys.executable, tree / "tools/directions"]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = completed.stderr.splitlines()
    assert completed.returncode == bool(lines), completed
    return lines


def test_an_allowed_use_is_no_complaint(tree: Path) -> None:
    (tree / "phases/tree.py").write_text("from kadence.base.errors import KadenceError\n")
    assert complaints(tree) == []


def test_a_use_that_no_row_allows_is_one(tree: Path) -> None:
    (tree / "base/errors.py").write_text("def f():\n    from kadence.phases import tree\n")
    (line,) = complaints(tree)
    assert "base/errors.py uses phases/tree.py, but base may not use phases" in line


def test_a_circle_of_modules_is_one(tree: Path) -> None:
    (tree / "phases/tree.py").write_text("from kadence.phases import matrix\n")
    (tree / "phases/matrix.py").write_text("import kadence.phases.tree\n")
    (line,) = complaints(tree)
    assert "in a circle: phases/matrix.py, phases/tree.py" in line


def test_a_circle_of_sources_through_their_headers_is_one(tree: Path) -> None:
    count = tree / "gccplugin/count"
    count.mkdir(parents=True)
    for one, other in (("marks", "weight"), ("weight", "marks")):
        (count / f"{one}.h").write_text("")
        (count / f"{one}.cc").write_text(f'#include "count/{one}.h"\n#include "count/{other}.h"\n')
    (line,) = complaints(tree)
    assert "in a circle: gccplugin/count/marks.h, gccplugin/count/weight.h" in line


def test_a_folder_without_a_row_is_one(tree: Path) -> None:
    (tree / "phases/find").mkdir()
    (tree / "phases/find/vectors.py").write_text("")
    (line,) = complaints(tree)
    assert "has no row for phases/find" in line


def test_this_tree_has_none(root: Path) -> None:
    subprocess.run([root / "tools/directions"], check=True)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("long.py", "x = 1\n" * 401, "401 lines"),
        ("function.py", "def f():\n" + "    x = 1\n" * 60, "a function of 61 lines"),
        ("function.c", "int f(void)\n{\n" + "\tx++;\n" * 60 + "}\n", "a function of 62 lines"),
        ("namespace.cc", "namespace a\n{\n" + "int x;\n" * 70 + "}\n", ""),
        ("table.c", "int table[] =\n{\n" + "1,\n" * 70 + "};\n", ""),
        ("long.md", "word " * 2001, "2001 words, above 2000"),
        ("README.md", "word " * 901, "901 words, above 900"),
        ("short.md", "word\n" * 2000, ""),
        ("short.py", "def f():\n" + "    x = 1\n" * 59, ""),
    ],
)
def test_what_is_too_long_is_found(
    name: str, text: str, said: str, root: Path, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    command = [sys.executable, root / "tools/sizes", path]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == bool(said), completed
    assert said in completed.stderr
