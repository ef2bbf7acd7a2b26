# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration fragment: the requested symbols as text that Kbuild can merge."""

from collections.abc import Sequence
from pathlib import Path

import jinja2

from kadence.kconfig.configuration.rules import Requested
from kadence.kconfig.request.request import BuildRequest

TEMPLATES = Path(__file__).resolve().parent / "templates"


def render(request: BuildRequest, requested: Sequence[Requested]) -> str:
    """Return the fragment, each symbol below its reason."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        trim_blocks=True,
    )
    template = environment.get_template("fragment.j2")
    return template.render(kind=request.kind, target=request.target, requests=requested)
