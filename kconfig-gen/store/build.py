# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a kernel into the store: under a lock, in a separate folder, renamed when complete.

`build(BuildRequest(...))` is the Python interface; a kernel that is already in the store costs
only the computation of its ID.
"""

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kadence.base import artefact, resources
from kadence.kconfig.configuration import identity
from kadence.kconfig.configuration.configure import configure, lost, make, values
from kadence.kconfig.configuration.identity import Inputs
from kadence.kconfig.language.kconfig_files import definitions
from kadence.kconfig.layout import planting as layout
from kadence.kconfig.layout import sections
from kadence.kconfig.layout.artefact import Counts
from kadence.kconfig.request.request import TRACED, BuildRequest
from kadence.kconfig.store import image, planting, points, rehearsal, store
from kadence.kconfig.store.store import Kernel
from kadence.kconfig.tree import commands, locks, source
from kadence.kconfig.tree.progress import Progress

__all__ = ["BuildRequest", "build", "build_inputs"]


def build(request: BuildRequest) -> Kernel:
    """The kernel for this request, from the store or built now."""
    return build_inputs(identity.gather(request))


def build_inputs(inputs: Inputs) -> Kernel:
    """Return the kernel for inputs that were already gathered."""
    lock = store.folder() / f".{inputs.id}.lock"
    with locks.exclusive(lock, f"kernel {inputs.id}", note(inputs)):
        note(inputs).unlink(missing_ok=True)
        _remove_remains(inputs.id)
        if not store.is_whole(inputs.id):
            store.remove(inputs.id)
            _build(inputs)
    return store.load(inputs.id)


def title(inputs: Inputs) -> str:
    """The name of the build in progress lines."""
    return f"{inputs.request.kind} kernel {inputs.id}"


def note(inputs: Inputs) -> Path:
    """The file that says how far the build is; it exists only during the build."""
    return resources.cache_directory() / "logs" / f"{inputs.id}.progress"


def _remove_remains(identifier: str) -> None:
    """Remove what a killed build of this kernel left. The caller holds the kernel's lock."""
    for remains in remains_of(identifier):
        shutil.rmtree(remains, ignore_errors=True)


def remains_of(identifier: str = "*") -> Iterator[Path]:
    """Folders of builds that are running or were killed."""
    yield from source.folder().glob(f"*/.build-{identifier}")
    yield from store.folder().glob(f".new-{identifier}-*")


def _build(inputs: Inputs) -> None:
    commands.require_tools()
    commands.require_plain_path(resources.cache_directory())
    log = resources.cache_directory() / "logs" / f"{inputs.id}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"{' '.join(inputs.request.command())}\n", encoding="utf-8")
    try:
        began = time.monotonic()
        _build_logged(inputs, log, began)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise commands.no_space(resources.cache_directory()) from error
        raise


def _build_logged(inputs: Inputs, log: Path, began: float) -> None:
    with Progress(title(inputs), note(inputs)) as progress:
        progress.say("preparing the source")
        request = inputs.request
        planted = bool(request.units or request.points or request.layout)
        tree = source.prepare(inputs.origin, inputs.patches, log, request.units, planted=planted)
        commands.require_space(tree, inputs.target.build_bytes)
        with _build_folder(tree, inputs.id) as folder:
            progress.say("configuring")
            configure(inputs, tree, folder, log)
            progress.say("counting the files to compile")
            progress.expect(*rehearsal.files_to_compile(inputs, tree, folder))
            _compile(inputs, tree, folder, log, progress)
            progress.say("storing")
            figures = {
                "files_compiled": progress.files,
                "build_seconds": round(time.monotonic() - began, 1),
            }
            _store(inputs, tree, folder, log, figures)


def _compile(inputs: Inputs, tree: Path, folder: Path, log: Path, progress: Progress) -> None:
    def compile_goals(*goals: str) -> None:
        jobs = f"-j{len(os.sched_getaffinity(0))}"
        commands.run(make(inputs, folder, jobs, *goals), tree, log, on_line=progress.compiled)

    if inputs.units:
        compile_goals(planting.GOAL)
        planting.plant(folder, inputs.target.planted_flags, lambda names: compile_goals(*names))
    if inputs.request.points:
        points.plant(folder, inputs.target.planted_flags)
    if inputs.layout is not None:
        layout.plant_counts(folder, inputs.layout)
        compile_goals(layout.GOAL)
        layout.plant_order(folder, inputs.layout.order)
    compile_goals(inputs.target.image_goal)
    if inputs.units:
        planting.check(folder / store.VMLINUX)


@contextmanager
def _build_folder(tree: Path, identifier: str) -> Iterator[Path]:
    """A folder directly below the source, because Kbuild then uses only relative paths.

    So neither the image nor ccache depends on the place of the cache directory.
    """
    folder = tree / f".build-{identifier}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _store(inputs: Inputs, tree: Path, folder: Path, log: Path, figures: dict[str, float]) -> None:
    """Gather the files for the store in a temporary folder, then rename it in one step."""
    temporary = Path(tempfile.mkdtemp(prefix=f".new-{inputs.id}-", dir=store.folder()))
    try:
        _store_image(inputs, folder, temporary, log)
        shutil.copyfile(folder / ".config", temporary / store.CONFIG)
        shutil.copyfile(folder / "fragment.config", temporary / store.FRAGMENT)
        body = _manifest(inputs, folder, temporary) | {
            "symbols_chosen": _chosen(inputs, tree, temporary / store.CONFIG),
            **figures,
        }
        command = inputs.request.command()
        artefact.write(temporary / store.MANIFEST, artefact.KERNEL, None, command, body)
        shutil.copyfile(log, temporary / store.LOG)
        temporary.chmod(0o755)
        temporary.rename(store.path_of(inputs.id))
        log.unlink()
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _store_image(inputs: Inputs, folder: Path, place: Path, log: Path) -> None:
    stored = place / store.IMAGE
    if inputs.target.executable:
        commands.run(["strip", "--strip-all", "-o", str(stored), inputs.target.image], folder, log)
    else:
        shutil.copyfile(folder / inputs.target.image, stored)
        names = image.functions(folder / store.VMLINUX)
        (place / store.FUNCTIONS).write_text(names, encoding="utf-8")
    if inputs.request.kind == TRACED:
        shutil.copyfile(folder / store.VMLINUX, place / store.VMLINUX)
    if inputs.layout is not None:
        _store_sections(inputs.layout, folder / layout.MAP, place / store.SECTIONS)
    if inputs.request.points:
        (place / store.POINTS).write_text(points.table(folder / store.VMLINUX), encoding="ascii")


def _store_sections(counts: Counts, linked: Path, place: Path) -> None:
    with linked.open(encoding="utf-8") as lines:
        found = sections.of_map(lines)
    layout.check(counts.order, found)
    place.write_text(sections.text(found), encoding="utf-8")


def _chosen(inputs: Inputs, tree: Path, config: Path) -> int:
    """The number of symbols that are on and that a user can choose (have a prompt)."""
    known = definitions(tree, inputs.target.kconfig_variables)
    offered = {definition.symbol for definition in known if definition.prompt}
    return sum(
        symbol in offered and value in {"y", "m"} for symbol, value in values(config).items()
    )


def _manifest(inputs: Inputs, folder: Path, place: Path) -> dict[str, Any]:
    release = folder / "include/config/kernel.release"
    stored = place / store.IMAGE
    final = values(place / store.CONFIG)
    on = [symbol for symbol, value in final.items() if value in {"y", "m"}]
    vmlinux = place / store.VMLINUX
    lost_softly = lost([wanted for wanted in inputs.requested if wanted.soft], place / store.CONFIG)
    return {
        "id": inputs.id,
        "kind": inputs.request.kind,
        "target": inputs.target.name,
        "series": inputs.origin.series,
        "release": release.read_text(encoding="utf-8").strip(),
        "hz": int(final.get("HZ", inputs.request.tick_rate)),
        "source": str(inputs.origin.path),
        "source_sha256": inputs.origin.digest,
        "driver_sha256": inputs.driver_digest,
        "units": dict(inputs.units),
        "points": inputs.request.points,
        "layout": None if inputs.layout is None else inputs.layout.digest,
        "patches": {patch.file: patch.reason for patch in inputs.patches},
        "compiler": inputs.compiler,
        "requested": {wanted.symbol: wanted.value for wanted in inputs.requested},
        "reasons": {wanted.symbol: wanted.reason for wanted in inputs.requested},
        "askers": {wanted.symbol: wanted.origin for wanted in inputs.requested},
        "unavailable": [wanted.symbol for wanted in lost_softly],
        "symbols_on": len(on),
        "image_bytes": stored.stat().st_size,
        "text_bytes": image.text_bytes(
            stored if inputs.target.executable else folder / store.VMLINUX
        ),
        "image_sha256": store.digest(stored),
        "vmlinux_bytes": vmlinux.stat().st_size if vmlinux.exists() else None,
    }
