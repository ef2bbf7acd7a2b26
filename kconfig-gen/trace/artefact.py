# SPDX-License-Identifier: GPL-2.0-or-later
"""`*.ktrace.json`: the kernel code that a program ran; docs/artefacts-kernel.md describes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from kadence.base import artefact, codec
from kadence.base.codec import FLAT, DecodeError
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
        "symbols": codec.encode(trace.symbols),
        **codec.encode(trace.observed),
    }
    artefact.write(path, artefact.TRACE, None, command, body)


def read(path: Path) -> Trace:
    """Read a trace; raise ArtefactError if it is invalid."""
    try:
        found = codec.decode(_Body, artefact.read(path, artefact.TRACE))
    except DecodeError as error:
        raise ArtefactError(f"{path} is not a complete trace ({error}); make it anew") from error
    instructions, functions = found.instructions, found.functions
    return Trace(
        argv=found.program,
        kernel=found.kernel,
        program=Extent(instructions.program, functions.program),
        boot=Extent(instructions.boot, functions.boot),
        symbols=found.symbols,
        observed=found.observed,
    )


@dataclass(frozen=True)
class _Parts:
    program: int
    boot: int


@dataclass(frozen=True)
class _Body:
    program: list[str]
    kernel: str
    instructions: _Parts
    functions: _Parts
    symbols: list[Symbol]
    observed: Annotated[Observed, FLAT]
