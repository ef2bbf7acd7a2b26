# SPDX-License-Identifier: GPL-2.0-or-later
"""A candidate on another kernel is built, raced, and loses where it must."""

from pathlib import Path
from typing import Any

import pytest

from kadence.base.stages import Stages
from kadence.measurement import plain_runs
from kadence.measurement.measure import PLAIN
from kadence.program import outputs, program
from kadence.program.places import Places
from kadence.specialize.line import Line
from kadence.tune import result, runs
from kadence.tune.candidates import Candidate, KernelWish
from kadence.tune.course import Course
from kadence.tune.makes import Makes
from kadence.tune.model import Predicted
from kadence.tune.runs import Track
from kadence.tune.state import Belongs, Entry, State

# So many calls, each of which does nothing: dear under User-Mode Linux, whatever the machine.
SOURCE = """
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 20000; i++)
		syscall(SYS_getppid);
	puts("done");
	return 0;
}
"""
TOML = """\
[program]
name = "p"
[build]
command = "make"
[run]
command = ["./p"]
[check]
command = ["./p"]
"""


@pytest.mark.kernel
def test_user_mode_linux_loses_a_race_of_system_calls(generic_kernel: Any, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    makefile = "CFLAGS ?= -O1\np: p.c\n\t$(CC) $(CFLAGS) -o $@ $<\n"
    for name, text in (("p.c", SOURCE), ("Makefile", makefile), ("kadence.toml", TOML)):
        (folder / name).write_text(text)
    described = program.read(folder)
    places = Places(tmp_path / "out", "p")
    line = Line(described, places, Stages(places.output))
    source_key = line.copied()
    plain_key = line.built(PLAIN, source_key, None)
    line.tried(plain_key)
    makes = Makes(line, source_key, None, "")
    guest = Candidate("um", "kernel", "a guest", kernel=KernelWish("um"))
    reference = outputs.files_in(described, places.plain_runs / plain_runs.FIRST)
    track = Track(described, reference, makes.folder / "scratch", 1.0)
    begun = State(
        Belongs(*"abcdef"),
        *(1, 1.0, (Entry("um", Predicted(1.0, 0.5, 2.0, "planted"), ""),)),
        *(0.0, {}, (), None, 0, False),
    )
    course = Course([guest], makes, track, runs.SECONDS, 1e6, begun, lambda _: None, patient=False)
    course.run()
    assert course.contestant("um").image == generic_kernel.image
    assert not course.state.refused
    (row,) = result.rows(course, result.judge(course))
    assert row.outcome == "dropped"
    assert row.raced is not None and row.raced.value > 2
    assert result.judge(course).sentence.startswith("leave it: no candidate")
