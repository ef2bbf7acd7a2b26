# SPDX-License-Identifier: GPL-2.0-or-later
"""The unit of docs/live.md, built and installed by the commands that it shows."""

import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kadence import boot
from kadence.boot import Request, debian
from kadence.boot.session import run

pytestmark = pytest.mark.kernel

UNIT = re.compile(r"^```c live\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# The guest's files are the host's, so Kadence itself runs there.
SCRIPT = """
set -e
insmod @DRIVER@
@KADENCE@ live install writes.ko
@KADENCE@ live list
@KADENCE@ live install writes.ko || echo "installed twice: $?"
@KADENCE@ live remove reads || echo "removed another: $?"
@KADENCE@ live remove writes
@KADENCE@ live list
@KADENCE@ live install missing.ko || echo "installed nothing: $?"
rmmod kadapt
@KADENCE@ live list
@KADENCE@ live install writes.ko || echo "without the driver: $?"
"""


@pytest.fixture
def kadence(root: Path) -> list[str]:
    """The command."""
    return [str(root / ".venv/bin/python"), "-m", "kadence.cli"]


def built(kadence: list[str], folder: Path, source: str) -> "subprocess.CompletedProcess[str]":
    (folder / "writes.c").write_text(source)
    command = [*kadence, "live", "build", "writes.c", "--kernel", debian.newest_release("6.12")]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def in_guest(
    script: str, folder: Path, release: str | None = None, memory_bytes: int | None = None
) -> str:
    """What the script printed in a guest with Debian's kernel and the host's files."""
    release = release or debian.newest_release("6.12")
    with tempfile.TemporaryFile() as output:
        result = run(
            Request(
                image=debian.kernel_image(release),
                argv=["/bin/sh", "-c", f"exec 2>&1\n{script}"],
                target="x86_64",
                directory=folder,
                stdout=output.fileno(),
                memory_bytes=memory_bytes,
                boot_timeout_seconds=600,
            )
        )
        output.seek(0)
        said = output.read().decode()
    assert result.status == 0, said + result.log
    assert boot.complaints(result.log) == [], result.log
    return said


def test_unit_of_the_document(
    root: Path, kadapt_module: Callable[[str], Path], kadence: list[str], tmp_path: Path
) -> None:
    driver = kadapt_module(debian.newest_release("6.12"))
    found = UNIT.search((root / "docs/live.md").read_text())
    assert found is not None
    completed = built(kadence, tmp_path, found.group(1))
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout == (
        f"writes.ko: for {debian.newest_release('6.12')}; replaces vfs_write\n"
    )
    script = SCRIPT.replace("@DRIVER@", str(driver)).replace("@KADENCE@", shlex.join(kadence))
    said = in_guest(script, tmp_path)
    for line in (
        r"^writes +phases +vfs_write$",
        r"^kadence: writes.ko was not installed: .*File exists; the kernel's log says why$",
        r"^installed twice: 1$",
        r"^kadence: no unit reads is installed; installed are: writes$",
        r"^removed another: 1$",
        r"^kadence: there is no missing.ko; make it with `kadence live build` or .*$",
        r"^installed nothing: 1$",
        r"^kadence: /sys/kernel/kadapt/units is missing; load a kadapt.ko .*$",
        r"^without the driver: 1$",
    ):
        assert re.search(line, said, re.MULTILINE), (line, said)
    assert said.count("vfs_write") == 1, said


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("int x", "writes.c does not compile"),
        ('#include <kadence/unit.h>\nMODULE_LICENSE("GPL");\n', "replaces no function"),
    ],
)
def test_bad_unit_gets_one_sentence(
    kadapt_module: Callable[[str], Path],
    kadence: list[str],
    tmp_path: Path,
    source: str,
    why: str,
) -> None:
    kadapt_module(debian.newest_release("6.12"))
    completed = built(kadence, tmp_path, source)
    assert completed.returncode == 1
    assert why in completed.stderr
    assert "Traceback" not in completed.stderr
    assert not (tmp_path / "writes.ko").exists()
