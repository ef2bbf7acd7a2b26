# SPDX-License-Identifier: GPL-2.0-or-later
"""From a program's folder to what can be measured: two builds, and kernels to run them on."""

import hashlib
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kadence import builds, phases, profiler, resources, tasks
from kadence.boot import processors
from kadence.errors import ToolError, UsageError
from kadence.kconfig import background, series, targets
from kadence.kconfig.background import Background
from kadence.kconfig.build import BuildRequest
from kadence.kconfig.store import Kernel
from kadence.measure import ADAPTED, GENERIC, PLAIN, TAILORED
from kadence.phases import analysis, comparison, planning
from kadence.profiler import runner
from kadence.program import Program
from kadence.proof import Proof
from kadence.proving import Subject
from kadence.stages import Stages, fingerprint, tell
from kadence.tailoring import DEFAULT_BUDGET, Tailoring

# Instructions, where kadence.toml names none. It does not fit the run, as the profiler's would: a
# plan depends on it, and a run that is a little longer is to have the same.
INTERVAL = 1_000_000


@dataclass(frozen=True)
class Places:
    """Where everything of one program lies, below one output directory."""

    output: Path
    name: str

    @property
    def source(self) -> Path:
        return self.output / "source"

    def build(self, mode: str) -> Path:
        """The built copy of one mode."""
        return self.output / mode

    def log(self, name: str) -> Path:
        """What a command of kadence.toml said."""
        return self.output / "logs" / f"{name}.log"

    def artefact(self, suffix: str) -> Path:
        """`<name>.<suffix>`."""
        return self.output / f"{self.name}.{suffix}"


@dataclass(frozen=True)
class Prepared:
    """All that measuring needs."""

    program: Program
    places: Places
    kernels: dict[str, Kernel]  # GENERIC, and TAILORED where one was proven
    proof: Proof
    key: str  # changes when anything that could change a measurement does


@dataclass(frozen=True)
class Wish:
    """What kernel is wanted for the program."""

    target: str = targets.DEFAULT
    series: str = series.DEFAULT
    trace: Path | None = None
    budget: int = DEFAULT_BUDGET
    mitigations: bool = False
    force: bool = False  # plan whatever another input says
    overrides: tuple[tuple[str, str], ...] = ()  # above all rules, unless a repair needs otherwise


def prepare(described: Program, places: Places, stages: Stages, wish: Wish) -> Prepared:
    """Do every stage before measuring, or find it done; what needs none of them begins at once."""
    request = BuildRequest(kind=GENERIC, target=wish.target, series=wish.series)
    with background.building(request) as generic:
        return _prepare(described, places, stages, wish, generic)


def _prepare(
    described: Program, places: Places, stages: Stages, wish: Wish, generic: Background
) -> Prepared:
    line = Line(described, places, stages)
    source_key = line.copied()
    plain_key = line.built(PLAIN, source_key, None)
    plan_key = line.planned(plain_key, wish.force)
    adapted_key = line.built(ADAPTED, source_key, places.artefact("plan.json"), plan_key)
    tell("kernels …")
    kernels, proof = _kernels(
        described, places, wish, generic.kernel(), f"{plain_key} {adapted_key}"
    )
    ids = [kernel.id for kernel in kernels.values()]
    key = " ".join([plain_key, adapted_key, *ids, repr(proof), str(_at_once(places, wish.target))])
    return Prepared(described, places, kernels, proof, key)


def claim(output: Path, folder: Path) -> None:
    """Refuse an output folder in which something of the user's could be overwritten."""
    if output == folder:
        raise UsageError(f"{output} is the program's own folder; choose another place with -o")
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is not a folder; choose another place with -o")
    if output.exists() and any(output.iterdir()) and not Stages.are_in(output):
        raise UsageError(
            f"{output} holds what is not ours; choose a new or an empty folder with -o"
        )


@dataclass(frozen=True)
class Line:
    """The stages of one program; each method does one and returns its key."""

    program: Program
    places: Places
    stages: Stages

    def copied(self) -> str:
        """The folder's copy, with what `prepare` fetches or generates."""
        places = self.places
        return self.stages.run(
            "prepare",
            [fingerprint(self.program.folder, leave_out=places.output)],
            [places.source],
            partial(
                builds.prepare,
                self.program,
                places.source,
                places.output,
                places.log("prepare"),
            ),
        )

    def built(self, mode: str, source_key: str, plan: Path | None, plan_key: str = "") -> str:
        """The program, built plain or adapted."""
        tools = [resources.built(part) for part in COMPILER_PARTS]
        folder = self.places.build(mode)
        return self.stages.run(
            f"build {mode}",
            [source_key, self.program.build, plan_key, *map(fingerprint, tools)],
            [folder],
            partial(
                builds.build,
                self.program,
                self.places.source,
                folder,
                self.places.log(f"build-{mode}"),
                plan,
            ),
        )

    def profiled(self, plain_key: str) -> str:
        """The profile of the plain program."""
        return self._profiled("profile", "kprof", self.program.profile, plain_key)

    def validated(self, plain_key: str) -> str:
        """The profile of the plain program on the input that validates the markers."""
        return self._profiled("validate", "validate.kprof", self.program.validate, plain_key)

    def _profiled(self, name: str, suffix: str, argv: tuple[str, ...], plain_key: str) -> str:
        output = self.places.artefact(suffix)
        tools = [Path(profiler.__file__).parent, resources.built("profiler")]
        return self.stages.run(
            name,
            [plain_key, argv, self.program.interval, self.program.standard_input]
            + [fingerprint(tool) for tool in tools],
            [output],
            partial(self._profile, argv, output, self.places.log(name)),
        )

    def _profile(self, argv: tuple[str, ...], output: Path, log: Path) -> None:
        folder = self.places.build(PLAIN)
        with (
            (folder / (self.program.standard_input or os.devnull)).open("rb") as stdin,
            log.open("wb") as said,
        ):
            outcome = runner.profile(
                argv,
                output,
                self.program.interval or INTERVAL,
                cwd=folder,
                stdin=stdin,
                stdout=said,
                stderr=said,
            )
        for note in outcome.notes:
            tell(note)
        if outcome.exit_status:
            output.unlink()
            raise ToolError(
                f"{argv[0]} ended with status {outcome.exit_status} under the profiler; what it "
                f"said is in {log}"
            )

    def phased(self, profile_key: str) -> str:
        """The phases of the profile, and the picture of its similarity matrix."""
        of = self.places.artefact
        key = self.stages.run(
            "phases",
            [profile_key, fingerprint(Path(phases.__file__).parent)],
            [of("phases.json"), of("matrix.png"), of("matrix-annotated.png")],
            partial(
                analysis.run,
                of("kprof"),
                of("phases.json"),
                of("matrix.png"),
                of("matrix-annotated.png"),
            ),
        )
        picture = os.path.relpath(of("matrix-annotated.png"))
        tell(f"first picture: {picture} (similarity matrix and phases of {self.program.name})")
        return key

    def compared(self, profile_key: str, validate_key: str) -> str:
        """The comparison of the profile with that of the other input."""
        of = self.places.artefact
        return self.stages.run(
            "compare",
            [profile_key, validate_key, fingerprint(Path(phases.__file__).parent)],
            [of("compare.json"), of("compare.png"), of("compare-annotated.png")],
            partial(
                comparison.run,
                [of("kprof"), of("validate.kprof")],
                of("compare.json"),
                of("compare.png"),
                of("compare-annotated.png"),
            ),
        )

    def planned(self, plain_key: str, force: bool) -> str:
        """The plan for the phases, after what another input says where one is named."""
        of = self.places.artefact
        profile_key = self.profiled(plain_key)
        keys = [self.phased(profile_key)]
        other = None
        if self.program.validate:
            keys.append(self.compared(profile_key, self.validated(plain_key)))
            other = planning.Comparison(of("compare.json"), force)
        return self.stages.run(
            "plan",
            [*keys, force, self.program.io, self.program.memory],
            [of("plan.json")],
            partial(
                planning.run,
                of("phases.json"),
                of("plan.json"),
                planning.Options(io=self.program.io, memory=self.program.memory),
                other,
            ),
        )


# What decides what the wrappers make of a source.
COMPILER_PARTS = (
    *("bin", "gccplugin", "kadapt/libkadapt.a"),
    *("kadapt/libkadapt-io.a", "kadapt/libkadapt-io-static.a"),
    *("kadapt/libkadapt-memory.a", "kadapt/libkadapt-memory-static.a"),
)


def _kernels(
    described: Program, places: Places, wish: Wish, generic: Kernel, builds_key: str
) -> tuple[dict[str, Kernel], Proof]:
    """The generic kernel, and the tailored one where it serves the program."""
    request = BuildRequest(
        kind=TAILORED,
        plan=places.artefact("plan.json"),
        target=wish.target,
        series=wish.series,
        trace=wish.trace,
        mitigations=wish.mitigations,
        overrides=wish.overrides,
    )
    tailored = Tailoring(
        request=request,
        generic=generic,
        subject=Subject(
            program=described,
            folders={mode: places.build(mode) for mode in (PLAIN, ADAPTED)},
            scratch=places.output / "proof",
            key=_proof_key(described, generic, f"{builds_key} {_at_once(places, wish.target)}"),
            tasks=tasks.of_plan(places.artefact("plan.json"), wish.target),
        ),
        budget=wish.budget,
        command=["kadence", "kernel", "tailor", str(described.folder), *request.options()],
    ).tailor()
    kernels = {GENERIC: generic}
    if tailored.kernel is not None:
        kernels[TAILORED] = tailored.kernel
    return kernels, tailored.proof


def _at_once(places: Places, target: str) -> int:
    """Tasks of the program that a guest on this machine can run at once."""
    return min(tasks.of_plan(places.artefact("plan.json"), target), processors.usable())


def _proof_key(described: Program, generic: Kernel, builds_key: str) -> str:
    """Of all that a proof rests on but the kernel itself."""
    judged = (described.check, described.run, described.standard_input, described.outputs)
    parts = [builds_key, generic.id, repr(judged), fingerprint(resources.built("boot"))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
