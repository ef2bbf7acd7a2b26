# SPDX-License-Identifier: GPL-2.0-or-later
"""The fixture `workshop`. Makes the helper modules in this folder importable."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from workshop import Workshop  # noqa: E402


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """A fresh directory to compile in."""
    return Workshop(tmp_path)
