# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares how a unit declares the functions that it replaces with what they are."""

from collections.abc import Iterable

from kadence.base.errors import KadenceError
from kadence.kadapt.live.btf import Signature, Types
from kadence.kadapt.live.source import BEFORE, VARIANT


def require_same(functions: Iterable[str], unit: Types, kernel: Types) -> None:
    """Raise KadenceError if a function has other parameters, or another result, in the kernel."""
    for function in functions:
        found = kernel.signature(function)
        if found is None:
            raise KadenceError(
                f"the kernel does not say what the parameters of {function} are, so a unit can't "
                "replace it; replace a function that calls it"
            )
        declared = unit.signature(VARIANT + function)
        if declared is None:
            before = unit.signature(BEFORE + function)
            assert before is not None, f"GCC left {function} out of the unit's types"
            declared = Signature(found.result, before.parameters)
        if declared != found:
            raise KadenceError(f"{function} is {found} in the kernel, but {declared} in the unit")
