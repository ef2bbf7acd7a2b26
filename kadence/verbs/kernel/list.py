# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel list`: list the kernels in the store."""

import argparse

from kadence.base.errors import KadenceError
from kadence.kconfig.store import store


def configure(_parser: argparse.ArgumentParser) -> None:
    """There are no options."""


def execute(_options: argparse.Namespace) -> int:
    """Print a line for each kernel, the newest first."""
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
