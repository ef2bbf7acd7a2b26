# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence tune`: finds the setting that makes a program quickest on this machine, or none.

First the plain program is built, profiled and timed. A model predicts each candidate. Then the
promising ones are raced, the best is confirmed, and the result is written.
"""

import hashlib
import json
import os
import platform
import random
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kadence.base import artefact, codec, sequential, statistics
from kadence.base.errors import UsageError
from kadence.base.stages import Stages, alone_in, fingerprint
from kadence.base.terminal import tell
from kadence.base.version import VERSION
from kadence.boot import acceleration
from kadence.measurement import execution, neighbours, plain_runs
from kadence.measurement.neighbours import NOTICEABLE_SHARE, Neighbours
from kadence.program import outputs, program
from kadence.program.places import Places, claim
from kadence.program.program import Program
from kadence.specialize.line import Line
from kadence.tune import candidates as kinds
from kadence.tune import conditions, cost, result, runs, setup, state
from kadence.tune.candidates import Candidate
from kadence.tune.course import Course
from kadence.tune.runs import Track
from kadence.tune.setup import Prepared
from kadence.tune.state import Belongs, Entry, State

FOLDER, STATE = "tune", "race.json"
WATCHED_SECONDS = 1.0  # for other work, before anything is measured
MACHINE_ID = Path("/etc/machine-id")
# Settings of threads change how long they wait, which takes no processor time.
THREADED = {"threads", "placement"}
UNSEEN = "processor time does not show what it gains; compare by seconds"


@dataclass(frozen=True)
class Wish:
    """What the user asks for."""

    candidates: Sequence[Candidate]
    budget: float  # seconds of builds and runs
    by: str = runs.SECONDS  # or runs.PROCESSOR
    seed: int | None = None
    resume: bool = False
    again: bool = False
    everything: bool = False  # race also what is predicted to gain nothing
    mitigations_off: bool = False  # the site allows kernels without mitigations


def tune(folder: Path, output: Path, wish: Wish, command: Sequence[str]) -> dict[str, Any]:
    """Do all that is not done yet; return the result's document."""
    described = program.read(folder)
    places = Places(output.resolve(), described.name)
    claim(places.output, described.folder)
    with alone_in(places.output):
        wish = replace(wish, candidates=_placed(wish.candidates))
        former = _former(places.output / FOLDER / STATE, described, wish)
        tell(
            "first the plain program is built, run and profiled, unless that is done (profiling "
            f"takes 4 to 25 times the program's time); then {len(wish.candidates)} candidates are "
            "predicted, and the cost of the race is told"
        )
        prepared = setup.prepare(Line(described, places, Stages(places.output)))
        with _resumable(command):
            course, told = _course(prepared, wish, former, command)
            course.run()
        place = result.place(places.output, described.name)
        body = result.body(course, _machine(), told)
        artefact.write(place, artefact.TUNE, prepared.build_id, command, body)
        return artefact.read(place, artefact.TUNE)


@contextmanager
def _resumable(command: Sequence[str]) -> Iterator[None]:
    """Say how to go on if the user interrupts."""
    try:
        yield
    except KeyboardInterrupt:
        tell(f"interrupted; `{shlex.join([*command, '--resume'])}` goes on with the next round")
        raise


def _placed(found: Sequence[Candidate]) -> list[Candidate]:
    processors = kinds.usable_processors()
    return [kinds.placed(each, processors) for each in found]


def _former(path: Path, described: Program, wish: Wish) -> State | None:
    """The state to go on from, before anything is built; refuse to overwrite one by accident."""
    if wish.again or not path.exists():
        return None
    found = state.load(path)
    if wish.resume:
        # Whether it is the same build is known only after the build.
        state.require(path, found, _belongs(described, found.belongs.build, wish))
        if wish.seed not in (None, found.seed):
            raise UsageError(f"{path} has the seed {found.seed}, not {wish.seed}; {state.REMEDY}")
        return found
    if not found.finished:
        raise UsageError(
            f"{path} is of a tune that was interrupted after {len(found.rounds())} rounds; go on "
            "with --resume, or begin anew with --again"
        )
    return None


def _course(
    prepared: Prepared, wish: Wish, former: State | None, command: Sequence[str]
) -> tuple[Course, str]:
    """The course, from its state or from the beginning, and its cost in words."""
    makes = prepared.makes
    path = makes.folder / STATE
    makes.folder.mkdir(parents=True, exist_ok=True)
    state.remove_remains(path)
    here = _belongs(makes.line.program, prepared.build_key, wish)
    quiet = _is_quiet(wish.by)
    if former is None:
        found, told = _begun(prepared, wish, here)
    else:
        state.require(path, former, here)
        found, told = former, f"resumed after {len(former.rounds())} rounds"
    tell(told)
    line = makes.line
    track = Track(
        line.program,
        outputs.files_in(line.program, line.places.plain_runs / plain_runs.FIRST),
        makes.folder / "scratch",
        found.plain_seconds,
    )

    def keep(new: State) -> None:
        state.save(path, new, prepared.build_id, command)

    keep(found)
    course = Course(wish.candidates, makes, track, wish.by, wish.budget, found, keep, patient=quiet)
    return course, told


def _begun(prepared: Prepared, wish: Wish, here: Belongs) -> tuple[State, str]:
    """The state before the first round: what is raced, and what it costs at most."""
    line, candidates = prepared.makes.line, wish.candidates
    plain = setup.timed_run(line).seconds
    known = setup.learn(prepared, wish.mitigations_off)
    entries = _comparable(setup.entries(candidates, known, wish.everything), candidates, wish.by)
    entries = cost.within(wish.budget, entries, candidates, plain)
    for entry in entries:
        if entry.out:
            tell(f"{entry.name} is not raced: {entry.out}")
    found = cost.of(entries, candidates, plain, prepared.build_seconds)
    told = f"{found}; one run takes {plain:.3g} s, and the budget is {wish.budget:g} s"
    seed = random.SystemRandom().randrange(1 << 32) if wish.seed is None else wish.seed
    return State(here, seed, plain, tuple(entries), 0.0, {}, (), None, 0, False), told


def _comparable(entries: Sequence[Entry], candidates: Sequence[Candidate], by: str) -> list[Entry]:
    """Take out what the compared quantity does not show."""
    if by == runs.SECONDS:
        return list(entries)
    threaded = {each.name for each in candidates if each.dimension in THREADED}
    return [
        replace(entry, out=UNSEEN) if entry.name in threaded and not entry.out else entry
        for entry in entries
    ]


def _is_quiet(by: str) -> bool:
    """Whether other work leaves the machine alone; if not, say so before anything is measured.

    On a machine that is busy all the time, repeating a disturbed round would only take time.
    """
    around = Neighbours()
    time.sleep(WATCHED_SECONDS)
    share = around.share()
    if share < NOTICEABLE_SHARE:
        return True
    way = "; --by processor compares processor time, which other work changes less"
    tell(
        f"the machine is busy: other work takes {share:.0%} of the processors' time, so small "
        f"gains will not be found{way if by == runs.SECONDS else ''}"
    )
    return False


# ---- what a state belongs to ---------------------------------------------------------------------


def _belongs(described: Program, build_key: str, wish: Wish) -> Belongs:
    ran = (described.run, described.standard_input, described.environment, described.check)
    judged = (described.outputs, described.filters, described.timeout_seconds)
    listed = json.dumps([codec.encode(each) for each in wish.candidates], sort_keys=True)
    return Belongs(
        build=build_key,
        machine=_hashed(json.dumps(_machine(), sort_keys=True), _identity()),
        candidates=_hashed(listed, str((wish.mitigations_off, wish.everything))),
        program=_hashed(repr(ran), repr(judged)),
        comparison=wish.by,
        kadence=_hashed(VERSION, *_code()),
    )


def _hashed(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _machine() -> dict[str, Any]:
    return {
        "release": platform.release(),
        "version": platform.version(),
        "processor": acceleration.processor(),
        "processors": len(kinds.usable_processors()),
        "huge_pages": conditions.huge_pages().strip(),
        "glibc": ".".join(map(str, conditions.glibc())),
        "randomised": _said(Path("/proc/sys/kernel/randomize_va_space")),
    }


def _identity() -> str:
    return _said(MACHINE_ID) or os.uname().nodename


def _said(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _code() -> Iterator[str]:
    """Fingerprints of the code that measures and decides."""
    yield fingerprint(Path(__file__).parent)
    for module in (execution, neighbours, plain_runs, sequential, statistics):
        yield fingerprint(Path(str(module.__file__)))
