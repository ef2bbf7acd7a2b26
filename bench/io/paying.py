# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares whole programs that write small records, plain and adapted: `make bench-paying`.

They are programs of the corpus, built from Debian's source, on the input that their plans were
validated with. They run in the lab, counted in instructions, on one kernel for the needs of all
their plans. Files lie on a tmpfs, because the guest's root is 9p, which has no rings. The cost of
mounting the tmpfs and of copying the inputs is measured separately and subtracted.
"""

import argparse
import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.base import tailored
from bench.base.keeping import print_and_keep
from bench.corpus import corpus_own
from bench.corpus.corpus_lab import united
from bench.corpus.corpus_run import corpus
from kadence.base import artefact, resources
from kadence.base.errors import GuestError, KadenceError
from kadence.base.stages import alone_in
from kadence.lab import Guest, Reading
from kadence.lab import run as run_in_lab
from kadence.lab.guest import X86_64
from kadence.lab.report import ON_MACHINE
from kadence.measurement.measure import ADAPTED, PLAIN
from kadence.program import program
from kadence.program.places import Places
from kadence.program.program import Program

# Each program's inputs. The program's kadence.toml also names its standard input.
INPUTS = {
    "cpio": ("other", "other.txt"),
    "dash": ("lines.sh", "other"),
    "lua-print": ("squares.lua",),
    "sed": ("other",),
    "seqtk-comp": ("other.fq",),
}
SINK = "/mnt"
HEADINGS = ("program", "plain, millions", "adapted", "adapted/plain", "records in rings", "output")
# The needs of the shell around the programs.
AROUND = {"system_calls": ["mount", "fork", "execve", "wait4"], "processes": True}


@dataclass(frozen=True)
class Subject:
    """A program with both builds and a plan."""

    described: Program
    places: Places

    @property
    def output(self) -> str:
        """The file that the program writes, or `stdout` if it names no output."""
        return next(iter(self.described.outputs), "stdout")

    def needs(self) -> Mapping[str, Any]:
        plan = artefact.read(self.places.artefact("plan.json"), artefact.PLAN)
        return dict(plan["needs"])

    def setting_up(self, mode: str) -> str:
        """Returns the shell command that mounts a tmpfs and copies the inputs to it."""
        folder = self.places.build(mode)
        files = shlex.join(str(folder / name) for name in INPUTS[self.described.name])
        return f"mount -t tmpfs none {SINK} && cp -p {files} {SINK} && cd {SINK}"

    def command(self, mode: str, counters: str = "") -> str:
        """Returns the shell command that runs the program there.

        The shell must not keep the output open, because a file that another process has open gets
        no ring.
        """
        first, *rest = self.described.validate or self.described.profile
        words = shlex.join([str(self.places.build(mode) / first), *rest])
        exported = f"export KADAPT_COUNTERS={shlex.quote(counters)}; " if counters else ""
        streams = f"<{self.described.validate_input or '/dev/null'} >stdout"
        return f"({exported}exec {words} {streams})"


def prepared(name: str) -> Subject:
    """Build, profile and plan a program."""
    described = program.read(corpus() / name)
    output = resources.home() / "build" / "bench" / "paying" / name
    subject = Subject(described, Places(output, described.name))
    with alone_in(output):
        corpus_own.prepare(described, subject.places)
    return subject


def guest_for(subjects: Sequence[Subject]) -> Guest:
    """Returns a guest with a kernel for all of the programs."""
    needs = united([*(subject.needs() for subject in subjects), AROUND])
    kernel = tailored.kernel("paying", needs, X86_64)
    return Guest(f"tailored {kernel.id}", kernel.image)


def instructions(guest: Guest, script: str) -> int:
    """Returns the instructions of all processes that the script starts."""
    return _run(guest, script).processor_ns


def _run(guest: Guest, script: str) -> Reading:
    reading = run_in_lab(guest, ["/bin/sh", "-c", script])
    if reading.result.status:
        raise GuestError(f"`{script}` ended with status {reading.result.status} in the lab")
    return reading


def written(guest: Guest, subject: Subject, mode: str) -> tuple[bytes, int | None]:
    """Returns the output, and how many records went into rings.

    The number is None for a program that ends by _exit().
    """
    scratch = subject.places.output / "lab"
    scratch.mkdir(exist_ok=True)
    output, counters = scratch / "output", scratch / "counters"
    counters.unlink(missing_ok=True)
    kept = f"cp {subject.output} {shlex.quote(str(output))}"
    command = subject.command(mode, str(counters))
    _run(guest, f"{subject.setting_up(mode)} && {command} && {kept}")
    return output.read_bytes(), appends(counters)


def appends(counters: Path) -> int | None:
    """Returns the sum of appends over all processes that left a line, or None without a file."""
    if not counters.is_file():
        return None
    lines = map(json.loads, counters.read_text(encoding="utf-8").splitlines())
    return sum(line.get("io", {}).get("appends", 0) for line in lines)


def row(guest: Guest, subject: Subject) -> tuple[str, ...]:
    """Returns one row of the table."""
    used = {}
    for mode in (PLAIN, ADAPTED):
        before = subject.setting_up(mode)
        whole = instructions(guest, f"{before} && {subject.command(mode)}")
        used[mode] = whole - instructions(guest, before)
    plain, _ = written(guest, subject, PLAIN)
    adapted, records = written(guest, subject, ADAPTED)
    return told(subject.described.name, used[PLAIN], used[ADAPTED], records, plain == adapted)


def told(
    name: str, plain: int, adapted: int, records: int | None, is_same: bool
) -> tuple[str, ...]:
    """Returns a row's cells."""
    return (
        name,
        *(f"{figure / 1e6:,.2f}" for figure in (plain, adapted)),
        f"{adapted / plain:.4f}",
        "-" if records is None else f"{records:,}",
        "same" if is_same else "DIFFERS",
    )


def lines(names: Sequence[str]) -> Iterator[str]:
    """Yields the table, each line as soon as it is known."""
    subjects = [prepared(name) for name in names]
    guest = guest_for(subjects)
    yield f"plain beside adapted in the lab, {guest.name}, files on tmpfs; {ON_MACHINE}"
    yield ""
    yield _line(HEADINGS)
    for subject in subjects:
        yield _line(row(guest, subject))


def _line(cells: Sequence[str]) -> str:
    first, *rest = cells
    padded = (f"{cell:>{len(head)}}" for cell, head in zip(rest, HEADINGS[1:], strict=True))
    return "  ".join([f"{first:<10}", *padded])


def main() -> int:
    """Measure, print each line as soon as it is known, and keep the output."""
    parser = argparse.ArgumentParser(prog="bench-paying", description=__doc__)
    parser.add_argument("--only", default="", help="programs whose name this expression matches")
    options = parser.parse_args()
    names = [name for name in INPUTS if re.search(options.only, name)]
    if not names:
        parser.error(f"no program matches {options.only!r}")
    print_and_keep(lines(names), "paying.txt")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-paying: {error}")
