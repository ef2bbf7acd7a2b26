# SPDX-License-Identifier: GPL-2.0-or-later
"""Lays out the code of a kernel that serves a program, and proves the result on it once more."""

from dataclasses import replace
from pathlib import Path

from kadence.base.errors import KadenceError
from kadence.base.terminal import tell
from kadence.kconfig.store.build import build
from kadence.kernel import proof, proving
from kadence.kernel.tailoring import Tailored, Tailoring


def positioned(tailoring: Tailoring, plain: Tailored, counts: Path) -> Tailored:
    """The kernel laid out by the counts; the plain one, and a sentence, if that does not serve."""
    if plain.kernel is None:
        return plain
    overrides = dict(tailoring.request.overrides)
    overrides |= {repair.symbol: repair.value for repair in plain.proof.repairs}
    request = replace(tailoring.request, overrides=tuple(sorted(overrides.items())), layout=counts)
    try:
        kernel = build(request)
        if proof.recall(kernel, plain.proof.key, plain.proof.budget) is None:
            tell(f"proof of kernel {kernel.id} …")
            finding = proving.prove(
                tailoring.subject, kernel, tailoring.generic, plain.proof.outputs
            )
            if finding.reason is not None:
                raise KadenceError(f"the laid out kernel {kernel.id} fails: {finding.reason}")
    except KadenceError as error:
        tell(f"{error.reason}; the kernel serves as it was")
        return plain
    made = replace(plain.proof, kernel=kernel.id)
    proof.record(kernel, made, [*tailoring.command, "--layout", str(counts)])
    return Tailored(made, kernel)
