# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's configuration, from the file beside its image.

The file is `config` beside `image` in the kernel store, and `config-RELEASE` beside Debian's.
"""

from collections.abc import Mapping
from pathlib import Path

PREFIX = "CONFIG_"


def beside(image: Path) -> Mapping[str, str] | None:
    """The value of each symbol that is set; None if no configuration is beside the image."""
    real = image.resolve()
    config = real.with_name(real.name.replace("vmlinuz", "config").replace("image", "config"))
    if config == real:
        return None
    try:
        lines = config.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    settings = (line.partition("=") for line in lines if line.startswith(PREFIX))
    return {name[len(PREFIX) :]: value for name, _, value in settings}
