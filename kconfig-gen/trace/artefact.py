# SPDX-License-Identifier: GPL-2.0-or-later
"""`*.ktrace.json`: the kernel code that a program ran; docs/artefacts-kernel.md describes it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kadence.base import artefact
from kadence.base.errors import ArtefactError
from kadence.kconfig.trace.observed import Observed
from kadence.kconfig.trace.symbols import Symbol


@dataclass(frozen=True)
class Extent:
    """How much code ran: distinct instructions and functions."""

    instructions: int
    functions: int


@dataclass(frozen=True)
class Trace:
    """A traced run."""

    argv: Sequence[str]
    kernel: str  # ID
    program: Extent
    boot: Extent
    symbols: Sequence[Symbol]
    observed: Observed


def write(path: Path, trace: Trace, command: Sequence[str]) -> None:
    """Write a trace; the file gets its name only when it is complete."""
    body: dict[str, Any] = {
        "program": list(trace.argv),
        "kernel": trace.kernel,
        "instructions": {
            "program": trace.program.instructions,
            "boot": trace.boot.instructions,
        },
        "functions": {"program": trace.program.functions, "boot": trace.boot.functions},
        "symbols": [asdict(symbol) for symbol in trace.symbols],
        **asdict(trace.observed),
    }
    artefact.write(path, artefact.TRACE, None, command, body)


def read(path: Path) -> Trace:
    """Read a trace; raise ArtefactError if it is invalid."""
    body = artefact.read(path, artefact.TRACE)
    try:
        return Trace(
            argv=body["program"],
            kernel=body["kernel"],
            program=_extent(body, "program"),
            boot=_extent(body, "boot"),
            symbols=[Symbol(**symbol) for symbol in body["symbols"]],
            observed=Observed(
                system_calls=body["system_calls"],
                socket_families=body["socket_families"],
                file_systems=body["file_systems"],
                paths=body["paths"],
            ),
        )
    except (KeyError, TypeError) as error:
        raise ArtefactError(f"{path} is not a complete trace ({error!r}); make it anew") from error


def _extent(body: dict[str, Any], part: str) -> Extent:
    return Extent(body["instructions"][part], body["functions"][part])
