# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetching a series that this machine's Debian release does not have."""

import subprocess
from pathlib import Path

import pytest

from kadence.base.errors import ToolError, UsageError
from kadence.kconfig.request import series
from kadence.kconfig.request.request import BuildRequest
from kadence.kconfig.tree import fetch, source

SERIES = series.get("7.3")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path))
    return tmp_path


def test_what_is_installed_is_not_fetched() -> None:
    with pytest.raises(UsageError, match="apt-get install linux-source-6.12"):
        fetch.fetch(series.get("6.12"))


def test_what_is_missing_is_named_with_the_command_that_brings_it(cache: Path) -> None:
    if SERIES.installed.is_file():
        pytest.skip(f"{SERIES.installed} is installed here")
    with pytest.raises(ToolError, match=r"series 7.3 is missing .*; get it with: make series-7.3"):
        source.origin(BuildRequest(series="7.3"))


def test_a_suite_that_cannot_be_had_is_one_sentence_and_leaves_nothing(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "_archive", lambda: (f"file:{cache}/nowhere", fetch.KEYRING))
    with pytest.raises(ToolError, match="series 7.3 can't be had from trixie-backports: ") as told:
        fetch.fetch(SERIES)
    assert "\n" not in str(told.value)
    assert list((cache / "packages").iterdir()) == []


def test_a_package_that_nobody_signed_is_refused(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cache / "archive/dists/trixie-backports"
    (folder / "main/binary-amd64").mkdir(parents=True)
    (folder / "main/binary-amd64/Packages").write_text("Package: linux-source-7.3\n")
    (folder / "Release").write_text("Suite: trixie-backports\nComponents: main\n")
    monkeypatch.setattr(fetch, "_archive", lambda: (f"file:{cache}/archive", fetch.KEYRING))
    with pytest.raises(ToolError, match="is not signed"):
        fetch.fetch(SERIES)


@pytest.mark.full
def test_the_source_comes_from_the_machines_own_archive(cache: Path) -> None:
    try:
        fetch.fetch(SERIES)
    except ToolError as error:
        pytest.skip(str(error))
    names = ["tar", "-tJf", SERIES.tarball, "linux-source-7.3/Makefile"]
    assert subprocess.run(names, check=True, capture_output=True).stdout
    assert fetch.fetch(SERIES) == f"{SERIES.tarball} is there"
