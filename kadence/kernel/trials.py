# SPDX-License-Identifier: GPL-2.0-or-later
"""The oracle of a repair: builds kernels with symbols put back, and proves them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from kadence.base.errors import BuildError
from kadence.base.terminal import tell
from kadence.kconfig.configuration import identity
from kadence.kconfig.configuration.configure import LostSymbolsError
from kadence.kconfig.store import store
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.store.candidates import Dropped
from kadence.kconfig.store.store import Kernel
from kadence.kernel.proving import Finding
from kadence.kernel.repair import BudgetSpent

# Each attempt corrects at least one symbol. A configuration that needs more attempts is given up.
CONFIGURATION_ATTEMPTS = 8
SYMBOLS_SHOWN = 4


@dataclass
class Configured:
    """A kernel, and the changes that Kbuild required in its configuration."""

    kernel: Kernel
    overrides: dict[str, str]
    reasons: dict[str, str]  # symbol -> Kbuild's complaint


@dataclass
class Builder:
    """Builds kernels, and counts the builds that the store did not have."""

    budget: int | None = None  # None: no limit
    builds: int = 0
    made: list[Kernel] = field(default_factory=list)

    def build(self, request: BuildRequest) -> Kernel:
        identifier = identity.gather(request).id
        if store.is_whole(identifier):
            return store.load(identifier)
        if self.budget is not None and self.builds >= self.budget:
            raise BudgetSpent
        try:
            kernel = build(request)
        except LostSymbolsError:
            # Nothing was compiled.
            raise
        except BuildError:
            self.builds += 1
            raise
        self.builds += 1
        self.made.append(kernel)
        return kernel

    def configured(
        self, request: BuildRequest, put_back: Mapping[str, str], dropped: Callable[[], Dropped]
    ) -> Configured:
        """Build with symbols put back; settle those that Kbuild does not accept first."""
        chosen = dict(put_back)
        reasons: dict[str, str] = {}
        for _ in range(CONFIGURATION_ATTEMPTS):
            overrides = dict(request.overrides) | chosen
            wanted = replace(request, overrides=tuple(sorted(overrides.items())))
            try:
                return Configured(self.build(wanted), overrides, reasons)
            except LostSymbolsError as error:
                better = dropped().settled(chosen, error.symbols)
                if better == chosen:
                    raise
                reasons |= {s: error.reason for s in better if s not in chosen}
                chosen = better
        raise BuildError(
            f"no configuration was found in {CONFIGURATION_ATTEMPTS} attempts that has all "
            "requested symbols; use the generic kernel"
        )


@dataclass
class Trials:
    """Tells whether a kernel with a set of symbols put back serves the program."""

    request: BuildRequest
    dropped: Dropped
    prove: Callable[[Kernel], Finding]
    builder: Builder
    kernels: dict[frozenset[str], Kernel] = field(default_factory=dict)
    findings: dict[frozenset[str], Finding] = field(default_factory=dict)
    newest: Finding | None = None

    def __call__(self, put_back: frozenset[str]) -> bool:
        tell(f"trying with {_named(put_back)} put back")
        needed = self.dropped.with_dependencies(sorted(put_back))
        try:
            found = self.builder.configured(
                self.request, dict.fromkeys(needed, "y"), lambda: self.dropped
            )
        except BuildError as error:
            finding = Finding(error.reason)
        else:
            self.kernels[put_back] = found.kernel
            finding = self.prove(found.kernel)
        self.findings[put_back] = self.newest = finding
        tell(finding.reason or "it passes")
        return finding.passed

    def reason_without(self, symbol: str, kept: frozenset[str], otherwise: str) -> str:
        """The failure with all symbols but this one put back; `otherwise` if that was not tried."""
        finding = self.findings.get(kept - {symbol})
        return finding.reason if finding is not None and finding.reason else otherwise


def _named(symbols: frozenset[str]) -> str:
    shown = sorted(symbols)[:SYMBOLS_SHOWN]
    more = len(symbols) - len(shown)
    return ", ".join(shown) + (f" and {more} more symbols" if more else "")
