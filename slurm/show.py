# SPDX-License-Identifier: GPL-2.0-or-later
"""Describes a bundle's contents."""

import json
from collections.abc import Iterator
from typing import Any

from kadence.slurm.bundle import Bundle


def summary(bundle: Bundle) -> str:
    """The bundle in one line."""
    return f"{_sizes(bundle)}, {_signed(bundle, None)}"


def as_text(bundle: Bundle, owner: str | None) -> str:
    """The description for a reader; `owner` is the verified signer, if any."""
    return "\n".join(_lines(bundle, owner))


def document(bundle: Bundle, owner: str | None) -> dict[str, Any]:
    """The manifest, and its signer."""
    signature = None
    if bundle.signature is not None:
        signature = {"key": bundle.signature.signer, "verified_as": owner}
    manifest: dict[str, Any] = json.loads(bundle.manifest_bytes)
    return manifest | {"packed_bytes": bundle.packed_bytes, "signature": signature}


def _lines(bundle: Bundle, owner: str | None) -> Iterator[str]:
    manifest = bundle.manifest
    yield f"{manifest.name}: {_sizes(bundle)}"
    yield _signed(bundle, owner)
    yield f"needs {manifest.architecture}, interface {manifest.interface} of kadapt"
    for program in manifest.programs:
        replaced = ", ".join(program.replaces) or "nothing"
        yield f"program {program.name}, build-id {program.build_id}, stands in for {replaced}"
    for target, kernel in manifest.kernels.items():
        yield f"kernel {kernel.id} for {target}, {kernel.release}"
    for target, configuration in manifest.configurations.items():
        yield f"configuration {configuration.id} for {target}"
    for unit in manifest.units:
        phases = ", ".join(map(str, unit.phases))
        yield f"unit {unit.name} for {f'phases {phases}' if phases else 'all phases'}"
    for target, measured in manifest.measured.items():
        yield f"measured on {target}: {measured.sentence}"
    if not manifest.measured:
        yield "not measured"
    yield ""
    yield f"{'bytes':>12}  {'SHA-256':64}  file"
    for file in manifest.files:
        yield f"{file.bytes:12}  {file.sha256}  {file.path}"


def _signed(bundle: Bundle, owner: str | None) -> str:
    if bundle.signature is None:
        return "unsigned"
    if owner is not None:
        return f"signed by {owner} (key {bundle.signature.signer})"
    return f"signed with key {bundle.signature.signer}"


def _sizes(bundle: Bundle) -> str:
    unpacked = sum(file.bytes for file in bundle.manifest.files)
    return f"{_mib(bundle.packed_bytes)}, unpacked {_mib(unpacked)}"


def _mib(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"
