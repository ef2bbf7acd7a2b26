# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU's logs, functions and lines, for a program whose code is known."""

import subprocess
from pathlib import Path

import pytest

from kadence.base.errors import ArtefactError
from kadence.kconfig.trace import asmlog
from kadence.kconfig.trace.lines import Functions, below_tree, lines

LOG = """\
----------------
IN:
0x000f3aa0:  8d 44 24 08              leal     8(%esp), %eax

----------------
IN: start_kernel
0xffffffff81e5d000:  55                       pushq    %rbp
0xffffffff81e5d001:  48 89 e5                 movq     %rsp, %rbp

----------------
IN:
0x00007f1200001000:  c3                       retq
0xffffffff81e5d001:  48 89 e5                 movq     %rsp, %rbp
"""
SOURCE = """\
static inline __attribute__((always_inline)) int inlined(int value)
{
	return value * 7 + 1;
}

int outer(int value)
{
	return inlined(value);
}

int main(void)
{
	return 0;
}
"""


def test_only_the_kernels_addresses_once_each(tmp_path: Path) -> None:
    log = tmp_path / "boot.log"
    log.write_text(LOG)
    assert asmlog.addresses(log) == {0xFFFFFFFF81E5D000, 0xFFFFFFFF81E5D001}


def test_a_log_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match=r"boot\.log.*No such file"):
        asmlog.addresses(tmp_path / "boot.log")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program compiled as the kernel is: in a folder below the tree, from ../."""
    build = tmp_path / ".build-0123"
    build.mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/code.c").write_text(SOURCE)
    command = ["gcc-12", "-O2", "-g", "-o", "vmlinux", "../lib/code.c"]
    subprocess.run(command, cwd=build, check=True)
    return build / "vmlinux"


def address_of(program: Path, name: str) -> int:
    listed = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=True)
    (found,) = [line for line in listed.stdout.splitlines() if line.endswith(f" T {name}")]
    return int(found.split()[0], 16)


def test_a_line_and_the_call_that_was_inlined_there(program: Path) -> None:
    start = address_of(program, "outer")
    found = lines(program, range(start, start + 8))
    assert ("lib/code.c", 3) in found
    assert ("lib/code.c", 8) in found
    assert not any(number > 9 for _, number in found)


def test_the_function_around_an_address(program: Path) -> None:
    start = address_of(program, "outer")
    assert Functions(program).containing([start, start + 2]) == {"outer"}


def test_what_the_build_made_is_no_source() -> None:
    assert below_tree("/x/tree/.build-1/../fs/open.c") == "fs/open.c"
    assert below_tree("/x/tree/.build-1/include/generated/bounds.h") is None
    assert below_tree("/usr/include/stdio.h") is None


def test_what_is_no_kernel(tmp_path: Path) -> None:
    (tmp_path / "vmlinux").write_text("text")
    with pytest.raises(ArtefactError, match="can't be read as a kernel"):
        Functions(tmp_path / "vmlinux")
