# SPDX-License-Identifier: GPL-2.0-or-later
"""Colours of phases and of distances that colour-blind readers can tell apart too.

Phases have Okabe and Ito's colours, as in the annotated matrix. From the ninth phase on the
colours repeat, and the number beside the colour tells the phases apart.
"""

from bokeh.palettes import Cividis256

from kadence.phases.find.matrix import colour

GREY = tuple(f"#{level:02x}{level:02x}{level:02x}" for level in range(256))
DISTANCES = {"grey": GREY, "cividis": tuple(Cividis256)}


LIGHTEST_UNDER_WHITE = 110  # luma; black text is easier to read on colours lighter than this


def css_colour(phase: int) -> str:
    """Returns the phase's colour in the form `#0072b2`."""
    red, green, blue = colour(phase)
    return f"#{red:02x}{green:02x}{blue:02x}"


def text_colour(phase: int) -> str:
    """Returns the colour for text that is written on the phase's colour."""
    red, green, blue = colour(phase)
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    return "#ffffff" if luma <= LIGHTEST_UNDER_WHITE else "#000000"
