# SPDX-License-Identifier: GPL-2.0-or-later
"""The environment in which the commands of a kadence.toml run."""

import os
import subprocess
from pathlib import Path

import pytest

from kadence.program import builds, program

TOML = """
[program]
name = "toy"
[build]
prepare = 'cat "$KADENCE_FOLDER/../beside" >fetched'
command = "true"
[run]
command = ["true"]
[check]
command = ["true"]
"""


def test_prepare_works_on_a_copy_and_knows_what_lies_beside_the_folder(tmp_path: Path) -> None:
    (tmp_path / "beside").write_text("for all programs here")
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "kadence.toml").write_text(TOML)
    output = tmp_path / "output"
    builds.prepare(program.read(folder), output / "source", output, output / "log")
    assert (output / "source/fetched").read_text() == "for all programs here"
    assert not (folder / "fetched").exists()


@pytest.mark.parametrize(
    ("given", "printed"), [(None, "Sep  9 2001 01:46:40"), ("86400", "Jan  2 1970 00:00:00")]
)
def test_a_program_that_prints_when_it_was_built_prints_its_sources_date(
    given: str | None, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    if given is not None:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    source = tmp_path / "source"
    source.mkdir()
    (source / "kadence.toml").write_text(TOML.replace('"true"', "'$CC -o dated dated.c'", 1))
    (source / "dated.c").write_text(
        '#include <stdio.h>\nint main(void) { puts(__DATE__ " " __TIME__); }\n'
    )
    os.utime(source, (1_000_000_000, 1_000_000_000))
    toy = program.read(source)
    for name in ("first", "second"):
        builds.build(toy, source, tmp_path / name, tmp_path / "log", plan=None)
        said = subprocess.run([tmp_path / name / "dated"], capture_output=True, check=True)
        assert said.stdout.decode().strip() == printed
