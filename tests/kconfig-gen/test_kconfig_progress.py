# SPDX-License-Identifier: GPL-2.0-or-later
"""A build's progress, checked against the toy tree's known number of files."""

import re
from pathlib import Path
from typing import Any

import pytest

from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.tree import progress
from kadence.kconfig.tree.progress import Progress


@pytest.fixture
def every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write each line of progress to the log, not one every ten seconds."""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)


@pytest.mark.usefixtures("every_line")
@pytest.mark.parametrize(("target", "files"), [("um", 0), ("um", 37), ("x86_64", 12)])
def test_the_first_build_knows_its_total(
    toy: Any, target: str, files: int, capsys: pytest.CaptureFixture[str]
) -> None:
    toy.compile(files)
    kernel = build(BuildRequest(target=target, source=toy.tree))
    said = re.findall(r"kernel \w+: (\d+ of .*) files", capsys.readouterr().err)
    assert said == [f"{number + 1} of {files + 1}" for number in range(files + 1)]
    assert kernel.manifest["files_compiled"] == files + 1


@pytest.mark.usefixtures("every_line")
def test_a_later_one_says_about_how_many(toy: Any, capsys: pytest.CaptureFixture[str]) -> None:
    toy.compile(4)
    build(BuildRequest(source=toy.tree))
    build(BuildRequest(source=toy.tree, hz=250))
    assert "5 of about 5 files" in capsys.readouterr().err


def test_a_log_gets_no_line_from_a_short_build(
    toy: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    toy.compile(100)
    build(BuildRequest(source=toy.tree))
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_one_line_that_goes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True)
    with Progress("tailored kernel") as shown:
        shown.expect(2, exact=True)
        for line in ("  HOSTCC  scripts/x", "  CC      a.o", "  AR      b.a", "  AS      c.o"):
            shown.compiled(f"{line}\n")
    said = capsys.readouterr().err
    lines = said.split("\r\033[K")
    assert lines == [
        "",
        "tailored kernel: 1 of 2 files, 0:00",
        "tailored kernel: 2 of 2 files, 0:00",
        "",
    ]


@pytest.mark.usefixtures("every_line")
@pytest.mark.parametrize(("total", "said"), [(2, "3 of 3 files"), (0, "3 files")])
def test_more_than_expected_is_no_nonsense(
    total: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress("generic kernel") as shown:
        shown.expect(total, exact=True)
        for _ in range(3):
            shown.compiled("  CC      a.o\n")
    assert f"kadence: generic kernel: {said}, " in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.usefixtures("every_line")
def test_who_waits_reads_the_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note = tmp_path / "id.progress"
    looks = iter([False, True])
    with Progress("generic kernel", note) as builder:
        builder.expect(9, exact=True)
        builder.compiled("  CC      a.o\n")
        progress.follow("waiting for it", note, lambda: next(looks))
    assert "kadence: waiting for it: 1 of 9 files, 0:00" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_no_place_for_a_note_is_no_error(tmp_path: Path) -> None:
    with Progress("generic kernel", tmp_path / "no/such/folder") as builder:
        builder.compiled("  CC      a.o\n")
    assert builder.files == 1
