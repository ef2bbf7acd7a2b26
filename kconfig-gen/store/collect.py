# SPDX-License-Identifier: GPL-2.0-or-later
"""Garbage collection: removes what nothing can refer to any more, and nothing in use."""

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kadence.base.errors import KadenceError
from kadence.kconfig.request.request import TAILORED
from kadence.kconfig.store import build, store
from kadence.kconfig.store.store import Kernel
from kadence.kconfig.tree import source


def collect(everything: bool = False) -> list[Path]:
    """Remove remains of killed builds, damaged and superseded kernels, and unused sources.

    With `everything`, all kernels and sources go. Returns what was removed.
    """
    removed = [path for path in build.remains_of() if _remove_remains(path)]
    removed += [path for path in store.folder().glob(".old-*") if _remove(path)]
    for identifier in _superseded() if not everything else store.identifiers():
        with _unless_in_use(store.folder() / f".{identifier}.lock") as free:
            if free:
                store.remove(identifier)
                removed.append(store.path_of(identifier))
    return removed + _collect_sources(everything)


def _remove(path: Path) -> bool:
    shutil.rmtree(path, ignore_errors=True)
    return not path.exists()


def _remove_remains(path: Path) -> bool:
    identifier = path.name.split("-")[1]
    with _unless_in_use(store.folder() / f".{identifier}.lock") as free:
        return free and _remove(path)


@contextmanager
def _unless_in_use(lock: Path) -> Iterator[bool]:
    """Yield True, holding the lock, if no other process holds it; else yield False."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w", encoding="utf-8") as holder:
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _superseded() -> list[str]:
    """Damaged kernels, and those that a later one for the same purpose has replaced."""
    seen: set[str] = set()
    doomed = []
    for identifier in store.identifiers():
        try:
            purpose = _purpose(store.load(identifier))
        except KadenceError:
            doomed.append(identifier)
            continue
        if purpose in seen:
            doomed.append(identifier)
        seen.add(purpose)
    return doomed


def _purpose(kernel: Kernel) -> str:
    """The request of a kernel. Kernels for one purpose may differ in source and driver."""
    manifest = kernel.manifest
    asked = [manifest[key] for key in ("kind", "target", "source", "hz")]
    asked.append(sorted(manifest.get("units", ())))
    asked.append(manifest.get("layout") is not None)
    if kernel.kind == TAILORED:
        asked.append(manifest["requested"])
    return json.dumps(asked, sort_keys=True)


def _collect_sources(everything: bool) -> list[Path]:
    """Remove sources with an outdated driver, and remains; a build makes sources again."""
    removed = [path for path in _trees() if (everything or _is_stale(path)) and _remove(path)]
    for path in source.folder().glob(".[!.]*"):
        with _unless_in_use(source.folder() / f"{path.name.split('.')[1]}.lock") as free:
            if free and _remove(path):
                removed.append(path)
    return removed


def _trees() -> list[Path]:
    """Source trees in which no build is running."""
    trees = [path for path in source.folder().glob("[!.]*") if path.is_dir()]
    return sorted(path for path in trees if not any(path.glob(".build-*")))


def _is_stale(tree: Path) -> bool:
    return (tree / source.DRIVER_FOLDER).is_dir() and not source.has_present_driver(tree)
