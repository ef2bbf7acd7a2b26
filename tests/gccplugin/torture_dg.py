# SPDX-License-Identifier: GPL-2.0-or-later
"""GCC's own run tests of exceptions, constructors and Fortran, in every mode of the compiler stage.

A program must compile, end and print as without the plugin in three modes: with markers everywhere
and every possible call redirected, with fast counting, and with exact counting. When the plugin
only records, the assembly text must be the same.

torture_excluded.txt names the programs that fail with Debian's compiler alone, without the suite's
harness, and says how. A program that fails with the plain compiler and is not in this file counts
as a failure.

    python tests/gccplugin/torture_dg.py [SUITE] [--level LEVEL] [--part N/OF]
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torture_layout
from compilers import GFORTRAN, GXX, PLUGIN
from torture import (
    WORKERS,
    Behaviour,
    Outcome,
    Program,
    assemble,
    build_and_run,
    build_archive,
    options_of,
    suite,
    summarise,
    texts_of,
    without_records,
)

from kadence.base.resources import built

EXCLUDED = Path(__file__).with_name("torture_excluded.txt")
FORTRAN = (".f", ".F", ".for", ".f90", ".F90", ".f95", ".F95", ".f03", ".F03", ".f08", ".F08")
RUNS = re.compile(r"\{\s*dg-do\s+run\b")
FAILS = re.compile(r"\{\s*dg-shouldfail\b")
MODULES = re.compile(r"\{\s*dg-compile-aux-modules\b")
OTHERS = re.compile(r"\{\s*dg-additional-sources\s+\"?([^\"}]*)\"?\s*\}")
# With -g, debug information would contain the plugin among the compiler's options.
QUIET = ("-w", "-gno-record-gcc-switches")
# A backtrace contains line numbers if there is -g, which profile mode adds.
SURROUNDINGS = {"GFORTRAN_ERROR_BACKTRACE": "0"}


@dataclass(frozen=True)
class Suite:
    """A folder of GCC's tests, without the folders below it."""

    folder: str
    endings: tuple[str, ...]
    compiler: str
    wrapper: str
    levels: tuple[str, ...]

    def programs(self) -> list[Program]:
        """Every program that is a run test, sorted by name."""
        place = suite(self.folder)
        return [
            self._program(path)
            for path in sorted(place.iterdir())
            if path.suffix in self.endings and RUNS.search(_text(path))
        ]

    def _program(self, path: Path) -> Program:
        others = " ".join(OTHERS.findall(_text(path))).split()
        beside = [path.with_name(other) for other in others]
        # The compiler must compile a module's file before the files that use the module.
        is_module = bool(MODULES.search(_text(path)))
        sources = (*beside, path) if is_module else (path, *beside)
        return Program(f"{self.folder}/{path.name}", sources, options_of(path))


SUITES = (
    Suite("g++.dg/eh", (".C",), GXX, "kadence-c++", ("-O2", "-Os")),
    Suite("g++.dg/torture", (".C",), GXX, "kadence-c++", ("-O2", "-Os")),
    Suite("g++.dg/torture/stackalign", (".C",), GXX, "kadence-c++", ("-O2", "-Os")),
    Suite("g++.dg/init", (".C",), GXX, "kadence-c++", ("-O2", "-Os")),
    Suite("gfortran.dg", FORTRAN, GFORTRAN, "kadence-fc", ("-O2",)),
    Suite("gfortran.dg/g77", FORTRAN, GFORTRAN, "kadence-fc", ("-O2",)),
    Suite("gfortran.dg/ieee", FORTRAN, GFORTRAN, "kadence-fc", ("-O2",)),
)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def excluded() -> set[str]:
    """The names of the excluded programs."""
    lines = _text(EXCLUDED).splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


@dataclass(frozen=True)
class Trial:
    """One program at one level, and the directory for its files."""

    suite: Suite
    program: Program
    level: str
    archive: Path
    scratch: Path

    def outcome(self) -> Outcome:
        """Compare the program in every mode with the plain program."""
        plain = self._assembled("plain")
        behaviour = self._behaviour("without", self.suite.compiler, inputs=plain)
        if not self._is_sound(behaviour):
            complaint = f"the plain compiler fails it: {behaviour.stage} {behaviour.status}"
            return Outcome(self.program.name, self.level, complaint, True)
        complaints = []
        recorded = self._assembled("recorded", f"-fplugin={PLUGIN}")
        if without_records(texts_of(recorded)) != texts_of(plain):
            complaints.append("the assembly text differs where the plugin only records")
        for mode, found in self._changed().items():
            if found != behaviour:
                complaints.append(f"plain {behaviour}, {mode} {found}")
        return Outcome(self.program.name, self.level, "; ".join(complaints), False)

    def _options(self) -> list[str]:
        return [self.level, *QUIET, *self.program.options]

    def _assembled(self, name: str, *more: str) -> tuple[Path, ...]:
        """Assembly files, without -flto: link-time optimization gives its sections random names."""
        is_deferred = any(option.startswith("-flto") for option in self.program.options)
        options = [*self._options(), *more, *["-fno-lto"] * is_deferred]
        return assemble(self.program, options, self.scratch, name, self.suite.compiler)

    def _is_sound(self, behaviour: Behaviour) -> bool:
        fails = any(FAILS.search(_text(source)) for source in self.program.sources)
        return behaviour.stage == "run" and (behaviour.status != 0) == fails

    def _changed(self) -> dict[str, Behaviour]:
        """Mode -> the program's behaviour, for the modes that change its code."""
        plugin = PLUGIN
        arguments = [f"-fplugin-arg-kadence-{name}-all" for name in ("mark", "redirect")]
        marking = [f"-fplugin={plugin}", *arguments, "-fchecking"]
        found = {"marked": self._behaviour("marked", self.suite.compiler, marking)}
        wrapper = built(f"bin/{self.suite.wrapper}")
        for mode in ("fast", "exact"):
            found[mode] = self._behaviour(mode, wrapper, ["-fchecking"], mode)
        profile = self.scratch / "fast.kprof"
        if profile.exists():
            plan = torture_layout.plan_of(profile, self.scratch / "plan.json")
            found["laid out"] = build_and_run(
                self.program.sources,
                [*self._options(), "-fchecking"],
                self.scratch / "laid-out",
                wrapper,
                SURROUNDINGS | {"KADENCE_PLAN": str(plan)},
            )
        return found

    def _behaviour(
        self,
        name: str,
        compiler: str | Path,
        more: Sequence[str] = (),
        counting: str = "",
        inputs: Sequence[Path] = (),
    ) -> Behaviour:
        sources = inputs or self.program.sources
        profile = self.scratch / f"{name}.kprof"
        mode = {
            "KADENCE_MODE": "profile",
            "KADENCE_PROFILE": counting,
            "KADENCE_PROFILE_OUTPUT": str(profile),
        }
        found = build_and_run(
            sources if counting else (*sources, self.archive),
            [*self._options(), *more],
            self.scratch / name,
            compiler,
            SURROUNDINGS | (mode if counting else {}),
        )
        if counting and found == Behaviour("run", 0) and not profile.exists():
            return Behaviour("run", "no profile")
        return found


def try_one(of: Suite, program: Program, level: str, archive: Path) -> Outcome:
    with tempfile.TemporaryDirectory() as scratch:
        return Trial(of, program, level, archive, Path(scratch)).outcome()


def run(of: Suite, chosen: Sequence[Program], level: str) -> list[Outcome]:
    """The outcomes of the chosen programs that are not excluded."""
    left_out = excluded()
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(WORKERS) as pool:
        archive = build_archive(Path(directory))
        jobs = [
            pool.submit(try_one, of, program, level, archive)
            for program in chosen
            if program.name not in left_out
        ]
        return [job.result() for job in jobs]


def main(arguments: Sequence[str]) -> int:
    """Run the requested suites. Prints a line per suite and level, and a line per failure."""
    parser = argparse.ArgumentParser(description="GCC's run tests, in every mode")
    parser.add_argument("suite", nargs="?", choices=[of.folder for of in SUITES])
    parser.add_argument("--level")
    parser.add_argument("--part", default="1/1", help="N/OF: run the Nth of OF parts of each suite")
    wanted = parser.parse_args(arguments)
    part, of_parts = map(int, wanted.part.split("/"))
    failed = False
    for of in SUITES:
        if wanted.suite not in (None, of.folder):
            continue
        chosen = of.programs()[part - 1 :: of_parts]
        left = sum(program.name in excluded() for program in chosen)
        for level in (wanted.level,) if wanted.level else of.levels:
            outcomes = run(of, chosen, level)
            print(f"{of.folder} {level}: {len(chosen)} programs, {left} excluded by name")
            print(summarise(outcomes), flush=True)
            failed |= any(outcome.complaint for outcome in outcomes)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
