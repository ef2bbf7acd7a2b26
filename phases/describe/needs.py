# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program needs of its kernel: its profile's needs, and those seen of its commands.

The profile shows one process on one input. `*.needs.json` (docs/artefacts-kernel.md) holds the
requests of all processes of the program's commands. The plan unites both.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kadence.base import artefact
from kadence.base.errors import ArtefactError

# Keys of both whose values are sets.
UNITED = ("system_calls", "socket_families", "files", "file_systems")


def united(needs: Mapping[str, Any] | None, path: Path | None) -> dict[str, Any] | None:
    """The profile's needs united with those of the artefact at `path`; None without the former."""
    if needs is None or path is None:
        return None if needs is None else dict(needs)
    seen = artefact.read(path, artefact.NEEDS)
    try:
        both = {key: sorted({*needs.get(key, ()), *seen[key]}) for key in UNITED}
    except (KeyError, TypeError) as error:
        raise ArtefactError(
            f"{path} does not say what was seen ({error!r}); make it anew"
        ) from error
    return dict(needs) | both
