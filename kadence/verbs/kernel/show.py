# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel show`: print the manifest of a kernel."""

import argparse

from kadence.base import printing
from kadence.kconfig.store import store


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the option for the kernel."""
    parser.add_argument("kernel", metavar="ID", help="an ID, the start of one, or a kind")


def execute(options: argparse.Namespace) -> int:
    """Print the manifest."""
    kernel = store.find(options.kernel)
    printing.document(kernel.manifest | {"path": kernel.path})
    return 0
