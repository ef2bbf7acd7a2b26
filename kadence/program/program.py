# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence.toml`: how a program is built, run and judged. docs/kadence-toml.md is its manual."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from kadence.base.errors import KadenceError, ProgramError
from kadence.live import wanted
from kadence.live.wanted import Wanted
from kadence.phases.plan import io_planning, layout, memory_planning
from kadence.program import described
from kadence.program.filters import Filter

FILE_NAME = "kadence.toml"
DEFAULT_TIMEOUT_SECONDS = 600.0
# Each is compared with the plain program, because it may give more than any kernel can.
DEFAULT_FLAGS = ("-O3", "-march=native")


@dataclass(frozen=True)
class Program:
    """The contents of a kadence.toml."""

    folder: Path
    name: str
    build: str  # for the shell
    run: tuple[str, ...]
    profile: tuple[str, ...]
    check: tuple[str, ...]
    validate: tuple[str, ...] = ()  # run that validates markers; may be empty
    prepare: str = ""  # for the shell; may be empty
    standard_input: str = ""  # file; may be empty
    profile_input: str = ""  # of the profiled run
    validate_input: str = ""  # of the run that validates
    environment: tuple[tuple[str, str], ...] = ()  # added to the caller's
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()  # lines that are not compared
    interval: int | None = None  # of the profile, in instructions; None: the pipeline's default
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    io: str = io_planning.STRICT  # which I/O paths are planned
    memory: str = memory_planning.DEFAULT  # whether treatments of memory are planned
    layout: str = layout.OFF  # whether code is laid out by what ran
    flags: tuple[str, ...] = DEFAULT_FLAGS  # options of the compiler whose gain is measured
    observed: tuple[str, ...] = ()  # functions of the kernel that the report shows
    units: tuple[Wanted, ...] = ()  # that the program's phases take

    @property
    def unit_sources(self) -> tuple[Path, ...]:
        """The units to build into the program's kernels."""
        return tuple(unit.source for unit in self.units)


def read(folder: Path) -> Program:
    """Read FOLDER/kadence.toml strictly."""
    path = Path(folder) / FILE_NAME
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ProgramError(
            f"{folder} has no {FILE_NAME}; docs/kadence-toml.md shows how to write one"
        ) from error
    except OSError as error:
        raise ProgramError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ProgramError(f"{path} is not TOML: {error}") from error
    values = described.checked(path, tables)
    run = values["run.command"]
    profile = values.get("run.profile", run)
    # The same command may read another input.
    validate = profile if "run.validate_stdin" in values else ()
    standard_input = values.get("run.stdin", "")
    outputs = values.get("run.outputs", ())
    units = _units(path, values.get("plan.units", ()))
    return Program(
        folder=path.parent.resolve(),
        name=values["program.name"],
        build=values["build.command"],
        prepare=values.get("build.prepare", ""),
        run=run,
        profile=profile,
        check=values["check.command"],
        validate=values.get("run.validate", validate),
        standard_input=standard_input,
        profile_input=values.get("run.profile_stdin", standard_input),
        validate_input=values.get("run.validate_stdin", standard_input),
        environment=described.environment(path, tables) + _variables(units),
        inputs=values.get("run.inputs", ()),
        outputs=outputs,
        filters=described.filters(path, tables, outputs),
        interval=values.get("run.interval"),
        timeout_seconds=values.get("run.timeout", DEFAULT_TIMEOUT_SECONDS),
        io=values.get("plan.io", io_planning.STRICT),
        memory=values.get("plan.memory", memory_planning.DEFAULT),
        layout=values.get("plan.layout", layout.OFF),
        flags=values.get("build.flags", DEFAULT_FLAGS),
        observed=values.get("observe.functions", ()),
        units=units,
    )


def _units(path: Path, texts: tuple[str, ...]) -> tuple[Wanted, ...]:
    try:
        return tuple(wanted.parse(text, path.parent.resolve()) for text in texts)
    except KadenceError as error:
        raise ProgramError(f"{path}: plan.units: {error.reason}") from error


def _variables(units: tuple[Wanted, ...]) -> tuple[tuple[str, str], ...]:
    """What tells libkadapt which units the phases take."""
    return ((wanted.VARIABLE, wanted.variable(units)),) if units else ()
