# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets the tests of this folder import `planted`, `browser` and the bench's modules.

pytest's importlib mode does not add folders to the path.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "view"), str(HERE.parents[1])]
