# SPDX-License-Identifier: GPL-2.0-or-later
"""Instruments a User-Mode Linux kernel that was built with points, while a command runs there."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence import boot
from kadence.base import resources
from kadence.base.errors import GuestError, UsageError
from kadence.boot.request import Result
from kadence.boot.session import run
from kadence.observe.probes import results
from kadence.observe.probes.guest import PROBE, Seen
from kadence.observe.probes.instruments import Instrument, Kernel, Kind, listed
from kadence.observe.probes.results import Results

TARGET = "um"
CODE, DATA = "T", "D"


def kernel_of(name: str, points: Path) -> Kernel:
    """What the kernel's list of points says. Raises UsageError if it has none."""
    if not points.exists():
        raise UsageError(
            f"{name} has no points for instruments; build it anew with --points, as `kadence "
            "kernel build` does it"
        )
    rows = [line.split() for line in points.read_text(encoding="ascii").splitlines()]
    functions = [row for row in rows if int(row[1]) != Kind.POINT]
    kinds = {name: Kind(int(kind)) for _, kind, name in functions}
    lines = [
        f"{address} {DATA if int(kind) == Kind.POINT else CODE} {name}"
        for address, kind, name in rows
    ]
    places = frozenset(int(address, 16) for address, _, _ in functions)
    return Kernel(name, lines, places, None, kinds)


@dataclass(frozen=True)
class Observer:
    """Runs a command in guests with a kernel that has points."""

    name: str  # of the kernel, for a person
    image: Path
    argv: Sequence[str]
    timeout_seconds: float | None = None
    memory_bytes: int | None = None

    def count(
        self, instruments: Sequence[Instrument], stdin: int, *, with_events: bool = False
    ) -> Results:
        """Run the command in silence. The costs are those of a run in which events are written."""
        nothing = os.open(os.devnull, os.O_WRONLY)
        events = Path(os.devnull) if with_events else None
        try:
            return self._observe(instruments, events, (stdin, nothing, nothing))[1]
        finally:
            os.close(nothing)

    def observe(self, instruments: Sequence[Instrument], events: Path | None = None) -> Seen:
        """Run the command with this process's streams. All that it does is written to `events`."""
        result, found = self._observe(instruments, events, (0, 1, 2), stand_in=True)
        return Seen(
            result.status,
            [f"kadence: observe: {self.name} on User-Mode Linux; times are the host's"],
            found,
        )

    def _observe(
        self,
        instruments: Sequence[Instrument],
        events: Path | None,
        streams: tuple[int, int, int],
        *,
        stand_in: bool = False,
    ) -> tuple[Result, Results]:
        with tempfile.TemporaryDirectory(prefix="kadence-observe-") as name:
            functions, out = Path(name, "functions"), Path(name, "records")
            functions.write_text(listed(instruments), encoding="ascii")
            taken = ["-e", str(events)] if events else []
            probe = [str(resources.built(PROBE)), *taken, str(functions), str(out), "--"]
            stdin, stdout, stderr = streams
            request = boot.Request(
                image=self.image,
                argv=[*probe, *self.argv],
                target=TARGET,
                memory_bytes=self.memory_bytes,
                timeout_seconds=self.timeout_seconds,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
            )
            result = run(request, stand_in=stand_in)
            try:
                return result, results.read(out.read_text(encoding="utf-8").splitlines())
            except FileNotFoundError as error:
                raise GuestError(
                    f"the functions of {self.name} were not instrumented (status "
                    f"{result.status}); see whether `kadence run` runs the command"
                ) from error
