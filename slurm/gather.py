# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a bundle's contents from a program's folder: does all stages of `kadence specialize` except
the measurement, and takes the verdict of an earlier measurement."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kadence.base import artefact, codec
from kadence.base.errors import ArtefactError, ToolError
from kadence.base.stages import Stages, alone_in
from kadence.base.terminal import tell
from kadence.kadapt.live import source as unit_source
from kadence.kconfig.configuration import identity
from kadence.kconfig.request.request import TAILORED as TAILORED_KIND
from kadence.kconfig.request.request import needs_of
from kadence.kconfig.store.build import BuildRequest
from kadence.kconfig.store.store import Kernel as StoredKernel
from kadence.measurement import programs
from kadence.measurement.measure import ADAPTED, GENERIC, TAILORED
from kadence.measurement.programs import Built
from kadence.program import program
from kadence.program.leaving_out import ADAPTED_PROGRAM, PLAN
from kadence.program.places import Places, claim
from kadence.program.program import Program
from kadence.slurm.bundle import BuiltProgram, Configuration, Contents, Kernel
from kadence.slurm.manifest import Measured, Unit
from kadence.specialize import pipeline
from kadence.specialize.pipeline import Prepared, Wish

NODE_TARGET = "x86_64"
REPORT = "report.json"
NEEDED = (PLAN, ADAPTED_PROGRAM)  # a bundle without them would be of no use on a node


def gather(folder: Path, output: Path, wish: Wish, report: Path | None) -> Contents:
    """Do every stage that is not done yet; `report` names the report with the verdict, if any."""
    described = program.read(folder)
    places = Places(output.resolve(), described.name)
    claim(places.output, described.folder)
    with alone_in(places.output):
        prepared = pipeline.prepare(described, places, Stages(places.output), wish)
        return _contents(prepared, wish, report, ["kadence", "bundle", str(folder)])


def _contents(
    prepared: Prepared, wish: Wish, report: Path | None, command: Sequence[str]
) -> Contents:
    places, folders = prepared.places, prepared.made.folders
    plan = prepared.made.plan
    if plan is None or ADAPTED not in folders:
        missing = next(part for part in prepared.left_out if part.part in NEEDED)
        raise ToolError(f"a bundle needs {missing.part}, which was left out: {missing.reason}")
    found = _programs(prepared.program, folders)
    kernel = prepared.kernels.get(TAILORED, prepared.kernels[GENERIC])
    return Contents(
        name=prepared.program.name,
        programs=[BuiltProgram(folders[ADAPTED] / each.file, (each.plain,)) for each in found],
        plan=plan,
        kernels={kernel.target: Kernel(kernel.image, kernel.id, kernel.manifest["release"])},
        configurations={
            kernel.target: configuration(_request(kernel, plan, wish, prepared)),
            NODE_TARGET: configuration(_node_request(plan, wish)),
        },
        measured=_measured(report, places.output / REPORT, kernel, found),
        units=_units(prepared.program),
        command=command,
    )


def _programs(described: Program, folders: Mapping[str, Path]) -> list[Built]:
    found = programs.built(described, folders)
    if not found:
        raise ToolError(
            f"the build of {described.folder} made no program with a build-id that could go into "
            "a bundle; name it in [run], and link it without -Wl,--build-id=none"
        )
    return found


def _units(described: Program) -> list[Unit]:
    digests = unit_source.digests(described.unit_sources)
    return [
        Unit(unit.source.stem, unit.numbers, digests[unit.source.stem]) for unit in described.units
    ]


def _request(kernel: StoredKernel, plan: Path, wish: Wish, prepared: Prepared) -> BuildRequest:
    """The request of the bundle's kernel, repairs included."""
    units = prepared.program.unit_sources
    if kernel.kind != TAILORED_KIND:
        return BuildRequest(kind=GENERIC, target=kernel.target, units=units)
    repairs = tuple((repair.symbol, repair.value) for repair in prepared.proof.repairs)
    return BuildRequest(
        TAILORED_KIND,
        plan,
        kernel.target,
        trace=wish.trace,
        overrides=tuple(sorted((*wish.overrides, *repairs))),
        units=units,
    )


def _node_request(plan: Path, wish: Wish) -> BuildRequest:
    """The request for kexec, without repairs: a repair belongs to the target of its proof."""
    return BuildRequest(TAILORED_KIND, plan, NODE_TARGET, trace=wish.trace)


def configuration(request: BuildRequest) -> Configuration:
    """The request with every symbol and its reason: enough to build the kernel elsewhere."""
    inputs = identity.gather(request)
    body = {
        "id": inputs.id,
        "kind": request.kind,
        "target": request.target,
        "series": inputs.origin.series,
        "hz": request.hz,
        "mitigations": request.mitigations,
        "needs": codec.encode(needs_of(request)),
        "requested": [
            {
                "symbol": wanted.symbol,
                "value": wanted.value,
                "reason": wanted.reason,
                "origin": wanted.origin,
                "soft": wanted.soft,
            }
            for wanted in inputs.requested
        ],
    }
    command = ["kadence", "site", "build"]
    text = artefact.text(artefact.CONFIGURATION, None, command, body)
    return Configuration(text.encode(), inputs.id)


def _measured(
    named: Path | None, usual: Path, kernel: StoredKernel, built: Sequence[Built]
) -> dict[str, Measured]:
    """The verdict by target, if there is a report, and it is of these very builds and kernel."""
    path = named or usual
    if named is None and not usual.exists():
        tell("not measured: `kadence specialize` would tell whether the kernel gains anything")
        return {}
    document = artefact.read(path, artefact.REPORT)
    if not _is_of(document, kernel, built):
        refusal = f"{path} is of other builds than these; `kadence specialize` makes it anew"
        if named is not None:
            raise ArtefactError(refusal)
        tell(refusal)
        return {}
    verdict = document["verdict"]
    ratio = verdict["ratio"]["value"] if verdict["ratio"] else None
    return {kernel.target: Measured(verdict["outcome"], ratio, verdict["sentence"])}


def _is_of(document: Mapping[str, Any], kernel: StoredKernel, built: Sequence[Built]) -> bool:
    ids = {each["kind"]: each["id"] for each in document["kernels"]}
    judged = document["verdict"]["kernel"]
    same_builds = document["program"].get("builds") == [asdict(each) for each in built]
    return same_builds and ids.get(judged) == kernel.id
