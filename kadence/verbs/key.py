# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence key`: make a key that signs bundles."""

import argparse
from pathlib import Path

from kadence.base import printing
from kadence.slurm import keys


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the option for the key's path."""
    printing.add_json(parser)
    parser.add_argument(
        "-o", "--output", type=Path, help="the private key (default: ~/.config/kadence/key)"
    )


def execute(options: argparse.Namespace) -> int:
    """Make the key; print the paths of its two halves and its identifier."""
    path = options.output or keys.default_path()
    identifier = keys.make(path)
    if options.json:
        public = keys.public_path(path)
        printing.document({"key": identifier, "private": path, "public": public})
        return 0
    print(f"key {identifier}")
    print(f"private: {path}   keep it secret")
    print(f"public:  {keys.public_path(path)}   give it to the administrator for the key ring")
    return 0
