# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets the tests of this folder import `planted`, which pytest's importlib mode does not."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
