# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions of a program's source that the places in a profile are in.

The profile identifies a place by the line of its call. An inlined call has the line where it was
written and the symbol of the function that it was inlined into. The compiler plugin knows the
function where it was written, so the search by line comes first.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from kadence.base.codec import NULLABLE
from kadence.phases.describe.source import FunctionLines, base_name
from kadence.profiler.format.profile import CallSite


@dataclass(frozen=True, order=True)
class Place:
    """A function of the program; file and checksum are empty if only its symbol is known."""

    function: str
    file: Annotated[str, NULLABLE] = ""
    cfg_checksum: Annotated[str, NULLABLE] = ""

    def described(self) -> dict[str, str | None]:
        """The entry in artefacts."""
        return {
            "function": self.function,
            "file": self.file or None,
            "cfg_checksum": self.cfg_checksum or None,
        }


def of_site(site: CallSite, lines: FunctionLines) -> tuple[Place, ...]:
    """Return the site's places: several for a template's instances, none if nothing is known."""
    return tuple(_of_site(site, lines))


def _of_site(site: CallSite, lines: FunctionLines) -> Iterator[Place]:
    found = lines.at(site.file, site.line) if site.file else []
    # All instances of a template are on this line; the symbol may say which one it is.
    named = [known for known in found if known.name == base_name(site.function)]
    for known in named or found:
        yield Place(known.name, known.file, known.cfg_checksum)
    if not found and site.function:
        yield Place(base_name(site.function))
