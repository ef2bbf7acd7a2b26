# SPDX-License-Identifier: GPL-2.0-or-later
"""The helpers beside the tests are found from here."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
