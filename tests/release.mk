# SPDX-License-Identifier: GPL-2.0-or-later
# Other systems and compilers, each system in a root file system of its own. Debian's mmdebstrap and
# some 5 GB of packages are fetched; SYSTEMS="debian-13" chooses. TORTURE="-O0 -O2 -O3" adds all of
# GCC's torture programs at these levels, in both modes, which takes hours.

SYSTEMS ?= debian-12 debian-13 debian-next ubuntu-24.04
TORTURE ?=

$(STAMPS)/release-packages: requirements/debian-release.txt
	@$(call install_packages,$<)

.PHONY: test-release
test-release: $(STAMPS)/release-packages ## Kadence on other systems and with other compilers (an hour; SYSTEMS="debian-13")
	@TORTURE="$(TORTURE)" tests/release/try $(SYSTEMS)
