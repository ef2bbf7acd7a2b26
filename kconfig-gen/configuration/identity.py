# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's ID: a hash of all inputs of its build, the same on every machine."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from kadence.kadapt.live import source as unit_source
from kadence.kconfig.configuration import rules
from kadence.kconfig.configuration.rules import Requested
from kadence.kconfig.layout import artefact as layout
from kadence.kconfig.layout.artefact import Counts
from kadence.kconfig.request import series
from kadence.kconfig.request.request import GENERIC, BuildRequest, needs_of
from kadence.kconfig.request.series import Patch
from kadence.kconfig.request.targets import Target
from kadence.kconfig.tree import commands, source
from kadence.kconfig.tree.source import Origin

# Raised whenever a change of the build steps gives another result from the same inputs.
RECIPE = 2
PLANTING = 2  # the same for kernels that contain units
POINTS = 1  # the same for kernels with points
LAYOUT = 3  # the same for kernels that are laid out


@dataclass(frozen=True)
class Inputs:
    """Everything a build is made from."""

    request: BuildRequest
    target: Target
    origin: Origin
    patches: tuple[Patch, ...]
    requested: tuple[Requested, ...]
    compiler: str
    driver_digest: str
    units: Mapping[str, str]  # name -> digest
    layout: Counts | None = None

    @property
    def id(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the inputs."""
        parts = {
            "recipe": RECIPE,
            "kind": self.request.kind,
            "target": self.target.name,
            "make": [self.target.make_variables, self.target.image_goal, self.goals],
            "source": self.origin.digest,
            "patches": source.patches_digest(self.patches),
            "symbols": [wanted.line for wanted in self.requested],
            "compiler": self.compiler,
            "driver": self.driver_digest,
        }
        if self.units:
            parts["units"] = self.units
            parts["planting"] = PLANTING
        if self.request.points:
            parts["points"] = POINTS
        if self.layout is not None:
            parts["layout"] = [LAYOUT, self.layout.digest]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def goals(self) -> list[str]:
        """The make goals of the configuration that the fragment is merged over."""
        usual = self.request.kind == GENERIC
        return self.target.generic_goals if usual else [self.target.smallest_goal]


def gather(request: BuildRequest) -> Inputs:
    """Read and check everything a build needs, before anything is built."""
    target = request.checked()
    found = of_symbols(request, target, rules.requested(request, needs_of(request)))
    if request.layout is None:
        return found
    return replace(found, layout=layout.read_for(request.layout, found.id))


def of_symbols(request: BuildRequest, target: Target, requested: tuple[Requested, ...]) -> Inputs:
    """Gather the inputs for symbols that the caller has already chosen."""
    found = source.origin(request)
    return Inputs(
        request=request,
        target=target,
        origin=found,
        patches=series.patches_for(found.series, target.name, request.wants()),
        requested=requested,
        compiler=commands.compiler_version(),
        driver_digest=source.driver_digest(),
        units=unit_source.digests(request.units),
    )
