# SPDX-License-Identifier: GPL-2.0-or-later
"""What `kadence lab` refuses before anything boots."""

from collections.abc import Callable
from typing import Any

import pytest


def test_no_command(kadence: Callable[..., Any], refused: Callable[..., str]) -> None:
    assert "no command" in refused(kadence("lab"))


def test_no_such_kernel(kadence: Callable[..., Any], refused: Callable[..., str]) -> None:
    assert "/nowhere/bzImage" in refused(kadence("lab", "--kernel", "/nowhere/bzImage", "--", "ls"))


def test_no_time(kadence: Callable[..., Any], refused: Callable[..., str]) -> None:
    assert "0 seconds" in refused(kadence("lab", "--timeout", "0", "--", "ls"))


@pytest.mark.kernel
def test_a_kernel_of_another_target(
    kadence: Callable[..., Any], refused: Callable[..., str], generic_kernel: Any
) -> None:
    complaint = refused(kadence("lab", "--kernel", generic_kernel.id, "--", "ls"))
    assert "is for um" in complaint
    assert "--target x86_64" in complaint
