# SPDX-License-Identifier: GPL-2.0-or-later
"""What a verb prints with --json: one document for programs, in place of text for people."""

import argparse
import dataclasses
import json
import sys
from enum import Enum
from pathlib import Path
from typing import Any, TextIO


def add_json(parser: argparse.ArgumentParser, what: str = "print JSON instead of text") -> None:
    """Declare --json."""
    parser.add_argument("--json", action="store_true", help=what)


def document(value: object, stream: TextIO | None = None) -> None:
    """Print a document to standard output, or to where a verb's command does not write."""
    text = json.dumps(value, indent=1, ensure_ascii=False, default=_plain)
    print(text, file=stream or sys.stdout)


def _plain(value: object) -> Any:
    """JSON's form of what a verb has."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{type(value).__name__} has no form in JSON")
