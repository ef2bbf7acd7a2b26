# SPDX-License-Identifier: GPL-2.0-or-later
"""A plan's needs unite the profile's needs with those seen of all commands."""

from pathlib import Path
from typing import Any

import pytest

from kadence.base import artefact
from kadence.base.errors import ArtefactError
from kadence.phases.describe import needs

PROFILED: dict[str, Any] = {"system_calls": ["read", "write"], "socket_families": [2]}
PROFILED |= {"files": [], "file_systems": [], "threads": True}
SEEN = {
    "system_calls": ["shmget", "read"],
    "socket_families": [1],
    "files": ["/proc/net/*"],
    "file_systems": [],
}


def write(path: Path, body: dict[str, Any]) -> Path:
    artefact.write(path, artefact.NEEDS, None, ["kadence"], body)
    return path


def test_both_are_one(tmp_path: Path) -> None:
    assert needs.united(PROFILED, write(tmp_path / "p.needs.json", SEEN)) == {
        "system_calls": ["read", "shmget", "write"],
        "socket_families": [1, 2],
        "files": ["/proc/net/*"],
        "file_systems": [],
        "threads": True,
    }


def test_nothing_was_seen() -> None:
    assert needs.united(PROFILED, None) == PROFILED


def test_a_profile_that_knows_of_no_needs_gets_none(tmp_path: Path) -> None:
    assert needs.united(None, write(tmp_path / "p.needs.json", SEEN)) is None


def test_a_damaged_artefact_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "p.needs.json", {**SEEN, "files": 3})
    with pytest.raises(ArtefactError, match="is damaged: files is not a list"):
        needs.united(PROFILED, path)
