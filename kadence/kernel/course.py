# SPDX-License-Identifier: GPL-2.0-or-later
"""The order in which a repair puts symbols back while the number of kernel builds is limited.

All symbols that a failure's log names go back at once, because the program asked for each of them
in vain. The last permitted build puts back all symbols that are left: a kernel with too many
symbols still serves the program.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kadence.kconfig.configuration import missing
from kadence.kconfig.store.candidates import Dropped


@dataclass(frozen=True)
class Course:
    """Batches for repair.repair(). Each batch depends on how the kernels before it failed."""

    dropped: Dropped
    traced: Sequence[str]
    refused: Sequence[str]
    named: Callable[[], Sequence[str]]  # symbols that the newest failure's log asks for
    builds_left: Callable[[], int]

    def __iter__(self) -> Iterator[list[str]]:
        rest = self.dropped.batches(self.traced, self.refused)
        seen: set[str] = set()
        while True:
            named = [symbol for symbol in self._named() if symbol not in seen]
            if self.builds_left() <= 1:
                yield named + [symbol for batch in rest for symbol in batch]
                return
            if not named and not rest:
                return
            batch = named or rest.pop(0)
            seen.update(batch)
            yield batch

    def _named(self) -> list[str]:
        """The symbols named, and their likely companions that are `y` in the generic kernel."""
        named = self.named()
        likely = [s for s in missing.companions(named) if self.dropped.reference.get(s) == "y"]
        return [s for s in dict.fromkeys([*named, *likely]) if self.dropped.can_be_put_back(s)]
