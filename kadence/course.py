# SPDX-License-Identifier: GPL-2.0-or-later
"""In which order a repair puts things back, where few kernels may be built for it.

All that a failure names goes back at once, for each of it was asked for in vain. With the last
kernel that may be built, all that is left goes back: a kernel with too much still serves.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kadence.kconfig import missing
from kadence.kconfig.candidates import Dropped


@dataclass(frozen=True)
class Course:
    """Batches for repair.repair(); each knows how those before it failed."""

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
        """Of what is likely to follow only what the generic kernel has."""
        named = self.named()
        likely = [s for s in missing.companions(named) if self.dropped.reference.get(s) == "y"]
        return [s for s in dict.fromkeys([*named, *likely]) if self.dropped.can_be_put_back(s)]
