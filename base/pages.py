# SPDX-License-Identifier: GPL-2.0-or-later
"""Templates of pages that hold all they need: the report, and the pages of `view` and `observe`."""

from pathlib import Path

import jinja2


def environment(folder: Path) -> jinja2.Environment:
    """The templates of a folder. Values are escaped; a name without a value is an error."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
