# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes PNG files with 16 bits per colour channel. Pillow supports 16 bits for grey only."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import png

from kadence.base import artefact

BITS = 16


def write(pixels: npt.NDArray[np.uint16], path: Path) -> None:
    """Write an array of shape (height, width, 3). The same pixels give the same bytes."""
    height, width, _ = pixels.shape
    writer = png.Writer(width, height, greyscale=False, bitdepth=BITS, compression=9)
    with artefact.atomic_output(path) as temporary, temporary.open("wb") as file:
        writer.write(file, pixels.reshape(height, -1))
