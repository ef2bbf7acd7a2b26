# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel show`: print the manifest of a kernel."""

import argparse
import json

from kadence.kconfig.store import store


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the option for the kernel."""
    parser.add_argument("kernel", metavar="ID", help="an ID, the start of one, or a kind")


def execute(options: argparse.Namespace) -> int:
    """Print the manifest."""
    kernel = store.find(options.kernel)
    print(json.dumps(kernel.manifest | {"path": str(kernel.path)}, indent=1, ensure_ascii=False))
    return 0
