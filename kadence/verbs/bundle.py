# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence bundle`: pack a program and its kernel into one signed file for a batch job."""

import argparse
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from kadence.base import printing
from kadence.base.errors import UsageError
from kadence.slurm import bundle, keys, show
from kadence.slurm.keys import SignatureError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options to make or to show a bundle."""
    parser.add_argument("folder", metavar="DIR", nargs="?", type=Path, help="with a kadence.toml")
    parser.add_argument("-o", "--output", type=Path, help="the bundle (default: NAME.kbundle)")
    parser.add_argument("--work", type=Path, help="where to work (default: NAME.kadence)")
    parser.add_argument("--report", type=Path, help="take the verdict from this report")
    parser.add_argument("--trace", type=Path, metavar="P.ktrace.json", help="as for specialize")
    parser.add_argument("--budget", type=int, help="as for specialize")
    parser.add_argument("--force", action="store_true", help="as for specialize")
    signing = parser.add_mutually_exclusive_group()
    signing.add_argument("--key", type=Path, help="sign with it (default: ~/.config/kadence/key)")
    signing.add_argument("--unsigned", action="store_true", help="do not sign")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print the contents of a bundle")
    parser.add_argument("--public-key", type=Path, help="require this key's signature in --show")
    parser.add_argument("--key-ring", type=Path, help="a folder of such keys")
    printing.add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """Make a bundle, or show one."""
    if (options.show is None) == (options.folder is None):
        raise UsageError("name either a program's folder or, with --show, a bundle")
    return _make(options) if options.show is None else _show(options)


def _make(options: argparse.Namespace) -> int:
    # Imported here, because showing a bundle does not need these modules.
    from kadence.kernel.tailoring import DEFAULT_BUDGET
    from kadence.program import program
    from kadence.slurm import gather
    from kadence.specialize.pipeline import Wish

    name = program.read(options.folder).name
    key = _key(options)
    output = options.output or Path(f"{name}{bundle.SUFFIX}")
    work = options.work or Path(f"{name}.kadence")
    budget = DEFAULT_BUDGET if options.budget is None else options.budget
    wish = Wish(trace=options.trace, budget=budget, force=options.force)
    contents = gather.gather(options.folder, work, wish, options.report)
    bundle.write(output, contents, key)
    print(f"{output}: {show.summary(bundle.read(output))}")
    return 0


def _key(options: argparse.Namespace) -> Ed25519PrivateKey | None:
    if options.unsigned:
        return None
    path = options.key or keys.default_path()
    if not path.exists():
        raise UsageError(
            f"there is no key {path} to sign with; {keys.MAKE_ONE}, or leave the bundle unsigned "
            "with --unsigned"
        )
    return keys.load_private(path)


def _show(options: argparse.Namespace) -> int:
    found = bundle.read(options.show)
    ring = dict(keys.ring(options.key_ring)) if options.key_ring else {}
    if options.public_key:
        public = keys.load_public(options.public_key)
        ring[keys.identifier(public)] = (options.public_key.stem, public)
    verify = options.key_ring is not None or options.public_key is not None
    if verify and found.signature is None:
        raise SignatureError(
            f"{options.show} is not signed; sign it, or leave out --public-key and --key-ring"
        )
    owner = bundle.signer(str(options.show), found, ring) if verify else None
    if options.json:
        printing.document(show.document(found, owner))
    else:
        print(show.as_text(found, owner))
    return 0
