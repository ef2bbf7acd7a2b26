# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the site's store: kernels and modules for nodes, each folder signed with the site's key.

A folder is complete or absent. kadence-node (node/site/site_store.cc) reads the store.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from kadence.base import artefact
from kadence.base.errors import UsageError
from kadence.slurm import keys, manifest

KERNELS, MODULES = PurePosixPath("kernels"), PurePosixPath("modules")
UNITS = PurePosixPath("units")
# Nodes and the users who submit jobs read the store; only root writes it.
FOLDER_MODE, FILE_MODE = 0o755, 0o644


def write(
    store: Path,
    folder: PurePosixPath,
    files: Mapping[str, bytes],
    body: Mapping[str, Any],
    key: Ed25519PrivateKey,
    command: Sequence[str],
) -> Path:
    """Put a folder with these files into the store; replace a folder of that name."""
    final = store / folder
    try:
        final.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=final.parent))
    except OSError as error:
        raise UsageError(f"cannot write the site's store {store}: {error.strerror}") from error
    try:
        for name, content in _signed(folder, files, body, key, command).items():
            (fresh / name).write_bytes(content)
            (fresh / name).chmod(FILE_MODE)
        fresh.chmod(FOLDER_MODE)
        _take_place(fresh, final)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return final


def _signed(
    folder: PurePosixPath,
    files: Mapping[str, bytes],
    body: Mapping[str, Any],
    key: Ed25519PrivateKey,
    command: Sequence[str],
) -> dict[str, bytes]:
    described = [
        {"path": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in files.items()
    ]
    # The folder's name is signed, too, so that no folder can replace another.
    whole = {"folder": str(folder), **body, "files": described}
    text = artefact.text(artefact.SITE, None, command, whole).encode()
    return {**files, manifest.NAME: text, manifest.SIGNATURE: keys.sign(key, text)}


def _take_place(fresh: Path, final: Path) -> None:
    """Rename the new folder into place. Readers keep the old folder's files that they have open."""
    old = fresh.with_name(f".old-{os.getpid()}-{final.name}")
    if final.exists():
        final.rename(old)
    fresh.rename(final)
    shutil.rmtree(old, ignore_errors=True)
