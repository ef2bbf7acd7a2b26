# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the kernels and modules that a site's nodes may run, after the administrator's review."""

import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from kadence.base import resources
from kadence.base.errors import UsageError
from kadence.boot import driver
from kadence.kadapt.live import source as unit_source
from kadence.kconfig.configuration.rules import Requested
from kadence.kconfig.store.build import build_inputs
from kadence.live import build as unit_build
from kadence.slurm import site_store
from kadence.slurm.site import Site
from kadence.slurm.site_request import Order

MODULE = driver.DRIVER
IMAGE, CONFIG, COMMAND_LINE, INITIAL_RAM = "bzImage", "config", "cmdline", "initrd"
# Names a kernel of the site's store on its own command line.
MARK = "kadence.kernel"
NANOSECONDS = 1_000_000
RELEASE = re.compile(r"[0-9][A-Za-z0-9.+~_-]*")


@dataclass(frozen=True)
class Signer:
    """The store to write to, and the key that signs its folders."""

    store: Path
    key: Ed25519PrivateKey
    command: Sequence[str]


def review(order: Order, site: Site) -> Iterator[str]:
    """The lines that the administrator has to see before a kernel is built."""
    yield f"kernel for configuration {order.configuration}, {order.inputs.origin.series}:"
    yield from _table(order.inputs.requested)
    if order.alone:
        yield "of these, the site's rules do not ask for:"
        yield from _table(order.alone)
    if order.ignored:
        yield "the bundle asks for these, but does not get them:"
        yield from _table(order.ignored)
    if order.undefended:
        yield f"switched off, because {site.file} says mitigations_off:"
        yield from _table(order.undefended)
    else:
        yield "all mitigations that the processor needs stay on"


def _table(symbols: Sequence[Requested]) -> Iterator[str]:
    for each in symbols:
        yield f"  {each.symbol}={each.value}  {each.reason} ({each.origin})"


def build_kernel(
    order: Order, site: Site, signer: Signer, command_line: str, initial_ram: Path | None
) -> Path:
    """Build an ordered kernel into the site's store."""
    kernel = build_inputs(order.inputs)
    files = {
        IMAGE: kernel.image.read_bytes(),
        CONFIG: kernel.config.read_bytes(),
        COMMAND_LINE: f"{_command_line(order, site, command_line)}\n".encode(),
    }
    if initial_ram is not None:
        files[INITIAL_RAM] = _content(initial_ram)
    body = {
        "kernel": kernel.id,
        "release": kernel.manifest["release"],
        "mitigations": not site.mitigations_off,
        "unavailable": kernel.manifest["unavailable"],
    }
    folder = site_store.KERNELS / order.configuration
    return site_store.write(signer.store, folder, files, body, signer.key, signer.command)


def feature_line(order: Order) -> str:
    """The line for helpers.conf, by which Slurm boots nodes into the kernel."""
    helper = resources.home() / "slurm/kexec/feature"
    return f"Feature=kadence_{order.configuration} Helper={helper}"


def _command_line(order: Order, site: Site, more: str) -> str:
    if any(not each.isprintable() for each in more):
        raise UsageError("a kernel's command line is one line of visible characters")
    words = [
        f"{MARK}={order.configuration}",
        f"kadapt.quantum_max_ns={site.largest_quantum_ms * NANOSECONDS}",
        *(["mitigations=off"] if site.mitigations_off else []),
        *more.split(),
    ]
    return " ".join(words)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error


def build_module(release: str, signer: Signer) -> Path:
    """Build the driver for a kernel that nodes run already, into the site's store."""
    _require_release(release)
    with tempfile.TemporaryDirectory(prefix="kadapt-module-") as temporary:
        content = _made_module(release, Path(temporary) / "module")
    folder = site_store.MODULES / release
    body = {"release": release}
    return site_store.write(
        signer.store, folder, {MODULE: content}, body, signer.key, signer.command
    )


def build_unit(source: Path, release: str, signer: Signer) -> Path:
    """Build a unit for a kernel that nodes run already, into the site's store."""
    _require_release(release)
    name = unit_source.name_of(source)
    with tempfile.TemporaryDirectory(prefix="kadapt-module-") as temporary:
        modules = Path(temporary) / "module"
        _made_module(release, modules)
        built = unit_build.build(source, release, modules / driver.SYMBOLS)
    folder = site_store.UNITS / release / name
    body = {"release": release, "source": unit_source.digests([source])[name]}
    return site_store.write(
        signer.store, folder, {f"{name}.ko": built.content}, body, signer.key, signer.command
    )


def _require_release(release: str) -> None:
    if not RELEASE.fullmatch(release):
        raise UsageError(f"{release!r} is not a kernel's release as `uname -r` prints it")


def _made_module(release: str, folder: Path) -> bytes:
    """Build the module anew: what the site signs must not come from a cache."""
    driver.build(release, folder)
    # Without debug information it is a twentieth as long.
    subprocess.run(["strip", "--strip-debug", folder / MODULE], check=True)
    return (folder / MODULE).read_bytes()
