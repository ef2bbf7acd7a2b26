# SPDX-License-Identifier: GPL-2.0-or-later
"""The stages of one program, from its folder to its plan and its two builds."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from kadence import profiler
from kadence.base import artefact, resources
from kadence.base.errors import ToolError
from kadence.base.stages import Stages, fingerprint
from kadence.base.terminal import tell
from kadence.kconfig.configuration import rules
from kadence.kconfig.store.store import Kernel
from kadence.measurement import execution, plain_runs, watching
from kadence.measurement.measure import ADAPTED, PLAIN
from kadence.measurement.watching import Watch
from kadence.phases import analysis, comparison, planning
from kadence.phases.plan import layout, reduction
from kadence.prediction import memory_costs
from kadence.profiler import rankfile
from kadence.profiler.run import compiled, runner
from kadence.profiler.run.runner import Outcome
from kadence.program import builds
from kadence.program.leaving_out import (
    ADAPTED_PROGRAM,
    LAYOUT,
    NEEDS,
    PHASE_CALLS,
    PLAN,
    SECOND_INPUT,
    Parts,
)
from kadence.program.places import Places
from kadence.program.program import Program

# The build that counts its blocks, and the profile that it writes.
COUNTED, COUNTS = "counted", "counted.kprof"
# Instructions in an interval, if kadence.toml names no number. Unlike the profiler's default, it is
# independent of the run: a plan depends on it, and a slightly longer run should get the same plan.
INTERVAL = 1_000_000


@dataclass(frozen=True)
class ProfiledRun:
    """A run of the plain program under the profiler."""

    argv: tuple[str, ...]
    standard_input: str  # file; empty for none


@dataclass(frozen=True)
class Line:
    """The stages of one program; each method does one and returns its key."""

    program: Program
    places: Places
    stages: Stages
    parts: Parts = field(default_factory=Parts)

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

    def tried(self, plain_key: str) -> str:
        """Runs of the plain program, whose outputs must agree, and its check, which must pass."""
        place = self.places.plain_runs
        return self.stages.run(
            "plain runs",
            [plain_key, *self.judged()],
            [place],
            partial(plain_runs.require_alike, self.program, self.places.build(PLAIN), place),
        )

    def judged(self) -> tuple[object, ...]:
        """The settings on which compared runs depend, besides the build."""
        program = self.program
        return (
            *(program.run, program.standard_input, program.environment, program.timeout_seconds),
            *(program.check, program.outputs, program.filters),
        )

    def adapted(self, source_key: str, plan_key: str) -> str:
        """The adapted program, whose outputs must be the plain program's; no key without a plan."""
        if not plan_key:
            return ""
        return self.parts.attempt(ADAPTED_PROGRAM, lambda: self._adapted(source_key, plan_key))

    def _adapted(self, source_key: str, plan_key: str) -> str:
        folder, plan = self.places.build(ADAPTED), self.places.artefact("plan.json")
        made = self.built(ADAPTED, source_key, plan, plan_key)
        memory_costs.remember_for(artefact.read(plan, artefact.PLAN))
        self.stages.run(
            "adapted run",
            [made, *self.judged()],
            [],
            partial(plain_runs.require_same, self.program, folder, self.places.plain_runs),
        )
        return made

    def counted(self, source_key: str) -> str:
        """A profile of blocks that the program counted; no key if none is wanted, or it failed."""
        if self.program.layout == layout.OFF:
            return ""
        return self.parts.attempt(LAYOUT, lambda: self._counted(source_key))

    def _counted(self, source_key: str) -> str:
        tools = [resources.built(part) for part in (*COMPILER_PARTS, "profiler")]
        folder = self.places.build(COUNTED)
        built = self.stages.run(
            "build counted",
            [source_key, self.program.build, *map(fingerprint, tools)],
            [folder],
            lambda: builds.build(
                self.program,
                self.places.source,
                folder,
                self.places.log("build-counted"),
                None,
                variables={"KADENCE_MODE": "profile"},
            ),
        )
        run = ProfiledRun(self.program.profile, self.program.profile_input)
        return self._profiled("count", COUNTS, run, built, COUNTED)

    def profiled(self, plain_key: str) -> str:
        """The profile of the plain program."""
        run = ProfiledRun(self.program.profile, self.program.profile_input)
        return self._profiled("profile", "kprof", run, plain_key)

    def validated(self, plain_key: str) -> str:
        """The profile of the plain program on the input that validates the markers."""
        run = ProfiledRun(self.program.validate, self.program.validate_input)
        return self._profiled("validate", "validate.kprof", run, plain_key)

    def _profiled(
        self, name: str, suffix: str, run: ProfiledRun, built_key: str, mode: str = PLAIN
    ) -> str:
        output = self.places.artefact(suffix)
        tools = [Path(profiler.__file__).parent, resources.built("profiler")]
        return self.stages.run(
            name,
            [built_key, run.argv, self.program.interval, run.standard_input]
            + [self.program.environment]
            + [fingerprint(tool) for tool in tools],
            [output],
            partial(self._profile, run, output, self.places.log(name), mode),
        )

    def _profile(self, run: ProfiledRun, output: Path, log: Path, mode: str) -> None:
        folder = self.places.build(mode)
        with (
            (folder / (run.standard_input or os.devnull)).open("rb") as stdin,
            log.open("wb") as said,
        ):
            take = self._counting(folder) if mode == COUNTED else runner.profile
            outcome = take(
                run.argv,
                output,
                self.program.interval or INTERVAL,
                cwd=folder,
                env=self._environment(),
                stdin=stdin,
                stdout=said,
                stderr=said,
            )
        for note in outcome.notes:
            tell(note)
        if outcome.ranks:
            rankfile.merge([output, *outcome.ranks], output)
        if outcome.exit_status:
            raise ToolError(
                f"{run.argv[0]} ended with status {outcome.exit_status} under the profiler; its "
                f"output is in {log}"
            )

    def _counting(self, folder: Path) -> Callable[..., Outcome]:
        """How to run a program that writes its profile itself."""
        argv = self.program.profile
        if not compiled.is_built_in(argv, folder, self._environment()):
            raise ToolError(
                f"{argv[0]} does not count its blocks: its build does not use $CC, or run.profile "
                "starts it by another program"
            )
        return compiled.profile

    def _environment(self) -> dict[str, str] | None:
        """None keeps the caller's environment byte for byte: phases depend on its length."""
        own = self.program.environment
        return execution.environment(own) if own else None

    def phased(self, profile_key: str) -> str:
        """The phases of the profile, and the picture of its similarity matrix."""
        of = self.places.artefact
        key = self.stages.run(
            "phases",
            [profile_key, *map(fingerprint, analysis.DEPENDENCIES)],
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
            [profile_key, validate_key, *map(fingerprint, analysis.DEPENDENCIES)],
            [of("compare.json"), of("compare.png"), of("compare-annotated.png")],
            partial(
                comparison.run,
                [of("kprof"), of("validate.kprof")],
                of("compare.json"),
                of("compare.png"),
                of("compare-annotated.png"),
            ),
        )

    def watched(self, plain_key: str, generic: Kernel) -> str:
        """The needs of all processes that the program's commands start."""
        asked = self.places.artefact("needs.json")
        watch = Watch(
            self.places.build(PLAIN),
            self.places.output / "needs",
            generic,
            self.program.environment,
            self.program.timeout_seconds,
        )
        return self.stages.run(
            "needs",
            [plain_key, generic.id, watching.commands(self.program), self.program.environment]
            + [fingerprint(resources.built(part)) for part in (watching.TOOL, "boot")]
            + [fingerprint(rules.FOLDER)],
            [asked],
            partial(watching.record, self.program, watch, asked),
        )

    def second_input(self, plain_key: str, profile_key: str) -> str:
        """The comparison with the second input; no key if none is named, or if it fails."""
        if not self.program.validate:
            return ""
        key = self.parts.attempt(
            SECOND_INPUT, lambda: self.compared(profile_key, self.validated(plain_key))
        )
        if not key:
            # The comparison of an earlier run must not be mistaken for this run's.
            self.places.artefact("compare.json").unlink(missing_ok=True)
        return key

    def planned(
        self,
        plain_key: str,
        force: bool,
        generic: Callable[[str, str], Kernel | None] | None = None,
        counted_key: str = "",
    ) -> tuple[str, Kernel | None]:
        """The plan for the phases, which respects the second input; no key if planning fails.

        The program's needs are seen on the generic kernel. `generic` is called with the keys of the
        build and of its phases, and returns that kernel, or None if no kernel is built. The kernel
        is returned together with the plan's key. `counted_key` is that of counted(), if the plan is
        to lay out code.
        """
        profile_key = self.profiled(plain_key)
        keys = [self.phased(profile_key), self.second_input(plain_key, profile_key)]
        kernel = generic(plain_key, " ".join(keys)) if generic else None
        keys.append(self._needs(plain_key, kernel) if kernel else "")
        key = self.parts.attempt(PLAN, lambda: self._planned(keys, force, counted_key))
        if key:
            for reason in reduction.told(self._read_plan()):
                self.parts.leave_out(PHASE_CALLS, reason)
        return key, kernel

    def _needs(self, plain_key: str, generic: Kernel) -> str:
        """Fingerprint of the needs that were seen; empty if that failed, so the profile decides."""
        if not self.parts.attempt(NEEDS, lambda: self.watched(plain_key, generic)):
            return ""
        return fingerprint(self.places.artefact("needs.json"))

    def _read_plan(self) -> dict[str, Any]:
        return artefact.read(self.places.artefact("plan.json"), artefact.PLAN)

    def _planned(self, keys: Sequence[str], force: bool, counted_key: str) -> str:
        of = self.places.artefact
        seen = of("needs.json") if keys[-1] else None
        counts = of(COUNTS) if counted_key else None
        return self.stages.run(
            "plan",
            [*keys, force, self.program.io, self.program.memory]
            + ([counted_key, fingerprint(Path(layout.__file__))] if counts else []),
            [of("plan.json")],
            partial(self.plan, of("plan.json"), force, seen, counts),
        )

    def plan(
        self, output: Path, force: bool, seen: Path | None = None, counts: Path | None = None
    ) -> dict[str, Any]:
        """Write a plan for the phases that were found."""
        of = self.places.artefact
        compared = self.program.validate and of("compare.json").exists()
        other = planning.Comparison(of("compare.json"), force) if compared else None
        options = planning.Options(io=self.program.io, memory=self.program.memory)
        return planning.run(of("phases.json"), output, options, other, seen, counts)


# The parts that determine how the wrappers compile a source.
COMPILER_PARTS = (
    *("bin", "gccplugin", "kadapt/libkadapt.a"),
    *("kadapt/libkadapt-io.a", "kadapt/libkadapt-io-static.a"),
    *("kadapt/libkadapt-memory.a", "kadapt/libkadapt-memory-static.a"),
)
