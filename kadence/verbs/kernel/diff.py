# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel diff`: what two kernels differ in."""

import argparse
from collections.abc import Iterator

from kadence.kconfig import configure as configuration
from kadence.kconfig import origins, store
from kadence.kconfig.store import Kernel

# Figures of a manifest, and what they are called.
FIGURES = {
    "image_bytes": "image, bytes",
    "text_bytes": "text, bytes",
    "symbols_on": "symbols on",
    "symbols_chosen": "of them with a prompt",
    "build_seconds": "build, s",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The two kernels."""
    for name in ("first", "second"):
        parser.add_argument(name, metavar="ID", help="an ID, the start of one, or a kind")


def execute(options: argparse.Namespace) -> int:
    """Figures side by side, then every symbol that is not the same."""
    first, second = store.find(options.first), store.find(options.second)
    for what, old, new in figures(first, second):
        print(f"{what:<24} {old:>18} {new:>18}")
    values = [configuration.values(kernel.config) for kernel in (first, second)]
    changed = origins.difference(*values)
    print(f"{len(changed)} symbols differ:")
    for symbol, old, new in changed:
        print(f"  {symbol}: {old} -> {new}")
    return 0


def figures(first: Kernel, second: Kernel) -> Iterator[tuple[str, str, str]]:
    """What is recorded of both, as text; what is not recorded of either is left out."""
    yield "kernel", first.id, second.id
    for key in ("kind", "target", "release"):
        yield key, str(first.manifest[key]), str(second.manifest[key])
    for key, what in FIGURES.items():
        old, new = first.manifest.get(key), second.manifest.get(key)
        if old is not None or new is not None:
            yield what, _text(old), _text(new)


def _text(figure: object) -> str:
    return "not recorded" if figure is None else f"{figure:,}"
