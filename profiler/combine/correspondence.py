# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the blocks that several profiles of one program have in common.

A block is identified by its object, its address in that object and its function. A program that
counted itself has no addresses: there, the function, its file, its CFG's checksum and the block's
index in the CFG identify the block.

An object's load address may differ from run to run, but only by whole pages and by the same shift
for all of its blocks. The shift on which most blocks agree is the difference of the load addresses.
An object that lies in another folder, as after a build elsewhere, is found by its file name.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.profiler.format.profile import Block, Profile

PAGE = 4096

Columns = npt.NDArray[np.int64]
Place = tuple[str, int, str, str, int | None, str]


def relocated(rows: sparse.csr_array, column: Columns, width: int) -> sparse.csr_array:
    """Return the rows over a common table of `width` blocks.

    `column` holds each block's column in the common table.
    """
    indices = column.astype(np.int32)[rows.indices]
    moved = sparse.csr_array((rows.data, indices, rows.indptr), (rows.shape[0], width))
    moved.sum_duplicates()
    return moved


def common_columns(profiles: Sequence[Profile]) -> list[Columns]:
    """Return, for every profile, the column of each of its blocks in a common table."""
    table: dict[Place, Block] = {}
    places = []
    for profile in profiles:
        moved = _as_first_loaded(profile.blocks, list(table.values()))
        places.append([_place(block) for block in moved])
        for block in moved:
            table.setdefault(_place(block), block)
    number = {place: column for column, place in enumerate(table)}
    return [np.array([number[place] for place in own], dtype=np.int64) for own in places]


def _place(block: Block) -> Place:
    # Static functions of two files may have the same name and the same control flow.
    file = "" if block.index is None else block.file
    return block.object, block.address, block.function, block.checksum, block.index, file


def _as_first_loaded(blocks: Sequence[Block], seen: Sequence[Block]) -> list[Block]:
    """Return the blocks with the paths and addresses that their objects had when first seen."""
    counterparts = _counterparts({block.object for block in blocks}, seen)
    named = [replace(block, object=counterparts[block.object]) for block in blocks]
    shifts = _shifts(named, seen)
    return [replace(block, address=block.address - shifts.get(block.object, 0)) for block in named]


def _counterparts(objects: set[str], seen: Sequence[Block]) -> dict[str, str]:
    """Map each object's path to its path when it was first seen."""
    before = {block.object for block in seen}
    moved: dict[str, list[str]] = defaultdict(list)
    for path in before - objects:
        moved[PurePosixPath(path).name].append(path)
    found = {}
    for path in objects:
        candidates = moved[PurePosixPath(path).name]
        found[path] = candidates[0] if path not in before and len(candidates) == 1 else path
    return found


def _shifts(blocks: Sequence[Block], seen: Sequence[Block]) -> dict[str, int]:
    """Return how many bytes each object lies above the address at which it was first seen."""
    before = _by_looks(seen)
    votes: dict[str, Counter[int]] = defaultdict(Counter)
    for looks, alike in _by_looks(blocks).items():
        # A block that looks like several others does not tell the shift.
        if len(alike) == 1 and len(before.get(looks, ())) == 1:
            votes[alike[0].object][alike[0].address - before[looks][0].address] += 1
    return {
        path: min(counts, key=lambda shift: (-counts[shift], abs(shift), shift))
        for path, counts in votes.items()
    }


def _by_looks(blocks: Iterable[Block]) -> dict[tuple[object, ...], list[Block]]:
    """Group blocks by everything that does not depend on the load address."""
    found: dict[tuple[object, ...], list[Block]] = defaultdict(list)
    for block in blocks:
        looks = (
            block.object,
            block.address % PAGE,
            block.function,
            block.line,
            block.instructions,
            block.entry,
            block.checksum,
            block.index,
        )
        found[looks].append(block)
    return found
