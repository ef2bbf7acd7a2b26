# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel list`: list the kernels in the store."""

import argparse
from typing import Any

from kadence.base import printing
from kadence.base.errors import KadenceError
from kadence.kconfig.store import store


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the option for programs."""
    printing.add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """Print a line for each kernel, the newest first."""
    if options.json:
        printing.document([_described(identifier) for identifier in store.identifiers()])
        return 0
    for identifier in store.identifiers():
        try:
            found = store.load(identifier).manifest
        except KadenceError as error:
            print(f"{identifier}  damaged: {error}")
            continue
        size = found["image_bytes"] / 1e6
        what = f"{found['kind']:<8}  {found['target']}  {found['release']}  {found['hz']} Hz"
        print(f"{identifier}  {what}  {size:.1f} MB")
    return 0


def _described(identifier: str) -> dict[str, Any]:
    try:
        found = store.load(identifier)
    except KadenceError as error:
        return {"id": identifier, "damaged": str(error)}
    return {"id": identifier, "image": found.image, "manifest": found.manifest}
