# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files' lines a page may show: a profile can name any file that the reader has."""

from pathlib import Path

import pytest

from kadence.phases.view import source_lines


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program's folder, with files in and beside it that a page must not show."""
    made = tmp_path / "program"
    (made / "source").mkdir(parents=True)
    (made / "heat.c").write_text("int main(void)\n{\n")
    (made / "source" / "grid.f90").write_text("program grid\n")
    (made / "key.pem").write_text("secret\n")
    (tmp_path / "other.c").write_text("secret\n")
    (made / "link.c").symlink_to(tmp_path / "other.c")
    return made


def test_lines_of_the_program_are_shown(folder: Path) -> None:
    """By the name that the compiler knew, relative or absolute."""
    whole = str(folder / "heat.c")
    found = source_lines.read([("heat.c", 1), ("grid.f90", 1), (whole, 2)], folder)
    assert found == {
        ("heat.c", 1): "int main(void)",
        ("grid.f90", 1): "program grid",
        (whole, 2): "{",
    }


@pytest.mark.parametrize("name", ["../other.c", "link.c", "key.pem", "source", "no\0name.c"])
def test_other_files_are_not(folder: Path, name: str) -> None:
    """Files outside, behind a link, or without a source's suffix, and names of no file."""
    assert source_lines.read([(name, 1)], folder) == {}


def test_a_whole_name_elsewhere_is_not(folder: Path) -> None:
    """Joining an absolute name to the folder gives the absolute name again."""
    assert source_lines.read([(str(folder.parent / "other.c"), 1)], folder) == {}
    assert source_lines.read([("/proc/self/environ", 1)], folder) == {}
