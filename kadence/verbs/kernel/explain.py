# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel explain`: explain why a symbol of a kernel is on or off."""

import argparse
from collections import Counter

from kadence.base import printing
from kadence.kconfig.store import origins, store
from kadence.kconfig.store.origins import Answer, Origins, Why
from kadence.kconfig.store.store import Kernel
from kadence.kernel import proof

EXAMPLES = 6


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the kernel and the symbol."""
    printing.add_json(parser)
    parser.add_argument("kernel", metavar="ID", help="an ID, the start of one, or a kind")
    parser.add_argument("symbol", nargs="?", metavar="SYMBOL", help="default: all that are on")


def execute(options: argparse.Namespace) -> int:
    """Explain one symbol, or count the symbols that are on by reason."""
    kernel = store.find(options.kernel)
    found = origins.of(kernel)
    if options.json:
        symbol = options.symbol
        printing.document(found.all() if symbol is None else found.explain(symbol))
    elif options.symbol is not None:
        _say(kernel, found.explain(options.symbol))
    else:
        _summarise(kernel, found)
    return 0


def _say(kernel: Kernel, answer: Answer) -> None:
    print(f"CONFIG_{answer.symbol}={answer.value}: {_repaired(kernel, answer) or answer.sentence}")


def _repaired(kernel: Kernel, answer: Answer) -> str | None:
    """The reason of a repair. A repair requests symbols by name; only the proof has the reason."""
    for repair in proof.repairs_in(kernel):
        if repair.symbol == answer.symbol:
            return f"put back by a repair: {repair.reason}"
    return None


def _summarise(kernel: Kernel, found: Origins) -> None:
    answers = found.all()
    asked = Counter(found.asker(a.symbol) for a in answers if a.why is Why.REQUESTED)
    print(f"{len(answers)} symbols of kernel {kernel.id} are on:")
    for asker, count in asked.most_common():
        print(f"{count:6}  requested by {asker}")
    for why in (Why.SELECTED, Why.DEFAULT):
        symbols = [answer.symbol for answer in answers if answer.why is why]
        more = ", …" if len(symbols) > EXAMPLES else ""
        print(f"{len(symbols):6}  {why.value} ({', '.join(symbols[:EXAMPLES])}{more})")
