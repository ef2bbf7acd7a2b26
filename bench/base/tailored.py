# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes kernels for the benchmarks' own programs, whose needs do not come from a profile."""

from collections.abc import Sequence
from typing import Any

from kadence.base import artefact, codec, resources
from kadence.kconfig.request.needs import Needs
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.store.store import Kernel

NOTHING = codec.encode(Needs(processes=True, memory_bytes=1 << 28))


def kernel(
    bench: str,
    needs: dict[str, Any],
    target: str,
    overrides: Sequence[tuple[str, str]] = (),
) -> Kernel:
    """Returns the kernel for a program with these needs, and builds it if the store lacks it."""
    folder = resources.home() / "build" / "bench" / bench
    folder.mkdir(parents=True, exist_ok=True)
    plan = folder / f"{bench}.plan.json"
    body = {"program": {"argv": [bench]}, "processors": 1, "policies": [], "markers": []}
    command = ["make", f"bench-{bench}"]
    artefact.write(plan, artefact.PLAN, None, command, body | {"needs": NOTHING | needs})
    return build(
        BuildRequest(kind="tailored", plan=plan, target=target, overrides=tuple(sorted(overrides)))
    )
