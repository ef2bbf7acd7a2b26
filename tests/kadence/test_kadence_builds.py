# SPDX-License-Identifier: GPL-2.0-or-later
"""The environment in which the commands of a kadence.toml run."""

import os
import subprocess
from pathlib import Path

import pytest

from kadence.base import elf
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


SOURCE = """
#include <stdio.h>
int main(int count, char **words)
{
    (void)words;
    for (int i = 0; i < 10 * count; i++)
        puts(TEXT);
    return 0;
}
"""


def test_contents_tell_programs_apart_and_debug_information_does_not(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(SOURCE)

    def contents(name: str, *options: str) -> str | None:
        place = tmp_path / name
        command = ["gcc-12", *options, "-o", place, tmp_path / "p.c"]
        subprocess.run(command, check=True)
        return elf.contents(place)

    plain = contents("plain", "-O2", '-DTEXT="one"')
    assert plain is not None
    assert plain == contents("debug", "-O2", '-DTEXT="one"', "-g", "-DUNUSED")
    assert plain != contents("text", "-O2", '-DTEXT="two"')
    assert plain != contents("code", "-O0", '-DTEXT="one"')
    assert elf.contents(tmp_path / "p.c") is None
    (tmp_path / "short").write_bytes(elf.MAGIC + bytes(60))
    assert elf.contents(tmp_path / "short") is None


def test_flags_of_the_caller_do_not_reach_a_plain_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "kadence.toml").write_text(TOML.replace('"true"', "'$CC -o p p.c'", 1))
    (source / "p.c").write_text(
        '#include <stdio.h>\nint main(void) {\n#ifdef OWN\nputs("own");\n#endif\n}\n'
    )
    monkeypatch.setenv("KADENCE_FLAGS", "-DOWN")
    toy = program.read(source)
    for flags, said in (("", b""), ("-DOWN", b"own\n")):
        builds.build(toy, source, tmp_path / "p", tmp_path / "log", None, flags)
        completed = subprocess.run([tmp_path / "p/p"], capture_output=True, check=False)
        assert completed.stdout == said
