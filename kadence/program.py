# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence.toml`: how a program is built, run and judged. docs/kadence-toml.md is its manual."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.errors import KadenceError
from kadence.phases import io_planning, memory_planning

FILE_NAME = "kadence.toml"
DEFAULT_TIMEOUT_SECONDS = 600.0


class ProgramError(KadenceError):
    """A kadence.toml is missing or says what it must not."""


@dataclass(frozen=True)
class Program:
    """What a kadence.toml says."""

    folder: Path
    name: str
    build: str  # for the shell
    run: tuple[str, ...]
    profile: tuple[str, ...]
    check: tuple[str, ...]
    validate: tuple[str, ...] = ()  # the run on which markers are validated; empty for none
    prepare: str = ""  # for the shell; empty where there is nothing to prepare
    standard_input: str = ""  # file; empty for none
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    interval: int | None = None  # of the profile, in instructions; None for the pipeline's own
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    io: str = io_planning.DEFAULT  # which I/O paths are planned
    memory: str = memory_planning.DEFAULT  # whether treatments of memory are planned


# table -> key -> (kind, required); what is not here is refused.
KEYS: dict[str, dict[str, tuple[str, bool]]] = {
    "program": {"name": ("text", True)},
    "build": {"command": ("text", True), "prepare": ("text", False)},
    "run": {
        "command": ("words", True),
        "profile": ("words", False),
        "validate": ("words", False),
        "interval": ("count", False),
        "stdin": ("path", False),
        "inputs": ("paths", False),
        "outputs": ("paths", False),
        "timeout": ("seconds", False),
    },
    "plan": {"io": ("mode", False), "memory": ("memory mode", False)},
    "check": {"command": ("words", True)},
}


def read(folder: Path) -> Program:
    """Read FOLDER/kadence.toml strictly."""
    path = Path(folder) / FILE_NAME
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ProgramError(
            f"{folder} has no {FILE_NAME}; write one as docs/kadence-toml.md shows"
        ) from error
    except OSError as error:
        raise ProgramError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ProgramError(f"{path} is not TOML: {error}") from error
    values = _checked(path, tables)
    run = values["run.command"]
    return Program(
        folder=path.parent.resolve(),
        name=values["program.name"],
        build=values["build.command"],
        prepare=values.get("build.prepare", ""),
        run=run,
        profile=values.get("run.profile", run),
        check=values["check.command"],
        validate=values.get("run.validate", ()),
        standard_input=values.get("run.stdin", ""),
        inputs=values.get("run.inputs", ()),
        outputs=values.get("run.outputs", ()),
        interval=values.get("run.interval"),
        timeout_seconds=values.get("run.timeout", DEFAULT_TIMEOUT_SECONDS),
        io=values.get("plan.io", io_planning.DEFAULT),
        memory=values.get("plan.memory", memory_planning.DEFAULT),
    )


def _checked(path: Path, tables: Mapping[str, Any]) -> dict[str, Any]:
    """Every value under `table.key`, after refusing what is unknown, missing or misshapen."""
    values: dict[str, Any] = {}
    for table, content in tables.items():
        if table not in KEYS or not isinstance(content, dict):
            raise ProgramError(
                f"{path}: {table!r} is not a table of {FILE_NAME}; it knows {', '.join(KEYS)}"
            )
        for key, value in content.items():
            if key not in KEYS[table]:
                raise ProgramError(
                    f"{path}: [{table}] has no key {key!r}; it knows {', '.join(KEYS[table])}"
                )
            values[f"{table}.{key}"] = _value(path, f"{table}.{key}", KEYS[table][key][0], value)
    for table, keys in KEYS.items():
        for key, (_, required) in keys.items():
            if required and f"{table}.{key}" not in values:
                raise ProgramError(f"{path}: {key!r} is missing in [{table}]")
    if "/" in values["program.name"]:
        raise ProgramError(f"{path}: the program's name must not contain '/'")
    return values


def _value(path: Path, name: str, kind: str, value: Any) -> Any:
    shape, fits = SHAPES[kind]
    if not fits(value):
        raise ProgramError(f"{path}: {name} must be {shape}, not {value!r}")
    return tuple(value) if isinstance(value, list) else value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(map(_is_text, value))


def _is_path(value: Any) -> bool:
    """A file below the folder: anything else could be one the user wants to keep."""
    return _is_text(value) and not Path(value).is_absolute() and ".." not in Path(value).parts


def _is_paths(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_path, value))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_seconds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e7


SHAPES = {
    "text": ("a text that is not empty", _is_text),
    "words": ("a list of words that is not empty", _is_words),
    "path": ("the name of a file below the folder", _is_path),
    "paths": ("a list of names of files below the folder", _is_paths),
    "count": ("a positive whole number", _is_count),
    "mode": (f"one of {', '.join(io_planning.MODES)}", io_planning.MODES.__contains__),
    "memory mode": (
        f"one of {', '.join(memory_planning.MODES)}",
        memory_planning.MODES.__contains__,
    ),
    "seconds": ("a positive number of seconds", _is_seconds),
}
