# SPDX-License-Identifier: GPL-2.0-or-later
"""Bundles: one file with a job's program, plan and kernel, signed by its user.

A bundle is an archive (archive.py) of the manifest, its signature unless it is unsigned, and the
files that the manifest lists, in that order.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from kadence.base import artefact, elf
from kadence.base.errors import ArtefactError, UsageError
from kadence.slurm import archive, keys, manifest
from kadence.slurm.archive import Member
from kadence.slurm.keys import Signature, SignatureError
from kadence.slurm.manifest import (
    ConfigurationFile,
    File,
    KernelFile,
    Manifest,
    Measured,
    Program,
    Unit,
)

SUFFIX = ".kbundle"
Ring = Mapping[str, tuple[str, Ed25519PublicKey]]


@dataclass(frozen=True)
class BuiltProgram:
    """An adapted program and the build-ids of the builds that it may stand in for."""

    path: Path
    replaces: tuple[str, ...]


@dataclass(frozen=True)
class Kernel:
    """A kernel to be packed."""

    image: Path
    id: str
    release: str


@dataclass(frozen=True)
class Configuration:
    """The request for a kernel to be packed."""

    content: bytes
    id: str


@dataclass(frozen=True)
class Contents:
    """The contents of a bundle to be made."""

    name: str
    programs: Sequence[BuiltProgram]
    plan: Path
    kernels: Mapping[str, Kernel] = field(default_factory=dict)  # by target, as the next two
    configurations: Mapping[str, Configuration] = field(default_factory=dict)
    measured: Mapping[str, Measured] = field(default_factory=dict)
    units: Sequence[Unit] = ()
    command: Sequence[str] = ()  # makes the bundle again
    architecture: str = manifest.ARCHITECTURE
    interface: int = manifest.INTERFACE


@dataclass(frozen=True)
class Bundle:
    """A bundle that was read and agrees with its manifest."""

    manifest: Manifest
    signature: Signature | None
    manifest_bytes: bytes
    files: Mapping[str, bytes]
    packed_bytes: int


def write(path: Path, contents: Contents, key: Ed25519PrivateKey | None) -> None:
    """Make a bundle; without a key it is unsigned."""
    programs = [_program(built) for built in contents.programs]
    members = [_member(program.file, built.path, executable=True) for program, built in programs]
    members.append(_member(manifest.PLAN, contents.plan))
    for target, kernel in contents.kernels.items():
        members.append(_member(f"kernel/{target}", kernel.image, executable=True))
    for target, configuration in contents.configurations.items():
        members.append(Member(f"config/{target}.json", configuration.content))
    described = _described(contents, [program for program, _ in programs], members)
    build_id = programs[0][0].build_id if programs else None
    text = artefact.text(artefact.BUNDLE, build_id, contents.command, described.body()).encode()
    head = [Member(manifest.NAME, text)]
    if key is not None:
        head.append(Member(manifest.SIGNATURE, keys.sign(key, text)))
    packed = archive.pack([*head, *members])
    with artefact.atomic_output(path) as temporary:
        temporary.write_bytes(packed)


def _program(built: BuiltProgram) -> tuple[Program, BuiltProgram]:
    build_id = elf.build_id(built.path)
    if build_id is None:
        raise UsageError(
            f"{built.path} is not a program with a build-id, by which nodes identify it; "
            "link it with -Wl,--build-id"
        )
    name = built.path.name
    return Program(f"bin/{name}", name, build_id, built.replaces), built


def _member(name: str, path: Path, executable: bool = False) -> Member:
    try:
        return Member(name, path.read_bytes(), executable)
    except OSError as error:
        raise UsageError(f"cannot pack {path}: {error.strerror}") from error


def _described(
    contents: Contents, programs: Sequence[Program], members: Sequence[Member]
) -> Manifest:
    paths = [member.path for member in members]
    if len(set(paths)) < len(paths):
        raise UsageError(f"{contents.name} has two programs of one name; a bundle can't hold both")
    return Manifest(
        name=contents.name,
        architecture=contents.architecture,
        interface=contents.interface,
        programs=tuple(programs),
        plan=manifest.PLAN,
        kernels={
            target: KernelFile(f"kernel/{target}", kernel.id, kernel.release)
            for target, kernel in contents.kernels.items()
        },
        configurations={
            target: ConfigurationFile(f"config/{target}.json", configuration.id)
            for target, configuration in contents.configurations.items()
        },
        measured=dict(contents.measured),
        units=tuple(contents.units),
        files=tuple(_file(member) for member in members),
    )


def _file(member: Member) -> File:
    digest = hashlib.sha256(member.content).hexdigest()
    return File(member.path, len(member.content), digest, member.executable)


def read(path: Path) -> Bundle:
    """Read a bundle and check everything except its signature; see `signer`."""
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise ArtefactError(f"cannot read {path}: {error.strerror}") from error
    name = str(path)
    members = archive.unpack(name, packed)
    if not members or members[0].path != manifest.NAME:
        raise ArtefactError(f"{name} does not begin with {manifest.NAME}, so it is not a bundle")
    text = members.pop(0).content
    document = artefact.parse(f"the manifest of {name}", text, artefact.BUNDLE)
    described = manifest.from_document(name, document)
    signature = None
    if members and members[0].path == manifest.SIGNATURE:
        signature = Signature.parse(members.pop(0).content, f"the signature of {name}")
    _require_same(name, described, members)
    files = {member.path: member.content for member in members}
    return Bundle(described, signature, text, files, len(packed))


def _require_same(name: str, described: Manifest, members: Sequence[Member]) -> None:
    """Check that the archive holds the listed files, and that the manifest lists all it names."""
    listed = [file.path for file in described.files]
    found = [member.path for member in members]
    for path in [*found, *listed]:
        if found.count(path) != 1 or listed.count(path) != 1:
            raise ArtefactError(f"{name} and its manifest do not agree about {path}")
    if found != listed:
        raise ArtefactError(f"{name} does not have its files in the manifest's order")
    for member, file in zip(members, described.files, strict=True):
        if _file(member) != file:
            raise ArtefactError(f"{member.path} of {name} is not the file that was packed")
    for path in described.named():
        if path not in listed:
            raise ArtefactError(f"the manifest of {name} names {path}, which it does not list")


def signer(name: str, bundle: Bundle, ring: Ring) -> str | None:
    """The name of the key of the ring that signed a bundle; None for an unsigned one."""
    if bundle.signature is None:
        return None
    if bundle.signature.signer not in ring:
        raise SignatureError(
            f"{name} is signed with the key {bundle.signature.signer}, which is not among those "
            "that are accepted"
        )
    owner, key = ring[bundle.signature.signer]
    if not keys.holds(key, bundle.signature, bundle.manifest_bytes):
        raise SignatureError(f"the signature of {name} is wrong: its manifest was changed")
    return owner
