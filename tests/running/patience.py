# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a test waits for an event that comes at once on an idle machine.

Only a hang takes this long. A busy machine may take a minute for what an idle one does in a second.
"""

PATIENCE_SECONDS = 1200.0
