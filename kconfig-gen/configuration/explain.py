# SPDX-License-Identifier: GPL-2.0-or-later
"""Says in one clause why a requested symbol is not in the finished configuration."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kadence.kconfig.configuration.rules import Requested
from kadence.kconfig.language.expression import evaluate, unmet_parts
from kadence.kconfig.language.kconfig_files import Definition, definitions


def reason(
    wanted: Requested, values: Mapping[str, str], tree: Path, variables: Mapping[str, str]
) -> str:
    """The unmet dependency, the symbol that forces the value, or another obstacle."""
    known = definitions(tree, variables)
    own = [definition for definition in known if definition.symbol == wanted.symbol]
    if not own:
        return "this source has no such symbol"
    unmet = min((_unmet(definition, values) for definition in own), key=len)
    if wanted.value == "n":
        return _forced(wanted.symbol, known, values)
    if unmet:
        return f"unmet dependency: {' and '.join(_explained(unmet, values))}"
    if not any(definition.prompt for definition in own):
        return "it has no prompt, so only other symbols can set it"
    ranges = [text for definition in own for text in definition.ranges]
    if ranges:
        return f"its range is {', '.join(ranges)}"
    return f"something defined near {own[0].place} excludes it, such as another choice"


def unmet_dependencies(own: Sequence[Definition], values: Mapping[str, str]) -> list[str]:
    """The unmet conditions, each with its value, of the definition that has the fewest of them."""
    return list(
        _explained(min((_unmet(each, values) for each in own), key=len, default=[]), values)
    )


def _unmet(definition: Definition, values: Mapping[str, str]) -> list[str]:
    parts = [part for text in definition.conditions for part in unmet_parts(text, values)]
    if definition.prompt_condition:
        parts += unmet_parts(definition.prompt_condition, values)
    return list(dict.fromkeys(parts))


def _explained(parts: Sequence[str], values: Mapping[str, str]) -> Iterable[str]:
    for part in parts:
        bare = part.removeprefix("!")
        yield f"{part} ({bare} is {values.get(bare, 'n')})" if bare.isidentifier() else part


def _forced(symbol: str, known: Sequence[Definition], values: Mapping[str, str]) -> str:
    selectors = [
        definition.symbol
        for definition in known
        for selected, condition in definition.selects
        if selected == symbol
        and values.get(definition.symbol, "n") != "n"
        and (not condition or evaluate(condition, values) > 0)
    ]
    if selectors:
        return f"selected by {', '.join(sorted(set(selectors)))}"
    return "it can't be switched off in this configuration (its prompt is hidden)"
