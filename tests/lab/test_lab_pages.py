# SPDX-License-Identifier: GPL-2.0-or-later
"""Huge pages of every size, where a plan needs them: each clears a page once, and little else."""

import importlib
from pathlib import Path

import pytest

from kadence.lab import Guest, take
from kadence.lab.guest import X86_64

pytestmark = [pytest.mark.kernel, pytest.mark.full]  # builds a kernel for x86_64

PAGE_BYTES, WORD_BYTES = 4096, 8
CLEARING = PAGE_BYTES // WORD_BYTES  # instructions: one a word
OPERATIONS = ("page", "page_small", "page_populated", "page_huge", "page_64k", "page_clear")
GOAL = 1000


def test_a_kernel_for_planned_memory_has_huge_pages_of_two_sizes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(root))
    kernel = importlib.import_module("bench.memory.memory_kernel").made_for_it(X86_64)
    figures = take(Guest(kernel.id, kernel.image), OPERATIONS, rounds=3).figures
    # That there is a figure at all says that the faults were those of huge pages.
    values = {name: figure.median or 0.0 for name, figure in figures.items()}
    assert CLEARING <= values["page_clear"] < CLEARING + 16
    for name in ("page_huge", "page_64k"):
        # Were it cleared twice, it would be the double.
        assert values["page_clear"] <= values[name] < 2 * CLEARING, name
        assert values[name] <= GOAL
    # Who does not ask gets small pages.
    assert values["page"] == pytest.approx(values["page_small"], rel=0.05)
