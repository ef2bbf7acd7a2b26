# SPDX-License-Identifier: GPL-2.0-or-later
"""`proof.json`: a file beside a kernel in the store, with the proofs of programs on it.

A kernel may serve several programs, so the file holds a proof for each. The proof of a program
that needed repairs is kept twice: beside the repaired kernel, and beside the kernel built from the
program's needs alone, where it refers to the repaired kernel.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base import artefact, codec
from kadence.base.codec import DecodeError
from kadence.base.errors import ArtefactError, KadenceError
from kadence.kconfig.store import store
from kadence.kconfig.store.store import Kernel

FILE = "proof.json"
PASSED, REPAIRED, FAILED = "passed", "repaired", "failed"
UNBUILT = "unbuilt"  # in reports only: no kernel was built, so none was proven


@dataclass(frozen=True)
class RepairRecord:
    """One symbol that was put back."""

    symbol: str
    value: str
    reason: str  # the failure without it
    rule: str  # a rule that would have requested it, ready for kconfig-gen/rules


@dataclass(frozen=True)
class Proof:
    """The proof of one program on the kernel built from its needs."""

    key: str  # checksum of all that the proof depends on
    name: str
    run: tuple[str, ...]
    check: tuple[str, ...]
    outcome: str  # PASSED, REPAIRED or FAILED
    kernel: str | None  # ID of the kernel that serves; None: the generic kernel serves
    reason: str  # the first failure; empty if there was none
    outputs: dict[str, str]
    repairs: tuple[RepairRecord, ...]
    minimal: bool  # each repair was shown to be needed
    builds: int  # kernels built for the repair
    budget: int


@dataclass(frozen=True)
class Proofs:
    """The file of a kernel's proofs."""

    proofs: list[Proof]


def unbuilt(name: str, run: tuple[str, ...], check: tuple[str, ...]) -> Proof:
    """The proof of a program that stays on this machine's own kernel."""
    return Proof(
        key="",
        name=name,
        run=run,
        check=check,
        outcome=UNBUILT,
        kernel=None,
        reason="no kernel was built",
        outputs={},
        repairs=(),
        minimal=True,
        builds=0,
        budget=0,
    )


def failed(
    name: str, run: tuple[str, ...], check: tuple[str, ...], reason: str, key: str = ""
) -> Proof:
    """The proof of a program for which no kernel could be tried."""
    return Proof(key, name, run, check, FAILED, None, reason, {}, (), True, 0, 0)


def record(kernel: Kernel, proof: Proof, command: Sequence[str]) -> None:
    """Keep a proof beside a kernel; it replaces an older proof with the same key."""
    others = [other for other in _proofs(kernel) if other.key != proof.key]
    body = {"id": kernel.id, "proofs": codec.encode((*others, proof))}
    artefact.write(path_of(kernel), artefact.PROOF, None, command, body)


def recall(kernel: Kernel, key: str, budget: int) -> Proof | None:
    """The proof with this key; None if there is none, or a larger budget may now succeed."""
    for proof in _proofs(kernel):
        if proof.key == key and _still_holds(proof, budget):
            return proof
    return None


def _still_holds(proof: Proof, budget: int) -> bool:
    if proof.kernel is None:
        return proof.budget >= budget
    return store.is_whole(proof.kernel)


def last(kernel: Kernel) -> Proof | None:
    """The newest proof of a kernel."""
    return next(reversed(_proofs(kernel)), None)


def _proofs(kernel: Kernel) -> list[Proof]:
    path = path_of(kernel)
    if not path.exists():
        return []
    try:
        return codec.decode(Proofs, artefact.read(path, artefact.PROOF)).proofs
    except DecodeError as error:
        raise ArtefactError(
            f"{path} is damaged ({error}); remove it, and the kernel is proven anew"
        ) from error


def path_of(kernel: Kernel) -> Path:
    """The path of the proofs of a kernel."""
    return kernel.path / FILE


def repairs_in(kernel: Kernel) -> list[RepairRecord]:
    """The symbols that were put back into exactly this kernel."""
    return [
        repair for proof in _proofs(kernel) if proof.kernel == kernel.id for repair in proof.repairs
    ]


def serving(kernel: Kernel) -> Kernel | None:
    """The kernel that serves in place of this one; None: the generic kernel."""
    proof = last(kernel)
    if proof is None or proof.kernel == kernel.id:
        return kernel
    if proof.kernel is None:
        return None
    try:
        return store.load(proof.kernel)
    except KadenceError:
        return None
