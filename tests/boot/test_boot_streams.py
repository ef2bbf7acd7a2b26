# SPDX-License-Identifier: GPL-2.0-or-later
"""The command in the guest reads and writes the caller's streams."""

import hashlib
import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE_SECONDS

from .conftest import wait_until

pytestmark = pytest.mark.kernel

HUNDRED_MEGABYTES = 100_000_000


def test_hundred_megabytes_each_way(started: Any) -> None:
    sent = random.Random(1).randbytes(HUNDRED_MEGABYTES)
    process = started("cat")
    feeding = threading.Thread(target=lambda: (process.stdin.write(sent), process.stdin.close()))
    feeding.start()
    received = process.stdout.read()
    feeding.join()
    assert process.wait() == 0
    assert hashlib.sha256(received).digest() == hashlib.sha256(sent).digest()


def test_odd_sizes_arrive_in_order(guest: Any) -> None:
    """Pieces with sizes near those of pages, pipes and rings, to reach every wrap-around."""
    sizes = [1, 4095, 4097, 65535, 65537, 262_143, 1_048_577, 3] * 3
    sent = random.Random(2).randbytes(sum(sizes))
    program = f"import os, sys\nfor n in {sizes}: os.write(1, sys.stdin.buffer.read(n))"
    assert guest(sys.executable, "-c", program, stdin=sent).stdout == sent


def test_errors_stay_apart_from_output(guest: Any) -> None:
    ran = guest("sh", "-c", "echo out; echo err >&2; echo out")
    assert (ran.stdout, ran.stderr) == (b"out\nout\n", b"err\n")


def test_end_of_input_arrives_while_the_command_runs(started: Any) -> None:
    process = started("sh", "-c", "cat; echo end")
    process.stdin.write(b"some ")
    process.stdin.flush()
    assert process.stdout.read(5) == b"some "
    process.stdin.close()
    assert process.stdout.read() == b"end\n"


def test_end_of_output_arrives_while_the_command_runs(started: Any, tmp_path: Path) -> None:
    """The command runs until the caller, after the end of output, makes a file."""
    signal = tmp_path / "seen"
    script = f"echo last; exec >&-; until test -e {signal}; do sleep 0.05; done; exit 4"
    process = started("sh", "-c", script)
    assert process.stdout.read() == b"last\n"
    assert process.poll() is None
    signal.touch()
    assert process.wait() == 4


def test_writer_learns_that_the_command_reads_no_more(started: Any) -> None:
    process = started("sh", "-c", "read line; exec <&-; echo closed; sleep 1000")
    process.stdin.write(b"line\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"closed\n"

    def refused() -> bool:
        try:
            os.write(process.stdin.fileno(), b"more")
        except BrokenPipeError:
            return True
        return False

    assert wait_until(refused)


def test_command_learns_that_nobody_reads(started: Any) -> None:
    process = started("yes")
    assert process.stdout.readline() == b"y\n"
    process.stdout.close()
    assert process.wait() == 128 + 13


def test_standard_input_of_nothing(started: Any) -> None:
    assert started("wc", "-c", stdin=subprocess.DEVNULL).communicate()[0] == b"0\n"


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_closed_streams_are_closed_inside(command: list[str], stream: int, tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = f"test -e /proc/self/fd/{stream}; echo $? > {told}"
    ran = subprocess.run(
        ["sh", "-c", f'exec "$@" {stream}<&-', "sh", *command, "sh", "-c", script],
        timeout=PATIENCE_SECONDS,
    )
    assert ran.returncode == 0
    assert told.read_text() == "1\n"


def test_many_small_writes_are_not_reordered(guest: Any) -> None:
    lines = b"".join(b"%d\n" % i for i in range(20_000))
    assert (
        guest("sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done").stdout
        == lines
    )
