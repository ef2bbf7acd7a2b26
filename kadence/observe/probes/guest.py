# SPDX-License-Identifier: GPL-2.0-or-later
"""Instruments the functions of a guest's kernel while a command runs in the lab."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from kadence.base import resources
from kadence.base.errors import GuestError
from kadence.lab import report
from kadence.lab.guest import Guest
from kadence.lab.session import Reading, run
from kadence.live import kernel
from kadence.observe.probes import modules, results
from kadence.observe.probes.instruments import Instrument, Kernel, listed
from kadence.observe.probes.results import Results

PROBE = "kadence/probe"


def kernel_of(release: str) -> Kernel:
    """What Debian's kernel of this release says of its functions."""
    symbols = kernel.symbols_of(release)
    return Kernel(
        f"Debian {release}", kernel.kallsyms_of(release), symbols.traced, kernel.types_of(release)
    )


class Seen(NamedTuple):
    """What is known after a command has run with instruments."""

    status: int
    told: list[str]  # of the guest, for a person
    results: Results


@dataclass(frozen=True)
class Observer:
    """Runs a command in guests with Debian's kernel of a release."""

    guest: Guest
    release: str
    argv: Sequence[str]
    timeout_seconds: float | None = None
    directory: Path | None = None  # default: the caller's
    environment: Mapping[str, str] | None = None  # default: the caller's

    def count(
        self, instruments: Sequence[Instrument], stdin: int, *, with_events: bool = False
    ) -> Results:
        """Run the command in silence. The costs are those of a run in which events are written."""
        nothing = os.open(os.devnull, os.O_WRONLY)
        events = Path(os.devnull) if with_events else None
        try:
            return self._observe(instruments, events, streams=(stdin, nothing, nothing))[1]
        finally:
            os.close(nothing)

    @property
    def name(self) -> str:
        """The kernel, for a person."""
        return self.guest.name

    def observe(self, instruments: Sequence[Instrument], events: Path | None = None) -> Seen:
        """Run the command with this process's streams. All that it does is written to `events`."""
        reading, found = self._observe(instruments, events, stand_in=True)
        told = [line.replace(": lab:", ": observe:", 1) for line in report.lines(reading)[:2]]
        return Seen(reading.result.status, told, found)

    def observe_aside(
        self, instruments: Sequence[Instrument], streams: tuple[int, int, int]
    ) -> tuple[Reading, Results]:
        """Run the command with these streams, and let signals be this process's own."""
        return self._observe(instruments, None, streams=streams)

    def _observe(
        self, instruments: Sequence[Instrument], events: Path | None, **how: Any
    ) -> tuple[Reading, Results]:
        loaded = [word for path in modules.built(self.release) for word in ("-m", str(path))]
        with tempfile.TemporaryDirectory(prefix="kadence-observe-") as name:
            functions, out = Path(name, "functions"), Path(name, "records")
            functions.write_text(listed(instruments), encoding="ascii")
            taken = ["-e", str(events)] if events else []
            probe = [str(resources.built(PROBE)), *loaded, *taken, str(functions), str(out), "--"]
            argv = [*probe, *self.argv]
            reading = run(
                self.guest,
                argv,
                timeout_seconds=self.timeout_seconds,
                directory=self.directory,
                environment=self.environment,
                **how,
            )
            try:
                return reading, results.read(out.read_text(encoding="utf-8").splitlines())
            except FileNotFoundError as error:
                raise GuestError(
                    f"the functions of {self.guest.name} were not instrumented (status "
                    f"{reading.result.status}); see whether `kadence lab` runs the command"
                ) from error


@contextmanager
def input_for_two_runs() -> Iterator[int]:
    """Keep what a pipe or a file gives, so that both runs can read it; a terminal gives nothing.

    Yields the first run's input. Later this process's input is the second run's.
    """
    if os.isatty(0):
        yield os.open(os.devnull, os.O_RDONLY)
        return
    with tempfile.TemporaryFile() as kept:
        with os.fdopen(os.dup(0), "rb") as given:
            shutil.copyfileobj(given, kept)
        kept.flush()
        kept.seek(0)
        yield kept.fileno()
        os.lseek(kept.fileno(), 0, os.SEEK_SET)
        os.dup2(kept.fileno(), 0)
