# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence site build`: make the kernels and modules that a cluster's nodes may run."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from kadence.base import printing
from kadence.base.errors import UsageError
from kadence.slurm import bundle, keys, site, site_build, site_request
from kadence.slurm.keys import SignatureError
from kadence.slurm.site import Site
from kadence.slurm.site_build import Signer


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `kadence site build`."""
    printing.add_json(parser, "print the paths of modules and units as JSON")
    parser.add_argument("bundle", metavar="BUNDLE", nargs="?", type=Path, help="build its kernel")
    parser.add_argument(
        "--release", action="append", default=[], metavar="R", help="build kadapt.ko for it"
    )
    parser.add_argument(
        "--unit", action="append", default=[], type=Path, metavar="UNIT.c", dest="units",
        help="also build this unit for each --release",
    )  # fmt: skip
    parser.add_argument("--site", type=Path, default=site.DEFAULT, help="the site's file")
    parser.add_argument("--store", type=Path, help="the output (default: the store of --site)")
    parser.add_argument("--key", type=Path, help="sign with it (default: site_key without .pub)")
    parser.add_argument(
        "--node-symbols", action="append", default=[], type=Path, metavar="FILE",
        help="symbols that this site's machines need in a kernel",
    )  # fmt: skip
    parser.add_argument("--initrd", type=Path, help="initrd for nodes that boot this kernel")
    parser.add_argument("--cmdline", default="", help="added to the kernel's usual command line")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def execute(options: argparse.Namespace) -> int:
    """Show the order, ask for approval, build and sign."""
    if options.bundle is None and not options.release:
        raise UsageError("name a bundle, or with --release a kernel that nodes already run")
    if options.units and not options.release:
        raise UsageError("name the kernels that nodes already run by --release, for --unit")
    rules = site.read(options.site)
    signer = _signer(options, rules)
    if options.bundle is not None:
        _build_kernel(options, rules, signer)
    made = list(_build_modules(options, signer))
    if options.json:
        printing.document(made)
    else:
        print("\n".join(map(str, made)), end="\n" if made else "")
    return 0


def _build_modules(options: argparse.Namespace, signer: Signer) -> Iterator[Path]:
    for release in options.release:
        yield site_build.build_module(release, signer)
        for unit in options.units:
            yield site_build.build_unit(unit, release, signer)


def _signer(options: argparse.Namespace, rules: Site) -> Signer:
    path = options.key or rules.site_key.with_suffix("")
    if not path.exists():
        raise UsageError(f"there is no key {path} to sign with; make it with `kadence key -o`")
    words = ["kadence", "site", "build"]
    words += [str(options.bundle)] if options.bundle else []
    words += [f"--release={release}" for release in options.release]
    words += [f"--unit={unit}" for unit in options.units]
    return Signer(options.store or rules.store, keys.load_private(path), words)


def _build_kernel(options: argparse.Namespace, rules: Site, signer: Signer) -> None:
    name = str(options.bundle)
    found = bundle.read(options.bundle)
    owner = _owner(name, found, rules)
    wanted = site_request.configuration_of(name, found)
    order = site_request.order(name, wanted, rules.mitigations_off, options.node_symbols)
    print(f"{name}, {f'signed by {owner}' if owner else 'unsigned'}")
    print("\n".join(site_build.review(order, rules)))
    if not options.yes and not _approved():
        raise UsageError("not built, because you did not approve it")
    print(site_build.build_kernel(order, rules, signer, options.cmdline, options.initrd))
    print(f"helpers.conf: {site_build.feature_line(order)}")


def _owner(name: str, found: bundle.Bundle, rules: Site) -> str | None:
    if found.signature is None:
        if rules.signatures_required:
            raise SignatureError(f"{name} is not signed, but {rules.file} requires a signature")
        return None
    return bundle.signer(name, found, keys.ring(rules.key_ring))


def _approved() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask on; read the order above, then add --yes")
    return input("build and sign this kernel? [y/N] ").strip().lower() in {"y", "yes"}
