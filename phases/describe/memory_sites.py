# SPDX-License-Identifier: GPL-2.0-or-later
"""The places in the program's source where its memory sites are."""

from collections.abc import Iterator
from dataclasses import dataclass

from kadence.phases.describe import places
from kadence.phases.describe.places import Place
from kadence.phases.describe.source import FunctionLines, base_name, main_object
from kadence.profiler.format.profile import Profile


@dataclass(frozen=True)
class Site:
    """A memory site of the profile, with the functions that it may be in."""

    number: int
    call: str
    function: str
    file: str
    line: int
    places: tuple[Place, ...]
    own: bool  # in the program, not in a library


def sites_of(profile: Profile) -> Iterator[Site]:
    """The sites in the profile's order."""
    own = main_object(profile.blocks)
    lines = FunctionLines(profile.functions)
    for number, site in enumerate(profile.memory.sites):
        yield Site(
            number=number,
            call=site.call,
            function=base_name(site.function),
            file=site.file,
            line=site.line,
            places=places.of_site(site, lines),
            own=own is None or site.object == own,
        )
