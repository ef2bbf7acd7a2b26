# SPDX-License-Identifier: GPL-2.0-or-later

# Of the series whose source the machine's own Debian release does not have.
.PHONY: series-7.3
series-7.3: deps ## fetch the source of Linux 7.3, which other suites have
	@$(PYTHON) -m kadence.kconfig.fetch 7.3
