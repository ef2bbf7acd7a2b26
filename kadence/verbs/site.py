# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence site build`: make the kernels and modules that a cluster's nodes may run."""

import argparse
import sys
from pathlib import Path

from kadence.errors import UsageError
from kadence.slurm import bundle, keys, site, site_build, site_request
from kadence.slurm.keys import SignatureError
from kadence.slurm.site import Site
from kadence.slurm.site_build import Signer


def configure(parser: argparse.ArgumentParser) -> None:
    """What is built, from what, and who signs."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    summary = "build what a bundle wants of a node, for the administrator to sign"
    build = actions.add_parser("build", help=summary, description=summary)
    build.add_argument("bundle", metavar="BUNDLE", nargs="?", type=Path, help="for its kernel")
    build.add_argument(
        "--release", action="append", default=[], metavar="R", help="kadapt.ko for this kernel"
    )
    build.add_argument("--site", type=Path, default=site.DEFAULT, help="the site's file")
    build.add_argument("--store", type=Path, help="where it goes (default: as the site's file has)")
    build.add_argument("--key", type=Path, help="to sign with (default: site_key without .pub)")
    build.add_argument(
        "--node-symbols", action="append", default=[], type=Path, metavar="FILE",
        help="what this site's machines need of a kernel",
    )  # fmt: skip
    build.add_argument("--initrd", type=Path, help="from which nodes start this kernel")
    build.add_argument("--cmdline", default="", help="for the kernel, beside what is always there")
    build.add_argument("--yes", action="store_true", help="do not ask")


def execute(options: argparse.Namespace) -> int:
    """Show, ask, build."""
    if options.bundle is None and not options.release:
        raise UsageError("name a bundle, or with --release a kernel that nodes run already")
    rules = site.read(options.site)
    signer = _signer(options, rules)
    if options.bundle is not None:
        _build_kernel(options, rules, signer)
    for release in options.release:
        print(site_build.build_module(release, signer))
    return 0


def _signer(options: argparse.Namespace, rules: Site) -> Signer:
    path = options.key or rules.site_key.with_suffix("")
    if not path.exists():
        raise UsageError(f"there is no key {path} to sign with; make it with `kadence key -o`")
    words = ["kadence", "site", "build"]
    words += [str(options.bundle)] if options.bundle else []
    words += [f"--release={release}" for release in options.release]
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
        raise UsageError("not built, because it was not approved")
    print(site_build.build_kernel(order, rules, signer, options.cmdline, options.initrd))
    print(f"helpers.conf: {site_build.feature_line(order)}")


def _owner(name: str, found: bundle.Bundle, rules: Site) -> str | None:
    if found.signature is None:
        if rules.signatures_required:
            raise SignatureError(f"{name} is not signed, which {rules.file} requires")
        return None
    return bundle.signer(name, found, keys.ring(rules.key_ring))


def _approved() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask on; look at it, then say --yes")
    return input("build and sign this kernel? [y/N] ").strip().lower() in {"y", "yes"}
