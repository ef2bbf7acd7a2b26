# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of `make bench-observe`, from figures that are known."""

import pytest

from bench.live.figures import read
from bench.observe import accuracy, opening, programs
from kadence.lab.calls import Tally
from kadence.observe import paths
from kadence.observe.probes import results
from kadence.observe.probes.instruments import Instrument, Kind

RECORDS = """\
arm 1000000 10 0 0 0 1 3 8 40 41 41 22
block 7 7 1 5000000 0 writer
record 0 2000 2010000 0 0 0 0 0 0 0 9:2000
record 1 2000 1 0 0 0 0 0 0 0 0:2000
"""
PATHS = """\
dropped 0
1 0 -1 others 0 0 0
1 1 -1 command 0 0 0
1 2 -1 interrupts 0 0 0
1 3 1 __x64_sys_openat 10 250 0
1 4 1 __x64_sys_write 10 750 0
"""


def test_the_error_is_that_of_a_timed_function_by_its_truth() -> None:
    instruments = [Instrument("slow", 1, Kind.TIME), Instrument("counted", 2, Kind.COUNT)]
    truth = {(1, "slow"): Tally(1, 0, "slow", 2000, 0, 2_000_000, 0)}
    run = accuracy.Run(instruments, results.read(RECORDS.splitlines()), truth)
    row = accuracy.row(run, 1)
    assert row == ["2", "1", "800,000", "1", "+0.50 %", "slow", "<= 0.5 %"]


def test_programs_are_compared_with_their_plain_runs() -> None:
    figures = read("= plain\nsh 100\nsh 200\nsh 300\n= timed\nsh 202\nsh 204\nsh 206\n")
    assert programs.percents(figures, "timed", "sh") == pytest.approx([1, 2, 3])
    assert programs.more(figures, "timed", "sh") == "+2.00 (+1.00 to +3.00)"
    assert programs.more(figures, "bpftrace", "sh") == "does not run"


def test_opening_is_a_share_of_the_kernels_time() -> None:
    command = paths.read(PATHS.splitlines(), 1).command
    assert opening.row("both", command) == [
        "both", "25.0", "25", "none of the two; the walk ends at __x64_sys_write",
    ]  # fmt: skip
