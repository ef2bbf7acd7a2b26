# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the measured report of a program: checks, rounds, verdict, and the report's files."""

import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import kadence
import kadence.trials
from kadence import boot
from kadence.base import artefact, codec, resources, statistics
from kadence.base.errors import UsageError
from kadence.base.stages import Stages, alone_in, fingerprint
from kadence.boot import host
from kadence.kconfig.store.store import Kernel
from kadence.kernel.proof import REPAIRED, Proof
from kadence.measurement import execution, measure, neighbours, programs
from kadence.measurement.measure import ADAPTED, PLAIN, TAILORED, Bench
from kadence.measurement.neighbours import Neighbours
from kadence.phases.artefact import document as phases_document
from kadence.phases.plan.trials import Trials, TriedPhase
from kadence.prediction import ceiling, tasks
from kadence.program import filters, leaving_out, outputs, program
from kadence.program.leaving_out import CEILING, FLAGS, KERNELS, OBSERVED, LeftOut
from kadence.program.places import Places, claim
from kadence.report import gains, page, report, trials
from kadence.specialize import pipeline
from kadence.specialize.explaining import Explaining
from kadence.specialize.flags import Trial
from kadence.specialize.foresight import Foresight
from kadence.specialize.line import Line
from kadence.specialize.observing import Observing
from kadence.specialize.pipeline import Made, Prepared, Wish

FEWEST_ROUNDS = 7
STRIP_WIDTH = 600  # pieces of time on the page
PREDICTED = ("target", "sentence", "here", "bound", "targets", "left")
# The parts of a plan that the page shows. An older plan may have no `memory`.
PLANNED = (
    *("stability", "level", "announcement", "policies", "markers"),
    *("io", "memory", "refused"),
)


def specialize(
    folder: Path,
    output: Path,
    rounds: int,
    again: bool,
    wish: Wish,
    target: str | None = None,
    *,
    flags: bool = True,
) -> dict[str, Any]:
    """Do all stages that are not done yet; return the report's document.

    Without a target, use the first that works on this machine. With `flags`, also measure those
    that kadence.toml names.
    """
    if rounds < FEWEST_ROUNDS:
        raise UsageError(
            f"{rounds} rounds are too few to tell a difference from noise; "
            f"ask for {FEWEST_ROUNDS} or more"
        )
    described = program.read(folder)
    places = Places(output.resolve(), described.name)
    claim(places.output, described.folder)
    command = ["kadence", "specialize", str(folder), "-o", str(output), "--rounds", str(rounds)]
    choice = host.find(target)
    wish = replace(wish, target=choice.target)
    with alone_in(places.output):
        stages = Stages(places.output, again)
        choice.tell()
        line = Line(described, places, stages)
        foresight = Foresight(line, wish.force, target, choice.target, wish.series)
        prepared = pipeline.prepare(described, places, stages, wish, foresight)
        explained = _explained(line, prepared.made)
        tried = flags and bool(described.flags) and _tried(line, prepared.made, rounds)
        observed = bool(described.observed) and _observed(line, prepared.made)
        # The pipeline has a line of its own, which may have left out other parts.
        every = dict.fromkeys([*prepared.left_out, *line.parts.left_out])
        prepared = replace(prepared, left_out=tuple(every))
        # Whose runs do not depend on these.
        measured = replace(described, flags=(), observed=())
        stages.run(
            "measure",
            [prepared.key, rounds, platform.release(), measured, *_measuring_code()],
            [places.output / "report.json"],
            lambda: _measure(prepared, rounds, command),
        )
        return _rendered(places, explained, tried, observed)


def _explained(line: Line, made: Made) -> bool:
    """Whether the plan could be explained by its ceiling."""
    explaining = Explaining(line)
    return bool(line.parts.attempt(CEILING, lambda: explaining(made.plain_key, made.plan)))


def _tried(line: Line, made: Made, rounds: int) -> bool:
    """Whether flags of the compiler could be measured."""
    of = phases_document.load(line.places.artefact("phases.json"))
    trial = Trial(line, rounds, ceiling.tasks_of(of))
    return bool(line.parts.attempt(FLAGS, lambda: trial(made.source_key, made.plain_key)))


def _observed(line: Line, made: Made) -> bool:
    """Whether the kernel's functions could be observed."""
    mode = ADAPTED if ADAPTED in made.modes else PLAIN
    observing = Observing(line, made.folders[mode])
    return bool(line.parts.attempt(OBSERVED, lambda: observing(made.key)))


def _rendered(places: Places, explained: bool, tried: bool, observed: bool) -> dict[str, Any]:
    """Begin the report with what was explained, and draw the page.

    Both are done every time: that is cheap, and neither is ever out of date.
    """
    path = places.output / "report.json"
    measured = artefact.read(path, artefact.REPORT)
    body = gains.first(
        measured,
        artefact.read(places.artefact("ceiling.json"), artefact.CEILING) if explained else None,
        artefact.read(places.artefact("flags.json"), artefact.FLAGS) if tried else None,
    )
    seen = artefact.read(places.artefact("observed.json"), artefact.OBSERVED) if observed else None
    body["observed"] = artefact.body_of(seen) if seen else None
    artefact.write(path, artefact.REPORT, measured["build_id"], measured["command"], body)
    document = artefact.read(path, artefact.REPORT)
    matrix = places.artefact("matrix-annotated.png").read_bytes()
    with artefact.atomic_output(places.output / "report.html") as temporary:
        temporary.write_text(page.render(document, matrix), encoding="utf-8")
    return document


def _measuring_code() -> Iterable[str]:
    modules = (
        *(boot, execution, filters, leaving_out, measure, neighbours, outputs, report),
        *(statistics, trials, kadence.trials, kadence.specialize.specialize),
    )
    for module in modules:
        path = Path(str(module.__file__))
        yield fingerprint(path.parent if path.name == "__init__.py" else path)
    yield fingerprint(resources.built("boot"))


def _measure(prepared: Prepared, rounds: int, command: list[str]) -> None:
    scratch = prepared.places.output / "scratch"
    scratch.mkdir(exist_ok=True)
    target = next((kernel.target for kernel in prepared.kernels.values()), boot.Request.target)
    bench = Bench(
        program=prepared.program,
        folders=prepared.made.folders,
        images={kind: kernel.image for kind, kernel in prepared.kernels.items()},
        scratch=scratch,
        target=target,
        tasks=tasks.of_plan(prepared.made.plan, target),
    )
    around = Neighbours()
    found = measure.measure(bench, rounds)
    others = around.share()
    phases = artefact.read(prepared.places.artefact("phases.json"), artefact.PHASES)
    prediction = artefact.read(prepared.places.artefact("prediction.json"), artefact.PREDICTION)
    body = _known(prepared, phases) | report.body(
        found,
        rounds,
        [*notes(prepared.proof, bench.target), *foretold(prediction)],
        others,
        [*prepared.left_out, *unbuilt(prediction)],
    )
    body["prediction"] = {key: prediction[key] for key in PREDICTED}
    body["tailoring"] = asdict(prepared.proof)
    body["left_out"] = left_out(prepared.kernels.get(TAILORED))
    body[trials.TRIALS] = trials.described(
        found.trials, body["verdict"]["kernel"], _tried_phases(prepared.made.plan)
    )
    body["kernels"] = [_kernel(prepared, kind, body["cells"]) for kind in prepared.kernels]
    place = prepared.places.output / "report.json"
    artefact.write(place, artefact.REPORT, phases["build_id"], command, body)


def _tried_phases(plan: Path | None) -> tuple[TriedPhase, ...]:
    """What the adapted program was to try."""
    if plan is None:
        return ()
    entry = artefact.read(plan, artefact.PLAN)["trials"]
    return codec.decode(Trials, entry, "trials").phases


def foretold(prediction: Mapping[str, Any]) -> list[str]:
    """The sentences of the prediction: time on the target, and what the plan leaves."""
    sentences = [*prediction["left"]]
    if prediction["target"] is not None:  # else unbuilt() reports it
        sentences.insert(0, prediction["sentence"])
    return [f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences if sentence]


def unbuilt(prediction: Mapping[str, Any]) -> list[LeftOut]:
    """All kernels, if the prediction was against building them."""
    if prediction["target"] is not None:
        return []
    return [LeftOut(KERNELS, prediction["sentence"], leaving_out.REMEDIES[KERNELS])]


def notes(proved: Proof, target: str = boot.Request.target) -> list[str]:
    """Notes about the kernels for the reader of the report."""
    where = {"x86_64": ["The kernels ran in QEMU, which emulates if it cannot use KVM."]}
    return where.get(target, []) + _tailoring_notes(proved)


def _tailoring_notes(proved: Proof) -> list[str]:
    if proved.outcome == REPAIRED:
        symbols = ", ".join(repair.symbol for repair in proved.repairs)
        return [f"The tailored kernel was repaired with {symbols}: {proved.reason}"]
    return []


def left_out(kernel: Kernel | None) -> list[dict[str, Any]]:
    """The symbols that rules keep out of a kernel, by reason: the user's trade-off."""
    if kernel is None:
        return []
    by_reason: dict[str, list[str]] = {}
    for symbol, value in kernel.manifest["requested"].items():
        if value == "n":
            by_reason.setdefault(kernel.manifest["reasons"][symbol], []).append(symbol)
    return [{"reason": reason, "symbols": symbols} for reason, symbols in by_reason.items()]


def _plan(path: Path | None) -> dict[str, Any]:
    """The parts of a plan that the page shows; empty parts if there is no plan."""
    if path is None:
        return {
            "stability": None,
            "level": None,
            "announcement": None,
            "policies": [],
            "markers": [],
            "refused": [],
        }
    plan = artefact.read(path, artefact.PLAN)
    return {key: plan[key] for key in PLANNED if key in plan}


def _known(prepared: Prepared, phases: Mapping[str, Any]) -> dict[str, Any]:
    """The part of `report.json` that was known before anything was measured."""
    return {
        "program": {
            "name": prepared.program.name,
            "run": list(prepared.program.run),
            "profile": list(prepared.program.profile),
            "builds": [
                asdict(each) for each in programs.built(prepared.program, prepared.made.folders)
            ],
        },
        "machine": {
            "release": platform.release(),
            "processor": _processor(),
            "processors": len(os.sched_getaffinity(0)),
        },
        "profile": {
            "interval": phases["interval"],
            "intervals": phases["intervals"],
            "timeline": timeline(phases),
        },
        "phases": phases["phases"],
        "plan": _plan(prepared.made.plan),
        "system_calls": phases["system_calls"],
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _kernel(prepared: Prepared, kind: str, cells: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    manifest = prepared.kernels[kind].manifest
    boots = [
        seconds
        for cell in cells
        if cell["kernel"] == kind
        for seconds in cell["samples"]["boot_seconds"]
    ]
    return {
        "kind": kind,
        **{key: manifest[key] for key in ("id", "release", "image_bytes", "text_bytes")},
        "boot_seconds": asdict(statistics.median(boots)) if boots else None,
    }


def timeline(phases: Mapping[str, Any]) -> list[dict[str, Any]]:
    """For each thread, the phase in the middle of each of STRIP_WIDTH pieces of its time."""
    assignment, thread, instructions = (
        np.asarray(phases[key]) for key in ("assignment", "thread", "instructions")
    )
    strips = []
    for number in phases["threads"]:
        own = thread == number
        ends = np.cumsum(instructions[own])
        middles = (np.arange(STRIP_WIDTH) + 0.5) * ends[-1] / STRIP_WIDTH
        shown = assignment[own][np.searchsorted(ends, middles)]
        edges = [0, *(np.flatnonzero(np.diff(shown)) + 1).tolist(), STRIP_WIDTH]
        pieces = [
            {"phase": int(shown[start]), "start": start, "length": end - start}
            for start, end in zip(edges[:-1], edges[1:], strict=True)
        ]
        strips.append({"thread": number, "pieces": pieces})
    return strips
