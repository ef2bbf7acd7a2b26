# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns a bundle's configuration into the request that a site builds.

A user wrote the configuration, so the site trusts little of it. The program's needs go through the
site's own rules. Symbols that the configuration asks for beyond the rules, as after a trace, may
only be switched on; the kernel is built without those that are unavailable. The nodes' symbols and
the site's mitigations take precedence over both.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.base import artefact
from kadence.base.codec import DecodeError
from kadence.base.errors import ArtefactError, UsageError
from kadence.kconfig.configuration import identity, rules
from kadence.kconfig.configuration.identity import Inputs
from kadence.kconfig.configuration.rules import Requested
from kadence.kconfig.request.needs import Needs
from kadence.kconfig.request.request import TAILORED, BuildRequest
from kadence.slurm.bundle import Bundle

TARGET = "x86_64"
NODE_SYMBOLS = Path(__file__).resolve().parent / "node-symbols.toml"
NODE_PRECEDENCE = 105
MITIGATIONS = "mitigations.toml"
IDENTIFIER = re.compile(r"[0-9a-f]{4,64}")
SYMBOL = re.compile(r"[A-Z0-9][A-Za-z0-9_]{0,63}")
LONGEST_REASON = 200


@dataclass(frozen=True)
class Configuration:
    """The kernel that a bundle wants for its nodes."""

    id: str
    needs: Needs
    requested: tuple[Requested, ...]


@dataclass(frozen=True)
class _Wish:
    """A symbol of a bundle's configuration."""

    symbol: str
    value: str
    reason: str
    origin: str

    def __post_init__(self) -> None:
        if not SYMBOL.fullmatch(self.symbol):
            raise ValueError(f"{self.symbol!r} is not a symbol")

    def requested(self) -> Requested:
        """The symbol is soft: the site's kernel may not have it."""
        return Requested(self.symbol, self.value, plain(self.reason), plain(self.origin), soft=True)


@dataclass(frozen=True)
class _Wanted:
    """What is read of a bundle's configuration."""

    needs: Needs
    requested: tuple[_Wish, ...]


@dataclass(frozen=True)
class SiteRequest(BuildRequest):
    """A tailored kernel whose needs come from a bundle, not from a plan."""

    bundle: str = ""

    def command(self) -> list[str]:
        """The command that builds this kernel again."""
        return ["kadence", "site", "build", self.bundle]


@dataclass(frozen=True)
class Order:
    """A kernel to build, with the facts for the administrator."""

    configuration: str  # its ID, by which bundles name the kernel
    inputs: Inputs
    alone: tuple[Requested, ...]  # asked for by the bundle, but by no rule of the site
    ignored: tuple[Requested, ...]  # asked for by the bundle, but refused
    undefended: tuple[Requested, ...]  # mitigations that are left out


def configuration_of(name: str, bundle: Bundle) -> Configuration:
    """The bundle's configuration for nodes; `name` is for error messages."""
    listed = bundle.manifest.configurations.get(TARGET)
    if listed is None:
        raise UsageError(f"{name} has no configuration for {TARGET}, so there is nothing to build")
    what = f"{listed.file} of {name}"
    document = artefact.parse(what, bundle.files[listed.file], artefact.CONFIGURATION)
    remedy = "make the bundle anew"
    found = artefact.decode(_Wanted, document, what, remedy)
    # The ID becomes the name of a folder.
    if not IDENTIFIER.fullmatch(listed.id):
        raise ArtefactError(f"{what} has {listed.id!r}, which is not a kernel's ID; {remedy}")
    requested = tuple(wish.requested() for wish in found.requested)
    return Configuration(listed.id, found.needs, requested)


def order(
    name: str, wanted: Configuration, mitigations_off: bool, node_symbols: Sequence[Path]
) -> Order:
    """Decide every symbol of the kernel."""
    request = SiteRequest(
        kind=TAILORED, target=TARGET, mitigations=not mitigations_off, bundle=name
    )
    own = {each.symbol: each for each in rules.requested(request, wanted.needs)}
    for each in _node_symbols([NODE_SYMBOLS, *node_symbols]):
        own[each.symbol] = each
    beyond = [each for each in wanted.requested if each.symbol not in own]
    alone = tuple(each for each in beyond if each.value == "y")
    contrary = (each for each in wanted.requested if own.get(each.symbol, each) != each)
    ignored = (*contrary, *(each for each in beyond if each.value != "y"))
    symbols = sorted([*own.values(), *alone], key=lambda each: each.symbol)
    return Order(
        configuration=wanted.id,
        inputs=identity.of_symbols(request, _target(), tuple(symbols)),
        alone=alone,
        ignored=tuple(each for each in ignored if _differs(each, own)),
        undefended=tuple(_mitigations()) if mitigations_off else (),
    )


def _differs(each: Requested, own: dict[str, Requested]) -> bool:
    return each.symbol not in own or own[each.symbol].value != each.value


def _target() -> Any:
    return BuildRequest(target=TARGET).checked()


def _mitigations() -> Iterator[Requested]:
    defended = SiteRequest(kind=TAILORED, target=TARGET, mitigations=True)
    for each in rules.requested(defended, Needs()):
        if each.origin == MITIGATIONS:
            yield each


def _node_symbols(files: Iterable[Path]) -> Iterator[Requested]:
    for file in files:
        try:
            yield from rules.symbols_in(file, file.name, NODE_PRECEDENCE)
        except (OSError, ValueError, DecodeError) as error:
            raise UsageError(f"{file} is not a list like {NODE_SYMBOLS}: {error}") from error


def plain(text: str) -> str:
    """A user's text, shortened and without characters that a terminal would act on."""
    return "".join(each if each.isprintable() else "?" for each in text)[:LONGEST_REASON]
