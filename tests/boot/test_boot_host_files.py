# SPDX-License-Identifier: GPL-2.0-or-later
"""The server that gives a kernel without 9p the host's files."""

import os
from pathlib import Path

import pytest

from kadence.base.errors import ToolError, UsageError
from kadence.boot import host_files
from kadence.boot.host_files import FileServer

MEMORY = 1 << 30


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A kernel that has virtiofs, and no 9p."""
    (tmp_path / "config-6.12").write_text("CONFIG_VIRTIO_FS=y\n# CONFIG_9P_FS is not set\n")
    (tmp_path / "vmlinuz-6.12").touch()
    return tmp_path / "vmlinuz-6.12"


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The places of both releases of the server; none is installed."""
    places = [tmp_path / "later", tmp_path / "earlier"]
    moved = (
        FileServer(place, each.options, each.sandbox, each.unconfined)
        for place, each in zip(places, host_files.FILE_SERVERS, strict=True)
    )
    monkeypatch.setattr(host_files, "FILE_SERVERS", tuple(moved))
    return places


def as_user(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: number)


def test_the_later_server_is_taken(image: Path, servers: list[Path]) -> None:
    """Debian 13 has a link to it at the earlier one's place."""
    for place in servers:
        place.touch()
    words = host_files.carrier(image, MEMORY).server
    assert words[1] == str(servers[0])
    assert "--shared-dir=/" in words


def test_only_the_later_server_serves_other_users(
    image: Path, servers: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    as_user(monkeypatch, 1000)
    servers[1].touch()
    with pytest.raises(UsageError, match="whose server needs root"):
        host_files.carrier(image, MEMORY)
    servers[0].touch()
    assert "--sandbox=none" in host_files.carrier(image, MEMORY).server
    as_user(monkeypatch, 0)
    assert "--sandbox=chroot" in host_files.carrier(image, MEMORY).server


def test_a_missing_server_is_named(image: Path, servers: list[Path]) -> None:
    assert not any(place.exists() for place in servers)
    with pytest.raises(ToolError, match="later is missing; run `apt-get install virtiofsd`"):
        host_files.carrier(image, MEMORY)
