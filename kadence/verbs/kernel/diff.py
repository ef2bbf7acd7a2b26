# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel diff`: show the differences of two kernels."""

import argparse
from collections.abc import Iterator

from kadence.base import printing
from kadence.kconfig.configuration import configure as configuration
from kadence.kconfig.store import origins, store
from kadence.kconfig.store.store import Kernel
from kadence.kernel import kernel_figures

# Figures of a manifest -> their names in the table.
FIGURES = {
    "image_bytes": "image, bytes",
    "text_bytes": "text, bytes",
    "symbols_on": "symbols on",
    "symbols_chosen": "of them with a prompt",
    "build_seconds": "build, s",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the two kernels."""
    printing.add_json(parser)
    for name in ("first", "second"):
        parser.add_argument(name, metavar="ID", help="an ID, the start of one, or a kind")
    parser.add_argument(
        "--measure",
        action="store_true",
        help="boot and measure both, x86_64 in the lab (a minute each); keep the figures",
    )


def execute(options: argparse.Namespace) -> int:
    """Print figures side by side, then every symbol that differs."""
    first, second = store.find(options.first), store.find(options.second)
    told = [*figures(first, second), *measured(first, second, options.measure)]
    values = [configuration.values(kernel.config) for kernel in (first, second)]
    changed = origins.difference(*values)
    if options.json:
        rows = {"figures": told, "symbols": changed}
        keys = ("name", "first", "second")
        printing.document({what: [dict(zip(keys, row, strict=True)) for row in found]
                           for what, found in rows.items()})  # fmt: skip
        return 0
    for what, old, new in told:
        print(f"{what:<22} {old:>26} {new:>26}")
    print(f"{len(changed)} symbols differ:")
    for symbol, old, new in changed:
        print(f"  {symbol}: {old} -> {new}")
    return 0


def figures(first: Kernel, second: Kernel) -> Iterator[tuple[str, str, str]]:
    """The recorded figures of both kernels as text; without those that neither kernel has."""
    yield "kernel", first.id, second.id
    for key in ("kind", "target", "release"):
        yield key, str(first.manifest[key]), str(second.manifest[key])
    for key, what in FIGURES.items():
        old, new = first.manifest.get(key), second.manifest.get(key)
        if old is not None or new is not None:
            yield what, _text(old), _text(new)


def measured(first: Kernel, second: Kernel, anew: bool) -> Iterator[tuple[str, str, str]]:
    """Boot time and kernel paths, as far as either kernel was measured."""
    old, new = (_measured(kernel, anew) for kernel in (first, second))
    for name in dict.fromkeys([*old, *new]):
        yield name, _text(old.get(name), "-"), _text(new.get(name), "-")


def _measured(kernel: Kernel, anew: bool) -> dict[str, float]:
    found = kernel_figures.measure(kernel) if anew else kernel_figures.recall(kernel)
    return {} if found is None else found.values


def _text(figure: object, none: str = "not recorded") -> str:
    if figure is None:
        return none
    return f"{figure:,.3f}" if isinstance(figure, float) and figure < 100 else f"{figure:,.0f}"
