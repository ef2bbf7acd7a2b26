# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program needs of its kernel: its profile's needs, and those seen of its commands.

The profile shows one process on one input. `*.needs.json` (docs/artefacts-kernel.md) holds the
requests of all processes of the program's commands. The plan unites both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from kadence.base import artefact


@dataclass(frozen=True)
class Seen:
    """What both have: each key holds a set."""

    system_calls: tuple[str, ...]
    socket_families: tuple[int, ...]
    files: tuple[str, ...]
    file_systems: tuple[str, ...]


def united(needs: Mapping[str, Any] | None, path: Path | None) -> dict[str, Any] | None:
    """The profile's needs united with those of the artefact at `path`; None without the former."""
    if needs is None or path is None:
        return None if needs is None else dict(needs)
    seen = artefact.load(Seen, path, artefact.NEEDS)
    keys = [one.name for one in fields(seen)]
    return dict(needs) | {key: sorted({*needs[key], *getattr(seen, key)}) for key in keys}
