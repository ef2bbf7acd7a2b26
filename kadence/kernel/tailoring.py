# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a tailored kernel, proves it on its program, and repairs it or gives it up.

A repair finds symbols that were wrongly dropped by putting back symbols of the generic kernel
(repair.py). If no repair leads to a kernel that serves, the proof names the generic kernel.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from kadence.base import resources
from kadence.base.errors import BuildError
from kadence.base.terminal import tell
from kadence.kconfig.configuration import configure, missing
from kadence.kconfig.language.kconfig_files import Definition, definitions
from kadence.kconfig.request import targets
from kadence.kconfig.request.needs import read_needs
from kadence.kconfig.store import store
from kadence.kconfig.store.build import BuildRequest
from kadence.kconfig.store.candidates import Dropped
from kadence.kconfig.store.store import Kernel
from kadence.kconfig.trace import artefact as trace
from kadence.kconfig.trace.symbols import ANY, Symbol
from kadence.kconfig.tree import source
from kadence.kernel import proof, proving, repair
from kadence.kernel.course import Course
from kadence.kernel.proof import FAILED, PASSED, REPAIRED, Proof, RepairRecord
from kadence.kernel.proving import Finding, Outputs, Subject
from kadence.kernel.trials import Builder, Configured, Trials
from kadence.measurement.measure import PLAIN

# Kernels for a repair. With the first one, at most three are built before the generic one serves.
# Only with a larger budget does the repair try whether every symbol put back is needed.
DEFAULT_BUDGET = 2


@dataclass(frozen=True)
class Tailored:
    """The result of tailoring."""

    proof: Proof
    kernel: Kernel | None  # None: the generic one serves


@dataclass(frozen=True)
class Tailoring:
    """A program, the request for its kernel, and the generic kernel, which has all symbols."""

    request: BuildRequest
    generic: Kernel
    subject: Subject
    budget: int
    command: Sequence[str]

    def tailor(self) -> Tailored:
        """Build and prove the kernel, or recall an earlier proof."""
        try:
            base = Builder().configured(
                self.request, {}, lambda: self._dropped_from({})
            )  # the first build is not a repair, so the budget does not count it
        except BuildError as error:
            return Tailored(self._proof(FAILED, None, error.reason), None)
        known = proof.recall(base.kernel, self.subject.key, self.budget)
        if known is None:
            known = self._proven(base)
        served = store.load(known.kernel) if known.kernel is not None else None
        return Tailored(known, served)

    def _proven(self, base: Configured) -> Proof:
        tell(f"proof of kernel {base.kernel.id} …")
        proving.require_judge(self.subject)
        expected = proving.outputs_on(self.subject, PLAIN, self.generic)
        finding = self._prove(base.kernel, expected)
        mended = tuple(self._record(s, base.overrides[s], r) for s, r in base.reasons.items())
        if finding.reason is None:
            outcome = REPAIRED if mended else PASSED
            made = self._proof(outcome, base.kernel, outputs=expected, repairs=mended)
        else:
            tell(finding.reason)
            finding = proving.blamed(self.subject, self.generic, finding)
            made = self._repaired(base, finding, expected, mended)
        proof.record(base.kernel, made, self.command)
        return made

    def _prove(self, kernel: Kernel, expected: Outputs) -> Finding:
        return proving.prove(self.subject, kernel, self.generic, expected)

    def _repaired(
        self, base: Configured, first: Finding, expected: Outputs, mended: tuple[RepairRecord, ...]
    ) -> Proof:
        reason = str(first.reason)
        builder = Builder(self.budget)
        dropped = self._dropped_from(configure.values(base.kernel.config))
        trials = Trials(
            request=replace(self.request, overrides=tuple(sorted(base.overrides.items()))),
            dropped=dropped,
            prove=lambda kernel: self._prove(kernel, expected),
            builder=builder,
        )
        course = () if first.hopeless else self._course(base.kernel, first, trials)
        found = repair.repair(course, trials, minimise=self.budget > DEFAULT_BUDGET)
        kept = frozenset(found.put_back)
        served = trials.kernels.get(kept) if found.works else None
        if found.outcome is not repair.Outcome.EXHAUSTED:
            _remove(kernel for kernel in builder.made if kernel != served)
        if served is None:
            ended = _GIVEN_UP[found.outcome].format(builds=builder.builds)
            return self._proof(
                FAILED, None, f"{reason}; {ended}", outputs=expected, builds=builder.builds
            )
        repairs = [
            self._record(symbol, "y", trials.reason_without(symbol, kept, reason))
            for symbol in found.put_back
        ]
        made = replace(
            self._proof(REPAIRED, served, reason, expected, (*mended, *repairs), builder.builds),
            minimal=found.outcome is repair.Outcome.MINIMAL,
        )
        proof.record(served, made, self.command)
        return made

    def _course(self, base: Kernel, first: Finding, trials: Trials) -> Course:
        ran = sorted(self._ran(), key=lambda symbol: symbol.ran == ANY)
        return Course(
            dropped=trials.dropped,
            traced=[symbol.symbol for symbol in ran],
            refused=[s for s, value in base.manifest["requested"].items() if value == "n"],
            named=lambda: (trials.newest or first).named,
            builds_left=lambda: self.budget - trials.builder.builds,
        )

    def _dropped_from(self, tailored: dict[str, str]) -> Dropped:
        return Dropped(tailored, self._reference, self._definitions)

    @cached_property
    def _reference(self) -> dict[str, str]:
        """Symbols of the generic kernel, and of the kernel on which the program was traced."""
        reference = configure.values(self.generic.config)
        if self.request.trace is None:
            return reference
        traced = store.path_of(trace.read(self.request.trace).kernel) / store.CONFIG
        return (configure.values(traced) if traced.is_file() else {}) | reference

    def _ran(self) -> Sequence[Symbol]:
        return () if self.request.trace is None else trace.read(self.request.trace).symbols

    @cached_property
    def _definitions(self) -> list[Definition]:
        log = resources.cache_directory() / "logs" / "source.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        tree = source.pristine(source.origin(self.request), log)
        return definitions(tree, targets.get(self.request.target).kconfig_variables)

    def _record(self, symbol: str, value: str, reason: str) -> RepairRecord:
        return RepairRecord(symbol, value, reason, self._rule(symbol, value, reason))

    def _rule(self, symbol: str, value: str, reason: str) -> str:
        """A rule that requests the symbol: by the program's calls that need it, else by target."""
        calls = missing.calls_of(symbol) & read_needs(self.request.plan).system_calls
        told = f"{self.subject.program.name} without it: {reason}".replace("\\", "").replace(
            '"', "'"
        )
        condition = ", ".join(f'"{call}"' for call in sorted(calls))
        lines = ["[[rule]]"]
        lines += [f"any_call = [{condition}]"] if calls else [f'target = "{self.request.target}"']
        return "\n".join([*lines, f'symbols = {{ {symbol} = "{value}" }}', f'reason = "{told}"'])

    def _proof(
        self,
        outcome: str,
        kernel: Kernel | None,
        reason: str = "",
        outputs: Outputs | None = None,
        repairs: tuple[RepairRecord, ...] = (),
        builds: int = 0,
    ) -> Proof:
        program = self.subject.program
        return Proof(
            key=self.subject.key,
            name=program.name,
            run=program.run,
            check=program.check,
            outcome=outcome,
            kernel=None if kernel is None else kernel.id,
            reason=reason,
            outputs=outputs or {},
            repairs=repairs,
            minimal=True,
            builds=builds,
            budget=self.budget,
        )


_GIVEN_UP = {
    repair.Outcome.HOPELESS: "putting back the generic kernel's symbols does not repair it",
    repair.Outcome.EXHAUSTED: "{builds} builds were not enough to find a repair",
}


def _remove(kernels: Iterable[Kernel]) -> None:
    """Remove kernels that were tried and do not serve."""
    for kernel in kernels:
        store.remove(kernel.id)
