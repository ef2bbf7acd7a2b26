# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles whose checksum is right although their members are not what Kadence writes."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kadence.profiler.format import archive


def write(path: Path, members: dict[str, bytes]) -> None:
    """Write an archive of these members."""
    with archive.created(path) as output:
        for name, content in members.items():
            with archive.member(output, name) as file:
                file.write(content)


def members(path: Path) -> dict[str, bytes]:
    """The members of an archive."""
    with zipfile.ZipFile(path) as found:
        return {name: found.read(name) for name in found.namelist()}


def change(path: Path, changes: dict[str, bytes]) -> None:
    """Give members of the archive another content."""
    write(path, members(path) | changes)


def table(**columns: Any) -> bytes:
    """A Parquet table of these columns."""
    content = io.BytesIO()
    pq.write_table(pa.table(columns), content)
    return content.getvalue()
