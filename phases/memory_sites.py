# SPDX-License-Identifier: GPL-2.0-or-later
"""The places of a program's source that its allocation sites are.

The profile knows a site by the line of its call. An inlined call has the line of where it was
written and the symbol of where it ended up; the compiler plugin knows the function it was written
in, so that is looked for first.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kadence.phases.callers import Place
from kadence.phases.source import FunctionLines, base_name, main_object
from kadence.profiler.profile import CallSite, Profile


@dataclass(frozen=True)
class Site:
    """An allocation site of the profile, with the functions that it may be in."""

    number: int
    call: str
    function: str
    file: str
    line: int
    places: tuple[Place, ...]
    own: bool  # of the program, not of a library


def sites_of(profile: Profile) -> Iterator[Site]:
    """The sites in the profile's order."""
    own = main_object(profile.blocks)
    lines = FunctionLines(profile.functions)
    for number, site in enumerate(profile.memory.sites):
        places = tuple(_places(site, lines))
        yield Site(
            number=number,
            call=site.call,
            function=base_name(site.function),
            file=site.file,
            line=site.line,
            places=places,
            own=own is None or site.object == own,
        )


def _places(site: CallSite, lines: FunctionLines) -> Iterator[Place]:
    found = lines.at(site.file, site.line) if site.file else []
    # Instances of a template are all on this line; the symbol may say which one it is.
    named = [known for known in found if known.name == base_name(site.function)]
    for known in named or found:
        yield Place(known.name, known.file, known.cfg_checksum)
    if not found and site.function:
        yield Place(base_name(site.function))
