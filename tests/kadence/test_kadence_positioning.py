# SPDX-License-Identifier: GPL-2.0-or-later
"""A laid out kernel must prove itself; else the tailored one stays. On toy kernels."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kadence.kconfig.store.build import BuildRequest, build
from kadence.kernel import positioning, proof
from kadence.kernel.proof import PASSED

COUNTS = Path("p.kcounts.json")
PART = "PART0"

Options = Callable[..., str]


@pytest.fixture
def laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Toy trees have no code to lay out, so another toy kernel stands for the laid out one."""

    def built(request: BuildRequest) -> Any:
        assert request.layout == COUNTS
        return build(replace(request, layout=None, overrides=((PART, "y"),)))

    monkeypatch.setattr(positioning, "build", built)


@pytest.mark.usefixtures("laid_out")
def test_a_laid_out_kernel_that_serves_is_proven_once(workshop: Any, options: Options) -> None:
    workshop.toy.define(options(PART))
    tailoring = workshop.tailoring("true")
    plain = tailoring.tailor()
    found = positioning.positioned(tailoring, plain, COUNTS)
    assert found.proof.outcome == PASSED
    assert found.kernel.id != plain.kernel.id
    assert found.proof.kernel == found.kernel.id
    assert proof.last(found.kernel) == found.proof
    runs = len(workshop.guests.runs)
    assert positioning.positioned(tailoring, plain, COUNTS) == found
    assert len(workshop.guests.runs) == runs


@pytest.mark.usefixtures("laid_out")
def test_a_laid_out_kernel_that_fails_is_left_out(
    workshop: Any, options: Options, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop.toy.define(options(PART))
    tailoring = workshop.tailoring("! grep -q '^CONFIG_PART0=y' $CONFIG")
    plain = tailoring.tailor()
    assert plain.kernel is not None
    assert positioning.positioned(tailoring, plain, COUNTS) == plain
    told = capsys.readouterr().err.splitlines()[-1]
    assert "the laid out kernel" in told and "the kernel serves as it was" in told


def test_counts_of_another_kernel_leave_the_kernel_as_it_was(
    workshop: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    tailoring = workshop.tailoring("true")
    plain = tailoring.tailor()
    assert positioning.positioned(tailoring, plain, COUNTS) == plain
    assert "the kernel serves as it was" in capsys.readouterr().err.splitlines()[-1]
