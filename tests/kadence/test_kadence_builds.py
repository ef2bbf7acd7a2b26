# SPDX-License-Identifier: GPL-2.0-or-later
"""What the commands of a kadence.toml find in their environment."""

from pathlib import Path

from kadence import builds, program

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
