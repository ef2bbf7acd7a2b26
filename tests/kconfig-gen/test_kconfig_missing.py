# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel lacks, as found in its log."""

import re
from pathlib import Path

import pytest

from kadence.kconfig.configuration import missing

LOG = """\
Run /init as init process
kadence: init made system call 334, which this kernel lacks
kadence: my prog made system call 425, which this kernel lacks\r
kadence: my prog made system call 240, which this kernel lacks
reboot: System halted
"""


def test_the_log_names_program_call_and_symbol() -> None:
    found = missing.in_log(LOG)
    assert found == [
        missing.Missing("my prog", "io_uring_setup", "IO_URING"),
        missing.Missing("my prog", "mq_open", "POSIX_MQUEUE"),
    ]
    assert missing.symbols(found) == ["IO_URING", "POSIX_MQUEUE"]
    assert missing.sentence(found) == (
        "my prog asked for io_uring_setup and mq_open, which this kernel lacks; "
        "CONFIG_IO_URING and CONFIG_POSIX_MQUEUE would give it"
    )


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "p made system call 202, which this kernel lacks",
            "p asked for futex, which this kernel lacks; CONFIG_FUTEX would give it",
        ),
        (
            "p asked for socket family 17, which this kernel lacks",
            "p asked for a socket of family 17, which this kernel lacks; CONFIG_PACKET would give "
            "it",
        ),
        (
            "p made system call 999, which this kernel lacks",
            "p asked for system call 999, which this kernel lacks; no symbol is known that would "
            "give it",
        ),
    ],
)
def test_what_is_missing_is_a_sentence(line: str, sentence: str) -> None:
    assert missing.sentence(missing.in_log(f"kadence: {line}\n")) == sentence


def test_what_libraries_try_and_do_without_is_no_fault() -> None:
    lines = "".join(
        f"kadence: p made system call {number}, which this kernel lacks\n" for number in (334, 273)
    )
    assert missing.in_log(lines) == []


def test_a_log_of_a_kernel_that_lacks_nothing() -> None:
    assert missing.in_log("kadence: ready\nwhich this kernel lacks\n") == []


def test_numbers_are_those_of_the_c_library_s_headers() -> None:
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h").read_text()
    numbers = dict(re.findall(r"^#define __NR_(\w+) (\d+)", header, re.MULTILINE))
    known = {
        name: str(number)
        for calls in missing._table()["calls"].values()
        for name, number in calls.items()
    }
    assert len(known) > 100
    # Calls that are newer than the headers have higher numbers than those in the headers.
    newest = max(map(int, numbers.values()))
    for name, number in known.items():
        assert numbers.get(name, number) == number
        assert name in numbers or int(number) > newest


def test_the_calls_are_those_that_the_kernel_can_leave_out(pristine: Path) -> None:
    text = (pristine / "kernel/sys_ni.c").read_text()
    conditional = set(re.findall(r"^COND_SYSCALL\((\w+)\)", text, re.MULTILINE))
    for symbol, calls in missing._table()["calls"].items():
        assert set(calls) <= conditional, symbol


def test_every_symbol_exists(pristine: Path) -> None:
    symbols = {*missing._table()["calls"], *missing._table()["families"].values()}
    found = {
        name
        for path in pristine.rglob("Kconfig*")
        if path.is_file()
        for name in re.findall(r"^(?:menu)?config (\w+)", path.read_text(), re.MULTILINE)
    }
    assert symbols <= found
