# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that profiling is judged on: their places, and how to build and run them.

All are deterministic: their output is the same on every run and under every tool. Some commands
fix the number of threads, so that the instructions are the same on every machine. The output does
not depend on this number.
"""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import ToolError
from kadence.program import builds, program

# The makefiles' variables for the compilers of native builds.
COMPILERS = {"CC": "gcc-12", "CXX": "g++-12", "FC": "gfortran-12"}
CALLS, LOOPS = "calls", "loops"
# Waiting threads sleep. If they spun, the tools would count how busy the machine is.
OPENMP = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}


@dataclass(frozen=True)
class Subject:
    """A program and the run that is measured."""

    name: str
    arguments: str  # {source}: the folder of the prepared source
    kind: str  # what most of its instructions belong to: CALLS or LOOPS
    place: str = "bench/suite"
    binary: str = ""  # path below its build folder; empty: its name
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return resources.home() / self.place / self.name


SUBJECTS = (
    Subject("fibonacci", "41", CALLS),
    Subject("lu", "1000 2", LOOPS, place="examples"),
    Subject("heat", "-s 700 -e 70", LOOPS, place="examples"),
    Subject("ring", "4 10 200 4000000", LOOPS, place="examples"),
    Subject("water", "-n 7 -s 60 -t 2", LOOPS),
    Subject("fft", "-n 18 -s 4", LOOPS, place="examples"),
    Subject("cg", "40 2", LOOPS, environment=OPENMP),
    Subject("parser", "-n 60000 -r 8", CALLS),
    Subject(
        "minimap2",
        "-t 1 -c -x map-ont {source}/genome-small.fa {source}/reads-small.fa",
        LOOPS,
        place="examples",
        binary="source/minimap2",
    ),
)


@dataclass(frozen=True)
class Suite:
    """The programs, built below a folder."""

    output: Path

    def command(self, subject: Subject, variant: str) -> list[str]:
        """Returns the command that runs the program as built in this variant."""
        binary = self._folder(subject, variant) / (subject.binary or subject.name)
        arguments = subject.arguments.format(source=self._source(subject))
        return [str(binary), *arguments.split()]

    def build(
        self, subject: Subject, variant: str, compilers: Mapping[str, str] = COMPILERS
    ) -> None:
        """Rebuild the program with these values of CC, CXX and FC, and of other variables given."""
        folder = self._folder(subject, variant)
        if subject.binary:
            self._prepare(subject)
            builds.copy(self._source(subject), folder)
            line = program.read(subject.folder).build
        else:
            folder.mkdir(parents=True, exist_ok=True)
            line = f"make --always-make -f {subject.folder}/Makefile"
        self._shell(line, folder, compilers)

    def _folder(self, subject: Subject, variant: str) -> Path:
        return self.output / variant / subject.name

    def _source(self, subject: Subject) -> Path:
        return self.output / "source" / subject.name

    def _prepare(self, subject: Subject) -> None:
        """Fetch and generate the sources that are not in the tree. Once: they do not change."""
        source = self._source(subject)
        done = source / ".prepared"
        if not done.exists():
            log = self.output / f"{subject.name}.prepare.log"
            builds.prepare(program.read(subject.folder), source, self.output, log)
            done.touch()

    def _shell(self, line: str, folder: Path, settings: Mapping[str, str]) -> None:
        # The MAKEFLAGS of a make that called this bench would reach the program's own make.
        environment = {name: text for name, text in os.environ.items() if name[:4] != "MAKE"}
        log = folder / "build.log"
        with log.open("wb") as output:
            done = subprocess.run(
                ["sh", "-c", line],
                cwd=folder,
                env={**environment, **settings},
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode:
            raise ToolError(f"`{line}` ended with status {done.returncode}; see {log}")
