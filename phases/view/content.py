# SPDX-License-Identifier: GPL-2.0-or-later
"""The content of the page: a header of texts, and numbers packed into typed arrays.

Distances are stored as integers in units of 1/`UNITS`, that is, with four decimals. The page shows
the distance of a pair rounded to four decimals. Least distances are rounded down and greatest
distances are rounded up, so that they remain bounds.
"""

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kadence.phases.find.vectors import Distances
from kadence.phases.view import activity, source_lines, tiles
from kadence.phases.view.activity import Marker
from kadence.phases.view.hottest import hottest
from kadence.phases.view.landmarks import choose
from kadence.phases.view.palette import css_colour, text_colour
from kadence.phases.view.subject import Subject

UNITS = 10_000
SHARE_UNITS = 10_000
ALIGNMENT = 8  # bytes; a typed array in JavaScript must begin at a multiple of its element's size

Array = npt.NDArray[Any]
Header = dict[str, Any]


@dataclass
class Packed:
    """Arrays stored one after another, with the name, type and offset of each."""

    data: bytearray = field(default_factory=bytearray)
    entries: list[Header] = field(default_factory=list)

    def add(self, name: str, values: Array) -> None:
        """Append an array under this name, in the narrowest type that holds its values."""
        stored = np.ascontiguousarray(values).ravel()
        if stored.dtype.kind in "iu":
            stored = stored.astype(np.min_scalar_type(int(stored.max(initial=0))))
            if stored.dtype == np.uint64:  # the page has no typed array for it
                stored = stored.astype(np.float64)
        little = stored.astype(stored.dtype.newbyteorder("<"))
        self.data += bytes(-len(self.data) % ALIGNMENT)
        self.entries.append(
            {
                "name": name,
                "type": stored.dtype.name,
                "offset": len(self.data),
                "length": stored.size,
            }
        )
        self.data += little.tobytes()

    def encoded(self) -> str:
        """Returns the arrays as text: gzip in base64, without a time stamp."""
        return base64.b64encode(gzip.compress(bytes(self.data), 6, mtime=0)).decode("ascii")


@dataclass(frozen=True)
class Content:
    """The header as a dictionary for JSON, and the arrays as text."""

    header: Header
    arrays: str

    @property
    def header_text(self) -> str:
        """The header as JSON that is safe inside a script element."""
        text = json.dumps(self.header, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.replace("<", "\\u003c")


def of(subject: Subject, folder: Path) -> Content:
    """Returns the content of a run's page. Source files are looked for below `folder`."""
    packed = Packed()
    header = _run(subject)
    header |= _add_distances(subject, packed)
    header |= _add_hottest(subject, packed, folder)
    header |= _add_activity(subject, packed)
    header["arrays"] = packed.entries
    return Content(header, packed.encoded())


def _run(subject: Subject) -> Header:
    profile = subject.profile
    return {
        "name": subject.name,
        "intervals": subject.intervals,
        "units": UNITS,
        "shareUnits": SHARE_UNITS,
        "threads": len(set(profile.thread.tolist())),
        "kernelSeen": subject.kernel_seen,
        "phases": [
            {
                "name": part.name,
                "label": part.label,
                "transition": part.is_transition,
                "colour": css_colour(part.colour),
                "textColour": text_colour(part.colour),
            }
            for part in subject.parts
        ],
    }


def _add_distances(subject: Subject, packed: Packed) -> Header:
    made = tiles.build(subject.normalised)
    packed.add("mean", _triangle(np.rint(made.mean * UNITS)))
    if made.exact:
        return {"group": 1, "landmarks": []}
    # Distances have ten decimals. The margin, one unit of the tenth, absorbs rounding errors.
    margin = 1e-6
    packed.add("least", _triangle(np.floor(made.least * UNITS + margin)))
    packed.add("greatest", _triangle(np.ceil(made.greatest * UNITS - margin)))
    packed.add("reach", np.ceil(made.reach * UNITS - margin).astype(np.int64))
    landmarks = choose(subject.normalised, made, subject.representatives)
    packed.add("landmarkDistances", np.rint(landmarks.distances * UNITS).astype(np.int64))
    return {"group": made.group, "landmarks": list(landmarks.rows)}


def _triangle(square: Distances) -> Array:
    """Returns the upper triangle with its diagonal, row by row."""
    return square[np.triu_indices(len(square))].astype(np.int64)


def _add_hottest(subject: Subject, packed: Packed, folder: Path) -> Header:
    found = hottest(subject.normalised)
    used = np.unique(found.blocks[found.blocks >= 0])
    # 0 marks an empty place, in the row of an interval that has fewer blocks.
    position = np.where(found.blocks >= 0, np.searchsorted(used, found.blocks) + 1, 0)
    packed.add("hotBlocks", position)
    packed.add("hotShares", np.rint(found.shares * SHARE_UNITS).astype(np.int64))
    blocks = [subject.profile.blocks[number] for number in used.tolist()]
    lines = source_lines.read(((block.file, block.line) for block in blocks), folder)
    return {
        "blocks": [
            [
                block.function or "unknown code",
                block.file,
                block.line,
                lines.get((block.file, block.line), ""),
                block.object,
                f"{block.address:#x}",
            ]
            for block in blocks
        ]
    }


def _add_activity(subject: Subject, packed: Packed) -> Header:
    calls, moved = activity.system_calls(subject.profile)
    packed.add("calls", calls)
    packed.add("bytes", moved)
    packed.add("assignment", subject.shown)
    packed.add("instructions", subject.profile.instructions)
    packed.add("thread", subject.profile.thread.astype(np.int64))
    found = activity.markers(subject)
    for number, marker in enumerate(found):
        rows = np.flatnonzero(marker.fires > 0)
        packed.add(f"markerRows{number}", rows)
        packed.add(f"markerFires{number}", np.rint(marker.fires[rows]).astype(np.int64))
    return {"markers": _marker_headers(found)}


def _marker_headers(markers: Sequence[Marker]) -> list[Header]:
    return [
        {"phase": marker.phase, "place": marker.place, "planned": marker.planned}
        for marker in markers
    ]
