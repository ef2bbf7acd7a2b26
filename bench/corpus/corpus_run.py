# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one program of the corpus, from source to report, within a time limit.

Each step is a separate process, so its errors and its time do not affect other programs.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.corpus.corpus_own import KEEP, MAKE, OWN
from kadence.base import resources

PARTLY = 3  # exit status of `kadence specialize`: there is a report, but some parts are missing
TAIL_BYTES = 100_000
NOT_RUN = "has not been run yet"
# In the order in which they run. A program's row names the last stage that succeeded.
STAGES = (
    *("prepare", "build-plain", "plain-runs", "profile", "phases", "validate", "compare"),
    *("plan", "predict", "build-adapted", "measure"),
)


@dataclass(frozen=True)
class Limits:
    """How much to do for each program."""

    seconds: float
    rounds: int
    kernels: bool  # make kernels too; false: use only the machine's own kernel


@dataclass
class Result:
    """The result of a program."""

    name: str
    stage: str = ""
    refusal: str = ""  # why there is no report; empty if there is one
    seconds: float = 0.0  # of this run of the corpus; finished steps are not repeated
    own: dict[str, Any] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)
    version: str = ""  # of the Debian package


def corpus() -> Path:
    """The folder of the corpus."""
    return resources.home() / "bench" / "corpus"


def run(name: str, place: Path, limits: Limits) -> Result:
    """Do the steps that are not finished. A program's failure never raises an exception."""
    result = Result(name)
    output = place / name
    output.mkdir(parents=True, exist_ok=True)
    (output / ".stages").mkdir(exist_ok=True)
    began = time.monotonic()
    for command in _commands(corpus() / name, output, limits):
        left = limits.seconds - (time.monotonic() - began)
        log = output / f"{command[0]}.log"
        status = _process(command[1:], log, left)
        result.refusal = refusal(log, status, limits.seconds)
        if result.refusal:
            break
    result.seconds = time.monotonic() - began
    result.stage = last_stage(output)
    result.version = _version(output)
    result.own = _document(output / OWN)
    if limits.kernels:
        result.report = _document(output / "report.json")
    return result


def _commands(folder: Path, output: Path, limits: Limits) -> Iterator[list[str]]:
    """Yields commands: a name for the log, then the words. The second uses the first's results."""
    where, rounds = [str(folder), str(output)], str(limits.rounds)
    if limits.kernels:
        specialize = [sys.executable, "-m", "kadence.cli", "specialize", where[0], "-o", where[1]]
        yield ["specialize", *specialize, "--rounds", rounds]
    builds = KEEP if limits.kernels else MAKE
    yield ["own", sys.executable, "-m", "bench.corpus.corpus_own", *where, rounds, builds]


def _process(words: Sequence[str], log: Path, seconds: float) -> int | None:
    """Run a command. Returns its status, or None if it exceeded its time."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait(max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill all processes of the step that did not leave its process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def refusal(log: Path, status: int | None, seconds: float) -> str:
    """Returns Kadence's last sentence, or an empty text if Kadence ended with any report."""
    if status in (0, PARTLY):
        return ""
    said = _last_line(log).removeprefix("kadence: ")
    if (elsewhere := re.search(r"its output is in (\S+)$", said)) is not None:
        said += f" and ends with: {_last_line(Path(elsewhere[1]))}"
    said = said.replace(f"{resources.home()}/", "")
    if status is None:
        return f"not done within {seconds:.0f} s; its last line: {said}"
    if status == 1 and said.endswith("report.html"):
        return ""  # outputs differ, and the report tells where
    return said if status == 1 else f"{said} (status {status})"


def _last_line(log: Path) -> str:
    try:
        text = log.read_bytes()[-TAIL_BYTES:].decode("utf-8", "replace")
    except OSError:
        text = ""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def last_stage(output: Path) -> str:
    """Returns the last stage that succeeded."""
    done = [stage for stage in STAGES if (output / ".stages" / stage).is_file()]
    return done[-1] if done else "none"


def _version(output: Path) -> str:
    """Returns the package's version from the last line of `fetch` in the log of the preparation."""
    try:
        text = (output / "logs" / "prepare.log").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fetched = [line for line in text.splitlines() if line.startswith("fetched ")]
    return fetched[-1].removeprefix("fetched ").partition(",")[0] if fetched else ""


def _document(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
