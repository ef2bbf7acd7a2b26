# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules: they turn a program's needs into configuration symbols, each with its reason.

The rules themselves are data (rules/*.toml, described in docs/kernels-rules.md). All rules that
apply contribute. If two rules want different values of a symbol, the file with the higher
precedence wins. With the same precedence it is an error in the rules.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2

from kadence.base import codec, resources
from kadence.base.codec import DecodeError
from kadence.base.errors import BuildError
from kadence.kconfig.request import targets
from kadence.kconfig.request.needs import Needs
from kadence.kconfig.request.request import TAILORED, TRACED, BuildRequest
from kadence.kconfig.trace import artefact as trace
from kadence.kconfig.trace.symbols import PROGRAM
from kadence.kconfig.tree import source

FOLDER = Path(__file__).resolve().parent / "rules"
BOOT_PRECEDENCE = 100
OVERRIDE_PRECEDENCE = 110
# Below every rule: symbols whose code ran stay on, unless a rule refuses them.
TRACE_PRECEDENCE = 5

# Values that Kconfig writes without quotes; any other value is a string.
BARE = re.compile(r"[ymn]|-?[0-9]+|0x[0-9a-fA-F]+")
FILE_KEYS = {"precedence", "kinds", "rule"}
NEED_FLAGS = ("threads", "processes", "shared_memory", "io_paths", "memory")
RULE_KEYS = {
    "symbols", "reason", "target", "series", "kinds", "wants", "wants_not", "any_call",
    "socket_family", "any_file", "any_file_system", "memory_above",
}  # fmt: skip


@dataclass(frozen=True)
class Requested:
    """One symbol that the final configuration must hold with exactly this value."""

    symbol: str
    value: str
    reason: str
    origin: str  # file that asked for it
    precedence: int = field(default=0, compare=False)
    soft: bool = False  # may be missing if the target has no such symbol

    @property
    def line(self) -> str:
        """The line of a configuration file that asks for it."""
        if self.value == "n":
            return f"# CONFIG_{self.symbol} is not set"
        return f"CONFIG_{self.symbol}={self.written}"

    @property
    def written(self) -> str:
        """The value as a configuration file writes it."""
        return self.value if BARE.fullmatch(self.value) else f'"{self.value}"'


def requested(request: BuildRequest, needs: Needs) -> tuple[Requested, ...]:
    """All symbols that a request asks for, sorted by symbol."""
    chosen: dict[str, Requested] = {}
    families: set[int] = set()
    for path in sorted(FOLDER.glob("*.toml")):
        for rule in _rules(path, request):
            families |= {rule["socket_family"]} if "socket_family" in rule else set()
            if _applies(rule, request, needs):
                _merge(chosen, _symbols(rule, path.name, request))
    _merge(chosen, _boot_needs(request.target))
    _merge(chosen, _ran(request))
    _merge(chosen, _overrides(request))
    if request.plan is not None:
        _refuse_unknown_families(needs.socket_families - families, request.plan)
    return tuple(sorted(chosen.values(), key=lambda wanted: wanted.symbol))


@dataclass(frozen=True)
class Conditions:
    """The calls, sockets, files and file systems that the conditions of rules name."""

    calls: frozenset[str]
    socket_families: frozenset[int]
    files: frozenset[str]  # patterns, as for fnmatch(3)
    file_systems: frozenset[str]


def conditions(target: str) -> Conditions:
    """Collect the conditions of all rules for tailored kernels of a target."""
    found: dict[str, set[Any]] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for rule in _rules(path, BuildRequest(kind=TAILORED, target=target)):
            if rule.get("target", target) == target:
                for key in ("any_call", "any_file", "any_file_system"):
                    found.setdefault(key, set()).update(rule.get(key, ()))
                found.setdefault("socket_family", set()).add(rule.get("socket_family"))
    families = found.get("socket_family", set()) - {None}
    sets = (frozenset(found.get(key, ())) for key in ("any_call", "any_file", "any_file_system"))
    calls, files, file_systems = sets
    return Conditions(calls, frozenset(families), files, file_systems)


def _rules(path: Path, request: BuildRequest) -> Iterator[dict[str, Any]]:
    """The rules of a file, if it is for this kind of kernel, each with the file's precedence."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    _refuse_unknown_keys(path, document, FILE_KEYS)
    if request.kind not in document.get("kinds", [request.kind]):
        return
    for rule in document["rule"]:
        _refuse_unknown_keys(path, rule, RULE_KEYS | set(NEED_FLAGS))
        yield rule | {"precedence": document["precedence"]}


def _refuse_unknown_keys(path: Path, found: dict[str, Any], known: set[str]) -> None:
    unknown = sorted(set(found) - known)
    if unknown:
        raise BuildError(f"{path} has an unknown key {unknown[0]!r}; correct the file")


def _applies(rule: dict[str, Any], request: BuildRequest, needs: Needs) -> bool:
    """Whether all conditions of a rule hold.

    For a traced kernel, conditions on the program's needs count as met: it serves any program.
    """
    for_this = (
        rule.get("target", request.target) == request.target,
        "series" not in rule or source.release(request) in rule["series"],
        request.kind in rule.get("kinds", [request.kind]),
        request.wants().issuperset(rule.get("wants", ())),
        request.wants().isdisjoint(rule.get("wants_not", ())),
    )
    return all(for_this) and (request.kind == TRACED or _needed(rule, needs))


def _needed(rule: dict[str, Any], needs: Needs) -> bool:
    return all(
        (
            "any_call" not in rule or not needs.system_calls.isdisjoint(rule["any_call"]),
            rule.get("socket_family") in {None, *needs.socket_families},
            "any_file" not in rule or not needs.files.isdisjoint(rule["any_file"]),
            "any_file_system" not in rule
            or not needs.file_systems.isdisjoint(rule["any_file_system"]),
            needs.memory_bytes >= rule.get("memory_above", 0),
            all(
                rule.get(flag, getattr(needs, flag)) == getattr(needs, flag) for flag in NEED_FLAGS
            ),
        )
    )


def _symbols(rule: dict[str, Any], origin: str, request: BuildRequest) -> Iterator[Requested]:
    values = {"kind": request.kind, "hz": request.tick_rate, "target": request.target}
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)
    for templates in rule["symbols"].items():
        symbol, value = (environment.from_string(text).render(values) for text in templates)
        yield Requested(symbol, value, rule["reason"], origin, rule["precedence"])


def _boot_needs(target: str) -> Iterator[Requested]:
    """The symbols that boot/ needs to start the kernel and communicate with it."""
    relative = targets.get(target).boot_needs
    path = resources.home() / relative
    try:
        yield from symbols_in(path, relative, BOOT_PRECEDENCE)
    except (OSError, ValueError, DecodeError) as error:
        raise BuildError(
            f"{path}, which says what booting needs, can't be read: {error}"
        ) from error


@dataclass(frozen=True)
class _Need:
    value: str
    reason: str


@dataclass(frozen=True)
class _Symbols:
    symbols: dict[str, _Need]


def symbols_in(path: Path, origin: str, precedence: int) -> Iterator[Requested]:
    """The symbols of a list like boot/needs-um.toml.

    Raises OSError, ValueError (no TOML) or DecodeError (no such list).
    """
    found = codec.decode(_Symbols, tomllib.loads(path.read_text(encoding="utf-8")))
    for symbol, need in found.symbols.items():
        yield Requested(symbol, need.value, need.reason, origin, precedence)


def boot_needs(target: str) -> frozenset[str]:
    """The symbols without which a target's kernel can't be booted."""
    return frozenset(wanted.symbol for wanted in _boot_needs(target))


def _ran(request: BuildRequest) -> Iterator[Requested]:
    """The symbols that guard kernel code that the program ran, according to its trace."""
    if request.trace is None:
        return
    for found in trace.read(request.trace).symbols:
        if found.ran == PROGRAM:
            reason = f"the program ran code that it guards, {found.evidence} for example"
            yield Requested(
                found.symbol, "y", reason, request.trace.name, TRACE_PRECEDENCE, soft=True
            )


def _overrides(request: BuildRequest) -> Iterator[Requested]:
    for symbol, value in request.overrides:
        yield Requested(symbol, value, "asked for by name", "--set", OVERRIDE_PRECEDENCE)


def _merge(chosen: dict[str, Requested], more: Iterable[Requested]) -> None:
    for wanted in more:
        other = chosen.get(wanted.symbol)
        if other is None or other.precedence < wanted.precedence:
            chosen[wanted.symbol] = wanted
        elif other.precedence == wanted.precedence and other.value != wanted.value:
            raise BuildError(
                f"{other.origin} wants {other.symbol}={other.value} and {wanted.origin} wants "
                f"{wanted.value}, with the same precedence; change one of the two rules"
            )


def _refuse_unknown_families(families: set[int] | frozenset[int], plan: Path) -> None:
    if families:
        raise BuildError(
            f"{plan} needs socket family {min(families)}, which no rule knows; use the generic "
            f"kernel, or add a rule to {FOLDER / 'sockets.toml'}"
        )
