# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence key`: make a key that signs bundles."""

import argparse
from pathlib import Path

from kadence.slurm import keys


def configure(parser: argparse.ArgumentParser) -> None:
    """Where the key goes."""
    parser.add_argument(
        "-o", "--output", type=Path, help="the private key (default: ~/.config/kadence/key)"
    )


def execute(options: argparse.Namespace) -> int:
    """Print where the two halves are, and what signatures call the key."""
    path = options.output or keys.default_path()
    identifier = keys.make(path)
    print(f"key {identifier}")
    print(f"private: {path}   keep it to yourself")
    print(f"public:  {keys.public_path(path)}   the administrator puts it into the key ring")
    return 0
