# SPDX-License-Identifier: GPL-2.0-or-later
"""The request for a kernel: kind, target, series, tick rate, and the program's needs."""

from dataclasses import dataclass, replace
from pathlib import Path

from kadence.base.errors import UsageError
from kadence.kadapt.live import source as unit_source
from kadence.kconfig.request import series, targets
from kadence.kconfig.request.needs import Needs, read_needs
from kadence.kconfig.request.targets import Target
from kadence.kconfig.trace import artefact as trace

GENERIC = "generic"
TAILORED = "tailored"
# Has all that any rule could ask for and more, with debug information; programs are traced on it.
TRACED = "traced"
# Has the kernel's own checkers, two processors and preemption; the driver is soaked on it.
MEMORY_CHECKED = "memory-checked"
RACE_CHECKED = "race-checked"
CHECKED = frozenset({MEMORY_CHECKED, RACE_CHECKED})
# Only starts; `kadence doctor` tries the machine with it.
MINIMAL = "minimal"
# Kinds that need only a name, no plan.
NAMED = (GENERIC, TRACED, MEMORY_CHECKED, RACE_CHECKED, MINIMAL)

# The driver can replace and probe functions in this series only.
LIVE_SERIES = "6.12"

LOWEST_HZ, HIGHEST_HZ = 24, 10_000


@dataclass(frozen=True)
class BuildRequest:
    """A kernel to build: one of the named kinds, or one tailored to a program."""

    kind: str = GENERIC
    plan: Path | None = None
    target: str = targets.DEFAULT
    series: str = series.DEFAULT
    source: Path | None = None  # a kernel tree instead of the series' package
    hz: int | None = None  # None: the target's default
    trace: Path | None = None  # of the program, for a tailored kernel
    overrides: tuple[tuple[str, str], ...] = ()  # symbols and values above all rules
    mitigations: bool = False  # defences against other users of the processor
    units: tuple[Path, ...] = ()  # sources of units that are built in
    points: bool = False  # at which probes call, in all functions
    layout: Path | None = None  # counts by which its code is laid out

    @property
    def tick_rate(self) -> int:
        return self.hz or targets.get(self.target).default_hz

    def wants(self) -> frozenset[str]:
        """The words that describe this request, for conditions of rules and patches."""
        changed = self.hz is not None and self.hz != targets.get(self.target).default_hz
        words = {
            "hz": changed,
            "mitigations": self.mitigations,
            "units": bool(self.units),
            "points": self.points,
            self.kind: True,
        }
        return frozenset(word for word, wanted in words.items() if wanted)

    def checked(self) -> Target:
        """Refuse an invalid request before any work is done; return the target."""
        target = targets.get(self.target)
        if (self.kind == TAILORED) != (self.plan is not None):
            raise UsageError("a tailored kernel needs a plan, and no other takes one")
        if self.trace is not None and self.kind != TAILORED:
            raise UsageError("only a tailored kernel is made from a trace")
        if self.mitigations and not target.mitigations:
            raise UsageError(
                f"--mitigations has no effect on {self.target}, which the machine's own kernel "
                "defends; leave it out"
            )
        if self.mitigations and self.kind != TAILORED:
            raise UsageError(
                f"--mitigations has no effect on a {self.kind} kernel, which has its target's "
                "usual defences; leave it out"
            )
        if self.kind == TRACED and not target.traceable:
            raise UsageError(
                f"programs can't be traced on {self.target}; a trace made on x86_64 serves it too: "
                "use --target x86_64"
            )
        if self.kind in CHECKED and not target.checkable:
            raise UsageError(
                f"the checkers of a {self.kind} kernel don't run on {self.target}; "
                "use --target x86_64"
            )
        self._check_units()
        self._check_points(target)
        self._check_layout(target)
        if self.source is None:
            series.get(self.series)
        if self.hz is not None and not LOWEST_HZ <= self.hz <= HIGHEST_HZ:
            raise UsageError(
                f"a tick rate of {self.hz} Hz is not possible; "
                f"choose one from {LOWEST_HZ} to {HIGHEST_HZ}"
            )
        return target

    def _check_units(self) -> None:
        unit_source.check(self.units)
        if self.units and self.source is None and self.series != LIVE_SERIES:
            raise UsageError(
                f"units are written for {LIVE_SERIES}, not for {self.series}; "
                f"use --series {LIVE_SERIES}"
            )

    def _check_points(self, target: Target) -> None:
        if not self.points:
            return
        if target.traceable:
            raise UsageError(
                f"--points is for kernels without the function tracer, and {self.target} has it: "
                "`kadence observe --per-phase` needs no points there"
            )
        if self.units:
            raise UsageError("--points and --unit both change how functions begin; leave one out")
        if self.source is None and self.series != LIVE_SERIES:
            raise UsageError(
                f"probes are written for {LIVE_SERIES}, not for {self.series}; "
                f"use --series {LIVE_SERIES}"
            )

    def _check_layout(self, target: Target) -> None:
        if self.layout is None:
            return
        if self.kind != TAILORED:
            raise UsageError("only a tailored kernel is laid out; name a plan with --plan")
        if not target.traceable:
            raise UsageError(
                f"code is counted and laid out on x86_64, and {self.target} has other code; "
                "use --target x86_64, or leave --layout out"
            )
        if self.units or self.points:
            raise UsageError("--layout and --unit or --points both change how functions begin")

    def command(self) -> list[str]:
        """The command that builds this kernel again."""
        words = ["kadence", "kernel", "build"]
        words += [f"--{self.kind}"] if self.plan is None else ["--plan", str(self.plan)]
        words += self.options()
        words += ["--source", str(self.source)] if self.source is not None else []
        words += ["--hz", str(self.hz)] if self.hz is not None else []
        for unit in self.units:
            words += ["--unit", str(unit)]
        return words + (["--points"] if self.points else [])

    def options(self) -> list[str]:
        """The options of command() that `kadence kernel tailor` accepts too."""
        words = ["--target", self.target]
        words += ["--trace", str(self.trace)] if self.trace is not None else []
        words += ["--layout", str(self.layout)] if self.layout is not None else []
        words += ["--mitigations"] if self.mitigations else []
        for symbol, value in self.overrides:
            words += ["--set", f"{symbol}={value}"]
        words += ["--series", self.series] if self.source is None else []
        return words


def needs_of(request: BuildRequest) -> Needs:
    """The plan's needs, with the system calls and socket families of the trace added."""
    needs = read_needs(request.plan)
    if request.trace is None:
        return needs
    seen = trace.read(request.trace).observed
    return replace(
        needs,
        system_calls=needs.system_calls.union(seen.system_calls),
        socket_families=needs.socket_families.union(seen.socket_families),
    )
