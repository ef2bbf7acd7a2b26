# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions of a program's source that the places in a profile are in.

The profile knows a place by the line of its call. An inlined call has the line of where it was
written and the symbol of where it ended up; the compiler plugin knows the function it was written
in, so that is looked for first.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kadence.phases.source import FunctionLines, base_name
from kadence.profiler.profile import CallSite


@dataclass(frozen=True, order=True)
class Place:
    """A function of the program; where its symbol is all that is known, without the rest."""

    function: str
    file: str = ""
    cfg_checksum: str = ""

    def described(self) -> dict[str, str | None]:
        """As artefacts have it."""
        return {
            "function": self.function,
            "file": self.file or None,
            "cfg_checksum": self.cfg_checksum or None,
        }


def parse(entry: dict[str, Any]) -> Place:
    """What `described` gave."""
    return Place(str(entry["function"]), str(entry["file"] or ""), str(entry["cfg_checksum"] or ""))


def of_site(site: CallSite, lines: FunctionLines) -> tuple[Place, ...]:
    """Several, for instances of a template; none where nothing is known."""
    return tuple(_of_site(site, lines))


def _of_site(site: CallSite, lines: FunctionLines) -> Iterator[Place]:
    found = lines.at(site.file, site.line) if site.file else []
    # Instances of a template are all on this line; the symbol may say which one it is.
    named = [known for known in found if known.name == base_name(site.function)]
    for known in named or found:
        yield Place(known.name, known.file, known.cfg_checksum)
    if not found and site.function:
        yield Place(base_name(site.function))
