# SPDX-License-Identifier: GPL-2.0-or-later
"""Does a stage only if one of its ingredients has changed.

A stage's key is a hash of its ingredients. The key of the last success is kept beside the products.
A stage with the same key is skipped if all its products exist. Before a stage runs, its old key is
removed; if the stage fails, its products are removed too. So no later run uses a product that is
incomplete or outdated.
"""

import fcntl
import hashlib
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kadence.base import artefact
from kadence.base.errors import UsageError
from kadence.base.terminal import tell

# Folders that are not ingredients: version control and the interpreter write them.
LEFT_OUT = frozenset({".git", "__pycache__"})

KEYS = ".stages"
LOCK = ".lock"


def fingerprint(path: Path, leave_out: Path | None = None) -> str:
    """A hash of a file, or of all names, kinds, modes and contents below a folder."""
    digest = hashlib.sha256()
    for entry in _entries(path, leave_out):
        status = entry.lstat()
        name = entry.relative_to(path).as_posix()
        content = str(entry.readlink()).encode() if entry.is_symlink() else file_hash(entry)
        digest.update(f"{name}\0{status.st_mode:o}\0".encode() + content + b"\0")
    return digest.hexdigest()


def _entries(path: Path, leave_out: Path | None) -> Iterable[Path]:
    if not path.is_dir():
        yield path
        return
    for entry in sorted(path.iterdir()):
        if entry.name in LEFT_OUT or entry == leave_out:
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from _entries(entry, leave_out)
        elif entry.is_file() or entry.is_symlink():
            yield entry


def file_hash(path: Path) -> bytes:
    """SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest().encode()


@contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """Lock an output directory against a second run."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"another kadence is running in {directory}; wait for it, or choose another "
                "place with -o"
            ) from error
        yield


class Stages:
    """The stages of one output directory."""

    def __init__(self, directory: Path, again: bool = False) -> None:
        self.directory = directory
        self.again = again
        self._keys = directory / KEYS
        self._keys.mkdir(parents=True, exist_ok=True)

    @staticmethod
    def are_in(directory: Path) -> bool:
        """Whether a directory holds the output of stages."""
        return (directory / KEYS).is_dir()

    def run(
        self,
        name: str,
        ingredients: Iterable[object],
        products: Sequence[Path],
        action: Callable[[], object],
    ) -> str:
        """Do the stage unless it is done already, and return its key."""
        key = hashlib.sha256("\0".join([name, *map(str, ingredients)]).encode()).hexdigest()
        stamp = self._keys / name.replace(" ", "-")
        if self._is_done(stamp, key, products):
            tell(f"{name}: unchanged")
            return key
        stamp.unlink(missing_ok=True)
        tell(f"{name} …")
        began = time.monotonic()
        try:
            action()
        except BaseException:
            _remove(products)
            raise
        tell(f"{name}: {time.monotonic() - began:.1f} s")
        with artefact.atomic_output(stamp) as temporary:
            temporary.write_text(key)
        return key

    def _is_done(self, stamp: Path, key: str, products: Sequence[Path]) -> bool:
        return (
            not self.again
            and stamp.is_file()
            and stamp.read_text() == key
            and all(product.exists() for product in products)
        )


def _remove(products: Iterable[Path]) -> None:
    for product in products:
        if product.is_dir() and not product.is_symlink():
            shutil.rmtree(product, ignore_errors=True)
        else:
            product.unlink(missing_ok=True)
