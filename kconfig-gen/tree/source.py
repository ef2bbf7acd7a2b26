# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel source trees: unpacked or copied once, then given the driver and recorded patches.

In the cache directory, sources/ holds one pristine tree per origin and, hard-linked to it, one
tree per set of additions. The user's own tree is only read.
"""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base import artefact, resources
from kadence.base.errors import BuildError, ToolError
from kadence.kadapt.live import source as unit_source
from kadence.kconfig.request import series
from kadence.kconfig.request.request import BuildRequest
from kadence.kconfig.request.series import Patch
from kadence.kconfig.tree import commands, locks, units

DRIVER_FOLDER = Path("drivers/misc/kadapt")
# Files of the tree, and the line that is added at the end of each to include the driver.
HOOKS = {
    "drivers/misc/Makefile": "obj-$(CONFIG_KADAPT)\t\t+= kadapt/\n",
    "drivers/misc/Kconfig": 'source "drivers/misc/kadapt/Kconfig"\n',
}
# A folder that lacks one of these files is no kernel source.
TREE_FILES = ("Makefile", "Kconfig", "scripts/kconfig/merge_config.sh", *HOOKS)
# If one of these exists, Kbuild refuses to build the tree in another folder.
BUILD_LEFTOVERS = (".config", "include/config", "include/generated")
UNPACKED_BYTES = 2_000_000_000


@dataclass(frozen=True)
class Origin:
    """Where the source comes from. Equal digests mean equal sources."""

    path: Path  # tarball or folder
    series: str
    digest: str


def origin(request: BuildRequest) -> Origin:
    """The source of a request; raises ToolError or BuildError if there is none."""
    if request.source is not None:
        return _folder_origin(request.source)
    chosen = series.get(request.series)
    if not chosen.tarball.is_file():
        raise ToolError(
            f"the source of series {chosen.name} is missing ({chosen.tarball}); "
            f"get it with: {chosen.remedy}"
        )
    return Origin(chosen.tarball, chosen.name, _tarball_digest(chosen.tarball))


def release(request: BuildRequest) -> str:
    """The series of a request, which names a series or a tree."""
    return request.series if request.source is None else _series_of(request.source)


def _tarball_digest(tarball: Path) -> str:
    """SHA-256 of a tarball, cached as long as its size and modification time do not change."""
    status = tarball.stat()
    identity = f"{tarball.resolve()}\0{status.st_size}\0{status.st_mtime_ns}".encode()
    memory = folder() / f"{hashlib.sha256(identity).hexdigest()[:16]}.digest"
    if memory.is_file():
        return memory.read_text(encoding="ascii")
    digest = _content_digest(tarball).hex()
    folder().mkdir(parents=True, exist_ok=True)
    with artefact.atomic_output(memory) as temporary:
        temporary.write_text(digest, encoding="ascii")
    return digest


def _folder_origin(folder: Path) -> Origin:
    folder = folder.resolve()
    missing = [name for name in TREE_FILES if not (folder / name).is_file()]
    if missing:
        raise BuildError(
            f"{folder} is not a Linux kernel source ({missing[0]} is missing); "
            "name the top folder of one with --source"
        )
    leftovers = [name for name in BUILD_LEFTOVERS if (folder / name).exists()]
    if leftovers:
        raise BuildError(
            f"{folder} holds the leftovers of a build ({leftovers[0]}); "
            "run `make mrproper` there, or name a clean tree with --source"
        )
    return Origin(folder, _series_of(folder), tree_digest(folder))


def _series_of(tree: Path) -> str:
    makefile = (tree / "Makefile").read_text(encoding="utf-8", errors="replace")
    numbers = dict(re.findall(r"^(VERSION|PATCHLEVEL)\s*=\s*(\d+)", makefile, re.MULTILINE))
    if len(numbers) != 2:
        raise BuildError(f"{tree / 'Makefile'} names no kernel version; is it a kernel source?")
    return f"{numbers['VERSION']}.{numbers['PATCHLEVEL']}"


def tree_digest(tree: Path) -> str:
    """SHA-256 over every file's path and content, except git's own."""
    total = hashlib.sha256()
    for path in sorted(_files(tree)):
        total.update(str(path.relative_to(tree)).encode() + b"\0")
        total.update(_content_digest(path))
    return total.hexdigest()


def _files(tree: Path) -> Iterable[Path]:
    for place, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (Path(place) / name for name in names if name != ".git")


def _content_digest(path: Path) -> bytes:
    if path.is_symlink():
        return hashlib.sha256(str(path.readlink()).encode()).digest()
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").digest()


def driver_files() -> dict[str, Path]:
    """The driver's files, by their paths in drivers/misc/kadapt."""
    home = resources.home() / "kadapt"
    files = _files_below(home / "driver")
    files |= {f"uapi/{name}": path for name, path in _files_below(home / "uapi").items()}
    for needed in (home / "driver" / "Kconfig", home / "uapi/kadapt.h"):
        if not needed.is_file():
            raise BuildError(f"{needed} is missing; is {resources.home()} a whole Kadence?")
    return files


def driver_digest(files: dict[str, Path] | None = None) -> str:
    """SHA-256 over the driver's files."""
    total = hashlib.sha256()
    for name, path in sorted((files or driver_files()).items()):
        total.update(name.encode() + b"\0" + _content_digest(path))
    return total.hexdigest()


def has_present_driver(tree: Path) -> bool:
    """Whether a prepared tree holds exactly the present driver."""
    files = _files_below(tree / DRIVER_FOLDER)
    return bool(files) and driver_digest(files) == driver_digest()


def _files_below(place: Path) -> dict[str, Path]:
    return {str(path.relative_to(place)): path for path in place.rglob("*") if path.is_file()}


def patches_digest(patches: Sequence[Patch]) -> list[str]:
    """SHA-256 of each patch."""
    return [_content_digest(patch.path).hex() for patch in patches]


def folder() -> Path:
    """The folder of the prepared sources."""
    return resources.cache_directory() / "sources"


def prepare(
    found: Origin,
    patches: Sequence[Patch],
    log: Path,
    unit_files: Sequence[Path] = (),
    *,
    planted: bool = False,
) -> Path:
    """The tree with driver, units and patches; made if it does not exist yet.

    `planted`: the build folder decides how objects are compiled.
    """
    parts = [found.digest, driver_digest(), *patches_digest(patches)]
    parts += unit_source.digests(unit_files).values()
    parts += ["planted"] if planted else []
    key = "\0".join(parts)
    name = f"{found.digest[:16]}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    unchanged = pristine(found, log)

    def add(place: Path) -> None:
        commands.run(["cp", "-al", f"{unchanged}/.", str(place)], unchanged, log)
        _add_driver(place)
        if unit_files:
            units.add(place, DRIVER_FOLDER, unit_files)
        if planted:
            _hook(place, units.HOOKED, units.HOOK)
        for patch in patches:
            _apply(patch, place, log)

    return _once(name, add)


def pristine(found: Origin, log: Path) -> Path:
    """The tree as it was published. The caller must not write to it."""
    return _once(found.digest[:16], lambda place: _fill(found, place, log))


def _once(name: str, make: Callable[[Path], None]) -> Path:
    """The complete folder of that name: made in a temporary folder under a lock, then renamed."""
    final = folder() / name
    with locks.exclusive(folder() / f"{name}.lock", "preparing the kernel source"):
        if not final.exists():
            temporary = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=folder()))
            try:
                make(temporary)
                temporary.rename(final)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
    return final


def _fill(found: Origin, place: Path, log: Path) -> None:
    commands.require_space(place, UNPACKED_BYTES if found.path.is_file() else 0)
    if found.path.is_file():
        unpack = ["tar", "-xJf", str(found.path), "--strip-components=1", "-C", str(place)]
        commands.run(unpack, place, log)
        return
    entries = [str(entry) for entry in sorted(found.path.iterdir()) if entry.name != ".git"]
    commands.run(["cp", "-a", "--reflink=auto", "-t", str(place), *entries], place, log)


def _add_driver(tree: Path) -> None:
    """Copy the driver into the tree and add it to Makefile and Kconfig, as an upstream driver."""
    shutil.rmtree(tree / DRIVER_FOLDER, ignore_errors=True)
    for name, path in driver_files().items():
        destination = tree / DRIVER_FOLDER / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, destination)
    for name, line in HOOKS.items():
        _hook(tree, name, line)


def _hook(tree: Path, name: str, line: str) -> None:
    text = (tree / name).read_text(encoding="utf-8")
    if line not in text:
        _replace(tree / name, _with_hook(text, line))


def _with_hook(text: str, line: str) -> str:
    """The text with the line at its end, or, in a Kconfig file, before the last `endmenu`."""
    if text.rstrip().endswith("endmenu"):
        return f"{text.rstrip().removesuffix('endmenu')}{line}endmenu\n"
    return text + line


def _replace(path: Path, text: str) -> None:
    """Replace a file. Writing into it would change the pristine tree that it is linked to."""
    path.unlink()
    path.write_text(text, encoding="utf-8")


def _apply(patch: Patch, tree: Path, log: Path) -> None:
    """Apply a patch, after replacing the files that it changes: they are hard links (_replace)."""
    arguments = ["patch", "--batch", "--forward", "-p1", "-i", str(patch.path), "-d", str(tree)]
    try:
        for name in re.findall(r"^--- a/(\S+)", patch.path.read_text("utf-8"), re.MULTILINE):
            _replace(tree / name, (tree / name).read_text(encoding="utf-8"))
        commands.run(arguments, tree, log)
    except (BuildError, FileNotFoundError) as error:
        raise BuildError(f"{patch.file} does not apply to this source: {error}") from error
