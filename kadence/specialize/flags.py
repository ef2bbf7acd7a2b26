# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures what options of the compiler give, beside the most that any kernel could give.

The plain program is built once more for each flag of kadence.toml, and run in turn with the plain
program on this machine's own kernel. A flag is recommended only if the outputs stay the same.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kadence.base import artefact, codec, elf, resources, statistics
from kadence.base.errors import KadenceError
from kadence.base.stages import fingerprint
from kadence.base.statistics import Estimate
from kadence.base.terminal import tell
from kadence.measurement import execution, measure, plain_runs, shares
from kadence.measurement.measure import MACHINE, PLAIN, REFERENCE, Bench, Cell, Measurements
from kadence.measurement.neighbours import Neighbours
from kadence.program import builds
from kadence.program.program import Program
from kadence.report import report
from kadence.specialize.line import COMPILER_PARTS, Line

UNCHANGED, FAILED, DIFFERENT = "unchanged", "failed", "different"
WITHOUT = "`flags = []` under [build] in kadence.toml, or --no-flags, leaves this out"
# What a user should know of a flag that gains.
BESIDES = {"-march=native": "it then runs only on processors that have all that this one has"}
ROUNDING = "a flag may change how floating-point results are rounded"


@dataclass(frozen=True)
class Tried:
    """A flag, and what it gave."""

    flag: str
    outcome: str  # FASTER, SLOWER or NONE of the report, or one of those above
    ratio: Estimate | None  # of the time to the plain program's
    sentence: str

    @property
    def gain(self) -> float:
        """The share of the time that the flag saves at least; 0 if that is not certain."""
        return 1 - self.ratio.high if self.ratio and self.outcome == report.FASTER else 0.0


@dataclass(frozen=True)
class Flags:
    """All flags that were tried, on the same command."""

    run: tuple[str, ...]
    rounds: int
    others_share: float
    most: Estimate | None  # what any adaptation could gain, of the plain program's same runs
    tried: tuple[Tried, ...]

    @property
    def first(self) -> str:
        """What to say first: the flag that certainly gives more than any kernel can; or empty."""
        better = [each for each in self.tried if self.most and each.gain > self.most.high]
        best = max(better, key=lambda each: each.gain, default=None)
        if best is None or self.most is None:
            return ""
        besides = "".join(f"; {told}" for part, told in BESIDES.items() if part in best.flag)
        return (
            f"compile with {best.flag} first: {best.sentence}{besides}; any adaptation of a kernel "
            f"can gain at most {shares.in_words(self.most)} of these runs"
        )

    @property
    def rest(self) -> tuple[str, ...]:
        """The other flags' sentences."""
        return tuple(each.sentence for each in self.tried if each.sentence not in self.first)


@dataclass(frozen=True)
class Trial:
    """The stage that measures flags."""

    line: Line
    rounds: int
    tasks: int  # of the program that may run at once

    @property
    def place(self) -> Path:
        return self.line.places.artefact("flags.json")

    def __call__(self, source_key: str, plain_key: str) -> str:
        """Measure the flags of kadence.toml, unless that is done; return the stage's key."""
        program = self.line.program
        tools = [resources.built(part) for part in COMPILER_PARTS]
        return self.line.stages.run(
            "flags",
            [source_key, plain_key, program.build, program.flags, self.rounds, self.tasks]
            + [*self.line.judged(), *map(fingerprint, tools), *_code()],
            [self.place],
            self._write,
        )

    def read(self) -> Flags:
        return artefact.load(Flags, self.place, artefact.FLAGS)

    def _write(self) -> None:
        found = self._measured()
        command = ["kadence", "specialize", str(self.line.program.folder)]
        body = codec.encode(found) | {"first": found.first, "rest": list(found.rest)}
        artefact.write(self.place, artefact.FLAGS, None, command, body)

    def _measured(self) -> Flags:
        program, places = self.line.program, self.line.places
        plain, scratch = places.build(PLAIN), places.output / "flags" / "scratch"
        scratch.mkdir(parents=True, exist_ok=True)
        sample, _ = plain_runs.measured(program, plain, scratch, PLAIN)
        _tell_cost(program, sample.program_seconds, self.rounds)
        folders, failed = {PLAIN: plain}, {}
        for flag in program.flags:
            folder = places.output / "flags" / slug(flag)
            why = self._built(flag, folder, scratch)
            if why is None:
                folders[flag] = folder
            else:
                failed[flag] = why
        around = Neighbours()
        bench = Bench(program, folders, {}, scratch, tasks=self.tasks)
        cells = measure.measure(bench, self.rounds) if len(folders) > 1 else None
        tried = tuple(failed.get(flag) or judged(flag, cells) for flag in program.flags)
        most = shares.of(cells.samples[REFERENCE], self.tasks).most if cells else None
        return Flags(program.run, self.rounds, round(around.share(), 4), most, tried)

    def _built(self, flag: str, folder: Path, scratch: Path) -> Tried | None:
        """Build with the flag; None if that made another program, which passes its check."""
        program, places = self.line.program, self.line.places
        tell(f"build with {flag} …")
        log = places.log(f"build-{slug(flag)}")
        try:
            builds.build(program, places.source, folder, log, None, flag)
            if not differs(places.build(PLAIN), folder):
                return Tried(flag, UNCHANGED, None, f"{flag} changes nothing in the program")
            plain_runs.require_check(program, folder, scratch)
        except KadenceError as error:
            return Tried(flag, FAILED, None, f"{flag} cannot be judged: {error.reason}")
        return None


def slug(flag: str) -> str:
    """A name for files: `-march=native` is march-native."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", flag).strip("-.")


def differs(plain: Path, other: Path) -> bool:
    """Whether any program of two builds differs in code or data."""
    return _contents(plain) != _contents(other)


def _contents(folder: Path) -> Mapping[str, str]:
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and (one := elf.contents(path)):
            found[path.relative_to(folder).as_posix()] = one
    return found


def _tell_cost(program: Program, seconds: float, rounds: int) -> None:
    count = len(program.flags)
    runs = (rounds + 1) * (count + 1) + count
    tell(
        f"flags {', '.join(program.flags)}: {count} more builds, and at most {runs} runs of "
        f"{seconds:.2f} s, {runs * seconds:.0f} s in all; {WITHOUT}"
    )


# ---- the judgement -------------------------------------------------------------------------------


def judged(flag: str, found: Measurements | None) -> Tried:
    """What the measurements say of a flag."""
    cell = Cell(MACHINE, flag)
    if found is None or cell in found.dropped:
        why = found.dropped[cell] if found else "the plain program was not measured"
        return Tried(flag, FAILED, None, f"{flag} cannot be judged: {why}")
    times, reference = (
        [shares.undisturbed(run) for run in found.samples[one]] for one in (cell, REFERENCE)
    )
    ratio = statistics.paired_ratio(times, reference)
    told = _timed(flag, ratio)
    different = list(dict.fromkeys(name for of, name in found.differences if of == cell))
    if not different:
        return Tried(flag, report.outcome(ratio), ratio, f"{told}, and its output is the same")
    named = " and ".join(different)
    sentence = f"{told}, but {named} is not the same: it is not recommended; {ROUNDING}"
    return Tried(flag, DIFFERENT, ratio, sentence)


def _timed(flag: str, ratio: Estimate) -> str:
    if report.outcome(ratio) == report.NONE:
        return f"with {flag} the plain program takes no other time that can be told from the noise"
    return f"with {flag} the plain program takes {report.in_words(ratio)} time"


def _code() -> Iterator[str]:
    """Fingerprints of the code that the measurement depends on."""
    for module in (execution, measure, plain_runs, shares, statistics, builds):
        yield fingerprint(Path(str(module.__file__)))
    yield fingerprint(Path(__file__))
