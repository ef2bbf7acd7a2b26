# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading the build-id and the CFG section from the ELF file."""

import re
import subprocess
from pathlib import Path

import pytest

from kadence.base.errors import ArtefactError
from kadence.profiler.format import cfgsection
from kadence.profiler.format.profile import Function, Loop

RECORDS = (
    "F\tmain\t/src/my file.c\t10\t0123abcd\t2\t2\nL\t1\t12\t1\t5\t6\t8,9\nL\t2\t13\t2\t0\t7\t\n"
    "\0\0\0F\t_ZN1a1bEv\tb.cc\t3\tffffffff\t0\t0\n\0"
)
FUNCTIONS = (
    Function(
        "main",
        "/src/my file.c",
        10,
        "0123abcd",
        (Loop(1, 12, 1, 5, 6, (8, 9)), Loop(2, 13, 2, None, 7)),
        2,
    ),
    Function("_ZN1a1bEv", "b.cc", 3, "ffffffff"),
)


def binary(directory: Path, records: str) -> Path:
    section = directory / "section"
    section.write_text(records, encoding="utf-8")
    source = directory / "a.c"
    source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    plain, output = directory / "plain", directory / "a"
    subprocess.run(["gcc-12", "-Wl,--build-id=0x00c0ffee", "-o", plain, source], check=True)
    subprocess.run(
        ["objcopy", "--add-section", f".kadence.cfg={section}", plain, output], check=True
    )
    return output


def test_functions_and_build_id(tmp_path: Path) -> None:
    assert cfgsection.read(binary(tmp_path, RECORDS)) == ("00c0ffee", FUNCTIONS)


def test_a_program_built_without_a_wrapper_has_no_functions(tmp_path: Path) -> None:
    binary(tmp_path, RECORDS)
    assert cfgsection.read(tmp_path / "plain") == ("00c0ffee", ())


@pytest.mark.parametrize(
    "records",
    [
        "X\tmain\n",
        "F\tmain\ta.c\t10\t0123abcd\n",
        "F\tmain\ta.c\tten\t0123abcd\t2\t0\n",
        "F\tmain\ta.c\t10\t0123abcd\t2\t2\nL\t1\t12\t1\t2\t3\t\n",
        "L\t1\t12\t1\n",
    ],
)
def test_an_unknown_record_is_refused(tmp_path: Path, records: str) -> None:
    with pytest.raises(ArtefactError, match="damaged"):
        cfgsection.read(binary(tmp_path, records))


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = binary(tmp_path, RECORDS)
    whole = path.read_bytes()
    for length in (0, 3, 40, 64, len(whole) // 2):
        path.write_bytes(whole[:length])
        with pytest.raises(ArtefactError, match=re.escape(str(path))):
            cfgsection.read(path)
