# SPDX-License-Identifier: GPL-2.0-or-later
"""The similarity matrices of several inputs and the cross matrices between them, as one picture.

The diagonal holds the upper triangle of each input's own matrix. Right of it, in the same rows,
are the distances of that input's intervals to those of every later input. The scale is that of the
similarity matrix: black for equal, white for nothing in common. All inputs share the sides
evenly, so that a short run is not lost beside a long one. Where a run has more intervals than
pixels, a pixel is the exact distance of one pair among those it stands for.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.phases.compare.common_rows import CommonRows
from kadence.phases.find import matrix, vectors
from kadence.phases.find.matrix import LARGEST_SIDE, WHITE, Picture

GAP = 16  # white pixels between inputs

Pixels = npt.NDArray[np.int64]


def cross_matrix(inputs: Sequence[CommonRows]) -> Picture:
    """The picture in 16 bits, 0 for equal and 65535 for the distance 2."""
    counts = [rows.shape[0] for rows in inputs]
    shown = sparse.vstack(
        [rows[_intervals(count, len(inputs))] for rows, count in zip(inputs, counts, strict=True)],
        format="csr",
    )
    grey = np.rint(vectors.among(shown) / vectors.LARGEST_DISTANCE * WHITE).astype(np.uint16)
    grey[np.tril_indices(len(grey), -1)] = WHITE
    pixels = positions(counts)
    picture = np.full((pixels[-1] + 1,) * 2, WHITE, dtype=np.uint16)
    picture[np.ix_(pixels, pixels)] = grey
    return picture


def positions(counts: Sequence[int]) -> Pixels:
    """Return the pixel on a side for each interval that is shown, input after input."""
    input_of = np.repeat(
        np.arange(len(counts)), [len(_intervals(count, len(counts))) for count in counts]
    )
    return np.asarray(np.arange(len(input_of)) + GAP * input_of)


def along_side(values: Sequence[Pixels], nothing: int) -> Pixels:
    """Place the shown intervals' values along a side, `nothing` in the gaps.

    `values` holds one value for each interval of each input.
    """
    counts = [len(own) for own in values]
    pixels = positions(counts)
    side = np.full(pixels[-1] + 1, nothing, dtype=np.int64)
    side[pixels] = np.concatenate([own[_intervals(len(own), len(counts))] for own in values])
    return side


def _intervals(count: int, inputs: int) -> Pixels:
    """The intervals of an input that are shown."""
    side = LARGEST_SIDE // inputs
    return np.arange(count) if count <= side else matrix.standing_for_pixels(count, side)
