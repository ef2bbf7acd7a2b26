# SPDX-License-Identifier: GPL-2.0-or-later
"""`proof.json`: beside a kernel in the store, for which programs it was proven, and how.

A kernel may serve several programs, so the file holds a proof for each. The proof of a program
that needed repairs is kept twice: with the kernel that its needs alone gave, which sends to the
repaired one, and with that.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kadence import artefact
from kadence.errors import ArtefactError, KadenceError
from kadence.kconfig import store
from kadence.kconfig.store import Kernel

FILE = "proof.json"
PASSED, REPAIRED, FAILED = "passed", "repaired", "failed"
UNBUILT = "unbuilt"  # in reports alone: no kernel was built, so none was proven


@dataclass(frozen=True)
class RepairRecord:
    """One symbol that was put back."""

    symbol: str
    value: str
    reason: str  # what failed without it
    rule: str  # a rule that would have asked for it, ready for kconfig-gen/rules


@dataclass(frozen=True)
class Proof:
    """What is known of one program on the kernel that its needs give."""

    key: str  # of all that the proof rests on
    name: str
    run: tuple[str, ...]
    check: tuple[str, ...]
    outcome: str  # PASSED, REPAIRED or FAILED
    kernel: str | None  # ID of the one that serves; None: the generic one does
    reason: str  # what failed at first; empty where nothing did
    outputs: dict[str, str]
    repairs: tuple[RepairRecord, ...]
    minimal: bool  # each repair was seen to be needed
    builds: int  # that the repair took
    budget: int


def unbuilt(name: str, run: tuple[str, ...], check: tuple[str, ...]) -> Proof:
    """Where this machine's own kernel is left as it is."""
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
    """Of a program for which no kernel could be tried."""
    return Proof(key, name, run, check, FAILED, None, reason, {}, (), True, 0, 0)


def record(kernel: Kernel, proof: Proof, command: Sequence[str]) -> None:
    """Keep a proof beside a kernel, in place of an older one for the same."""
    others = [other for other in _proofs(kernel) if other.key != proof.key]
    body = {"id": kernel.id, "proofs": [asdict(each) for each in (*others, proof)]}
    artefact.write(path_of(kernel), artefact.PROOF, None, command, body)


def recall(kernel: Kernel, key: str, budget: int) -> Proof | None:
    """The proof for exactly this, unless a larger budget may now bring more."""
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
        return [_proof(row) for row in artefact.read(path, artefact.PROOF)["proofs"]]
    except (KeyError, TypeError) as error:
        raise ArtefactError(
            f"{path} is damaged ({error!r}); remove it, and the kernel is proven anew"
        ) from error


def _proof(row: dict[str, Any]) -> Proof:
    lists = {"run": tuple(row["run"]), "check": tuple(row["check"])}
    repairs = tuple(RepairRecord(**repair) for repair in row["repairs"])
    return Proof(**(row | lists | {"repairs": repairs}))


def path_of(kernel: Kernel) -> Path:
    """Where the proofs of a kernel are."""
    return kernel.path / FILE


def repairs_in(kernel: Kernel) -> list[RepairRecord]:
    """What was put back into exactly this kernel."""
    return [
        repair for proof in _proofs(kernel) if proof.kernel == kernel.id for repair in proof.repairs
    ]


def serving(kernel: Kernel) -> Kernel | None:
    """The kernel that serves where this one was asked for; None: the generic one."""
    proof = last(kernel)
    if proof is None or proof.kernel == kernel.id:
        return kernel
    if proof.kernel is None:
        return None
    try:
        return store.load(proof.kernel)
    except KadenceError:
        return None
