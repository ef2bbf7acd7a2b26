# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a test waits for what comes at once on an idle machine.

Only what hangs takes so long. A busy machine may take a minute for what is done in a second on an
idle one.
"""

PATIENCE_SECONDS = 1200.0
