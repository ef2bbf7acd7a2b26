# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the values of a kadence.toml; refuses unknown, missing and malformed ones."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kadence.base.errors import ProgramError
from kadence.phases.plan import io_planning, layout, memory_planning
from kadence.program.filters import STANDARD_OUTPUT, Filter

# table -> key -> (kind, required). Any other key is refused.
KEYS: dict[str, dict[str, tuple[str, bool]]] = {
    "program": {"name": ("text", True)},
    "build": {"command": ("text", True), "prepare": ("text", False), "flags": ("flags", False)},
    "run": {
        "command": ("words", True),
        "profile": ("words", False),
        "validate": ("words", False),
        "interval": ("count", False),
        "stdin": ("path", False),
        "profile_stdin": ("path", False),
        "validate_stdin": ("path", False),
        "inputs": ("paths", False),
        "outputs": ("paths", False),
        "timeout": ("seconds", False),
    },
    "plan": {
        "io": ("mode", False),
        "memory": ("memory mode", False),
        "layout": ("layout", False),
        "units": ("words", False),
    },
    "check": {"command": ("words", True)},
    "observe": {"functions": ("words", False)},
}
# The table whose keys the user chooses, and the table of which there may be several.
ENVIRONMENT, FILTER = "environment", "filter"
FILTER_KEYS = {"pattern": "text", "file": "text", "sort": "flag"}
SHORT_FOR_STANDARD_OUTPUT = "stdout"
# Kadence's own variables, which configure its parts. A run never sees them.
OWN_NAMES = ("KADENCE_", "KADAPT_")
# An option of the compiler, or several with spaces between them; no shell interprets them.
FLAGS = re.compile(r"-[\w.,:=+/-]+( +-[\w.,:=+/-]+)*", re.ASCII)


def checked(path: Path, tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return every value under `table.key`; refuse unknown, missing and malformed ones."""
    values: dict[str, Any] = {}
    for table, content in tables.items():
        if table in (ENVIRONMENT, FILTER):
            continue
        if table not in KEYS or not isinstance(content, dict):
            known = ", ".join((*KEYS, ENVIRONMENT, FILTER))
            raise ProgramError(f"{path}: {table!r} is not a table of {path.name}; it knows {known}")
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


def environment(path: Path, tables: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Table [environment]: names and values, unchanged."""
    table = tables.get(ENVIRONMENT, {})
    if not isinstance(table, dict):
        raise ProgramError(f"{path}: {ENVIRONMENT!r} must be a table of names and strings")
    for name, value in table.items():
        if not name or "=" in name or "\0" in name:
            raise ProgramError(f"{path}: [{ENVIRONMENT}] has {name!r}, which is not a valid name")
        if name.startswith(OWN_NAMES):
            raise ProgramError(
                f"{path}: [{ENVIRONMENT}] has {name}, but names that begin with "
                f"{' or '.join(OWN_NAMES)} are Kadence's own"
            )
        if not isinstance(value, str) or "\0" in value:
            raise ProgramError(
                f"{path}: {ENVIRONMENT}.{name} must be a string in quotes, not {value!r}"
            )
    return tuple(sorted(table.items()))


def filters(path: Path, tables: Mapping[str, Any], outputs: tuple[str, ...]) -> tuple[Filter, ...]:
    """Tables [[filter]]: the parts of the outputs that are not compared."""
    entries = tables.get(FILTER, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ProgramError(f"{path}: write each filter as a table of its own, [[{FILTER}]]")
    return tuple(_filter(path, entry, outputs) for entry in entries)


def _filter(path: Path, entry: Mapping[str, Any], outputs: tuple[str, ...]) -> Filter:
    for key, value in entry.items():
        if key not in FILTER_KEYS:
            raise ProgramError(
                f"{path}: [[{FILTER}]] has no key {key!r}; it knows {', '.join(FILTER_KEYS)}"
            )
        _value(path, f"{FILTER}.{key}", FILTER_KEYS[key], value)
    if not entry.get("pattern") and not entry.get("sort"):
        raise ProgramError(f"{path}: a [[{FILTER}]] needs a pattern, or sort = true")
    made = Filter(
        entry.get("pattern", ""), _filtered(path, entry, outputs), entry.get("sort", False)
    )
    if (complaint := made.complaint()) is not None:
        raise ProgramError(
            f"{path}: {made.pattern!r} of a [[{FILTER}]] is not a regular expression: {complaint}"
        )
    return made


def _filtered(path: Path, entry: Mapping[str, Any], outputs: tuple[str, ...]) -> str:
    """The output that a filter applies to; empty for all."""
    name = str(entry.get("file", ""))
    if name in ("", *outputs):
        return name
    if name == SHORT_FOR_STANDARD_OUTPUT:
        return STANDARD_OUTPUT
    raise ProgramError(
        f"{path}: a [[{FILTER}]] names {name!r}, which is neither {SHORT_FOR_STANDARD_OUTPUT!r} "
        "nor among run.outputs"
    )


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
    """True for a file below the folder. Any other file could be one the user wants to keep."""
    return _is_text(value) and not Path(value).is_absolute() and ".." not in Path(value).parts


def _is_paths(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_path, value))


def _is_flags(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, str) and FLAGS.fullmatch(each) for each in value
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_seconds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e7


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


SHAPES = {
    "text": ("a string that is not empty", _is_text),
    "words": ("a list of words that is not empty", _is_words),
    "path": ("the name of a file below the folder", _is_path),
    "paths": ("a list of names of files below the folder", _is_paths),
    "flags": ('a list of options of the compiler, such as ["-O3"], or []', _is_flags),
    "count": ("a positive whole number", _is_count),
    "mode": (f"one of {', '.join(io_planning.MODES)}", io_planning.MODES.__contains__),
    "layout": (f"one of {', '.join(layout.MODES)}", layout.MODES.__contains__),
    "memory mode": (
        f"one of {', '.join(memory_planning.MODES)}",
        memory_planning.MODES.__contains__,
    ),
    "flag": ("true or false", _is_flag),
    "seconds": ("a positive number of seconds", _is_seconds),
}
