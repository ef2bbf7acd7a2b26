# SPDX-License-Identifier: GPL-2.0-or-later
"""PNG of 16 bits a colour; Pillow writes 16 bits for grey alone."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import png

from kadence import artefact

BITS = 16


def write(pixels: npt.NDArray[np.uint16], path: Path) -> None:
    """Write rows of red, green and blue; the same pixels give the same bytes."""
    height, width, _ = pixels.shape
    writer = png.Writer(width, height, greyscale=False, bitdepth=BITS, compression=9)
    with artefact.atomic_output(path) as temporary, temporary.open("wb") as file:
        writer.write(file, pixels.reshape(height, -1))
